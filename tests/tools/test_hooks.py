"""Pre-commit hooks run when a file that they depend on changes; make knows the published versions."""

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from holisticbias.source.folder import FOLDERS, SINGLE_FILES
from holisticbias.terms.catalog import Catalog


@pytest.fixture(scope="module")
def hooks(root: Path) -> dict[str, dict[str, Any]]:
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text("utf-8"))
    return {hook["id"]: hook for repository in config["repos"] for hook in repository["hooks"]}


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


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_takes_the_published_versions_from_their_locks(root: Path, catalog: Catalog) -> None:
    done = subprocess.run(["make", "--dry-run", "reference"], cwd=root, capture_output=True, text=True, check=True)
    (removed,) = (line for line in done.stdout.splitlines() if line.startswith("rm -f evaluation/reference/"))
    assert {Path(name).parent.name for name in removed.split()[2:]} == set(catalog.published)
