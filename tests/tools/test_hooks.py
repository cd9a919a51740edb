"""Pre-commit hooks run when a file that they depend on changes; make knows the published versions."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from holisticbias.source.folder import FOLDERS, SINGLE_FILES
from holisticbias.source.schema import GROUP
from holisticbias.source.yaml_mistakes import models_in
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import MODELS

SOURCE_ROOTS = {"holisticbias": "tools", "holisticbias_eval": "evaluation"}


@pytest.fixture(scope="module")
def hooks(root: Path) -> dict[str, dict[str, Any]]:
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text("utf-8"))
    return {hook["id"]: hook for repository in config["repos"] for hook in repository["hooks"]}


def models() -> set[type[BaseModel]]:
    """Every model that a JSON Schema is generated from, with its base classes."""
    found: set[type[BaseModel]] = set()
    left = [*MODELS.values(), *(entry.load() for entry in entry_points(group=GROUP))]
    while left:
        model = left.pop()
        if model not in found:
            found.add(model)
            left += [part for field in model.model_fields.values() for part in models_in(field.annotation)]
            left += [base for base in model.__bases__ if issubclass(base, BaseModel) and base is not BaseModel]
    return found


def test_a_change_of_a_model_checks_the_schemas(root: Path, hooks: dict[str, dict[str, Any]]) -> None:
    modules = {model.__module__ for model in models()}
    assert {"holisticbias.terms.entries", "holisticbias.terms.file_kinds", "holisticbias_eval.results.run"} <= modules
    for module in modules:
        path = f"{SOURCE_ROOTS[module.partition('.')[0]]}/{module.replace('.', '/')}.py"
        assert (root / path).is_file()
        assert re.search(hooks["schema"]["files"], path), path


@pytest.mark.parametrize(
    ("path", "run"),
    [
        ("descriptors/age.yaml", {"validate", "fmt", "sync"}),
        ("templates/dialogue.yaml", {"validate", "fmt"}),
        ("subsets/small.yaml", {"validate", "fmt"}),
        ("releases/1.0.0.lock.json", {"validate"}),
        ("waivers.yaml", {"validate", "fmt"}),
        ("schema/nouns.schema.json", {"schema"}),
        ("pyproject.toml", {"schema"}),
        ("tools/holisticbias/terms/versions.py", {"schema", "sync"}),
        ("evaluation/holisticbias_eval/measures/shares/shares.py", {"schema"}),
        ("tests/data/invalid/several.yaml", {"sync"}),
        (".github/ISSUE_TEMPLATE/propose-term.yml", {"sync", "zizmor"}),
        ("README.md", set()),
    ],
)
def test_a_changed_file_runs_what_depends_on_it(
    root: Path, hooks: dict[str, dict[str, Any]], path: str, run: set[str]
) -> None:
    assert (root / path).is_file()
    assert {name for name, hook in hooks.items() if "files" in hook and re.search(hook["files"], path)} == run


@pytest.mark.parametrize("hook_id", ["holisticbias-validate", "holisticbias-fmt"])
def test_hooks_of_other_repositories_match_every_file_of_terms(root: Path, hook_id: str) -> None:
    hooks = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text("utf-8"))
    (pattern,) = (hook["files"] for hook in hooks if hook["id"] == hook_id)
    paths = [*(f"{folder}/x.yaml" for folder in FOLDERS), *(f"{kind}.yaml" for kind in SINGLE_FILES)]
    assert [path for path in paths if not re.search(pattern, path)] == []
    assert not re.search(pattern, "docs/x.yaml")


def test_hooks_install_the_pinned_versions(root: Path, hooks: dict[str, dict[str, Any]]) -> None:
    """No hook needs an environment of the contributor's, and those of the tools have all that the tools need."""
    pinned = set((root / "constraints.txt").read_text("utf-8").splitlines())
    for hook in hooks.values():
        assert hook["language"] == "python"
        assert set(hook["additional_dependencies"]) <= pinned
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.split(r"[<>=]", line)[0] for line in project["dependencies"]}
    for name in ("validate", "fmt", "schema", "sync"):
        assert {line.partition("==")[0].lower() for line in hooks[name]["additional_dependencies"]} == needed


def test_hooks_run_the_tools_of_the_checkout(root: Path, hooks: dict[str, dict[str, Any]]) -> None:
    names = ("validate", "fmt", "schema", "sync")
    assert [hooks[name]["args"][0] for name in names] == list(names)
    (entry,) = {hooks[name]["entry"] for name in names}
    python, *script = shlex.split(entry)
    command = [sys.executable, *script, *hooks["fmt"]["args"], "--help"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert (python, "fmt [OPTIONS]" in done.stdout) == ("python", True)


def test_zizmor_is_given_the_folder(hooks: dict[str, dict[str, Any]]) -> None:
    """It refuses files that are not workflows, such as issue forms."""
    assert hooks["zizmor"]["pass_filenames"] is False
    assert hooks["zizmor"]["entry"].split()[-1] == ".github"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_help_lists_every_target(root: Path) -> None:
    done = subprocess.run(["make", "--no-print-directory"], cwd=root, capture_output=True, text=True, check=True)
    listed = {line.split()[1] for line in done.stdout.splitlines()}
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (root / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert listed == {*phony.split()} - {"check", "actionlint", "clean"}


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_takes_the_published_versions_from_their_locks(root: Path, catalog: Catalog) -> None:
    done = subprocess.run(["make", "--dry-run", "reference"], cwd=root, capture_output=True, text=True, check=True)
    (removed,) = (line for line in done.stdout.splitlines() if line.startswith("rm -f evaluation/reference/"))
    assert {Path(name).parent.name for name in removed.split()[2:]} == set(catalog.published)
