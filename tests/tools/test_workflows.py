"""Workflows: pinned actions, few rights, and no text of a contributor as code."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from folders import replaced
from holisticbias.contribute.preview import MARKER
from repositories import commit_all, git

GITHUB = Path(__file__).resolve().parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))


def read(path: Path) -> dict[Any, Any]:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(workflow, dict)
    return workflow


def steps(workflow: dict[Any, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_has_no_more_rights_than_it_needs(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {}
    for step in steps(workflow):
        script = step.get("run", "")
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", step["uses"])
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in script
        assert "${{" not in step.get("with", {}).get("script", "")
        if re.search(r"^make ", script, re.MULTILINE):  # torch is installed without CUDA
            assert step["env"]["PIP_EXTRA_INDEX_URL"] == "https://download.pytorch.org/whl/cpu"


def test_contributions_are_checked_with_nothing_but_read_rights_and_always_previewed() -> None:
    workflow = read(GITHUB / "workflows" / "validate.yml")
    assert [job["permissions"] for job in workflow["jobs"].values()] == [{"contents": "read"}]
    assert "secrets." not in str(workflow)
    commands = {step["run"]: step.get("if") for step in steps(workflow) if step.get("run", "").startswith("holistic")}
    assert commands == {
        "holisticbias validate --format github": None,
        "holisticbias fmt --check": "success() || failure()",
        "holisticbias sync --check": "success() || failure()",
        'holisticbias preview HEAD^1 >> "$GITHUB_STEP_SUMMARY"': "success() || failure()",
    }


def test_comments_never_check_out_the_contribution_and_come_without_approval() -> None:
    """The verdict is that of the default branch's tools: a contribution can change the tools that its own run uses.

    Runs of ``pull_request_target`` wait neither for another run nor for the approval of a first contribution.
    """
    workflow = read(GITHUB / "workflows" / "comment.yml")
    checkouts = [s for s in steps(workflow) if s.get("uses", "").startswith("actions/checkout@")]
    assert [c["with"]["ref"] for c in checkouts] == ["${{ github.event.repository.default_branch }}"]
    text = str(workflow)
    assert "head.sha" in text
    assert not re.search(r"head\.ref|GITHUB_ENV|GITHUB_OUTPUT|run-id|git (checkout|switch|merge |pull|worktree)", text)
    assert set(workflow[True]) == {"pull_request_target"}  # YAML 1.1 reads the key "on" as true
    assert {"opened", "synchronize", "reopened"} <= set(workflow[True]["pull_request_target"]["types"])
    jobs = workflow["jobs"]
    assert {name: job["permissions"] for name, job in jobs.items()} == {
        "preview": {"contents": "read"},
        "comment": {"pull-requests": "write"},
    }
    assert "holisticbias preview" in str(jobs["preview"])
    assert not re.search(r"checkout@|pip install", str(jobs["comment"]))


def run_step(step: dict[str, Any], cwd: Path, temporary: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step as GitHub does, with the tools of this environment."""
    (temporary / "bin").mkdir(exist_ok=True)
    command = temporary / "bin" / "holisticbias"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m holisticbias "$@"\n', "utf-8")
    command.chmod(0o755)
    given = {"RUNNER_TEMP": str(temporary), "PATH": f"{temporary / 'bin'}:{os.environ['PATH']}", **more}
    script = ["bash", "-e", "-o", "pipefail", "-c", step["run"]]
    return subprocess.run(script, env={**os.environ, **given}, cwd=cwd, check=True, capture_output=True, text=True)


@pytest.fixture
def server_and_clone(terms_copy: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A repository of terms on a server that gives any commit, as GitHub does, and a clone of its default branch."""
    commit_all(terms_copy)
    git(terms_copy, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", str(terms_copy), "clone")
    return terms_copy, tmp_path / "clone"


LAST = "  - id: nonce.tulver\n"
NEW_TERM = "  - id: nonce.zorple\n    text: zorple\n    sources: [contributors]\n    since: next\n"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("contributed", "old", "new", "shown"),
    [
        # two contributions that are right alone, and the same term twice together
        (f"descriptors:\n\n\n{NEW_TERM}", LAST, f"{NEW_TERM}\n{LAST}", ["`unique-id`", "not your work"]),
        ("descriptors: # mine\n", "descriptors:\n", f"descriptors: # theirs\n{NEW_TERM}", ["Resolve conflicts"]),
    ],
)
def test_the_merge_is_previewed_by_the_tools_of_the_default_branch(
    server_and_clone: tuple[Path, Path], tmp_path: Path, contributed: str, old: str, new: str, shown: list[str]
) -> None:
    """The step of the workflow: the default branch has gone on since the contribution began."""
    server, clone = server_and_clone
    git(server, "switch", "-qc", "contribution")
    replaced(server / "descriptors" / "nonce.yaml", "descriptors:\n", contributed)
    contribution = commit_all(server)
    git(server, "switch", "-q", "main")
    replaced(server / "descriptors" / "nonce.yaml", old, new)
    commit_all(server)
    git(clone, "pull", "-q")
    (step,) = (s for s in steps(read(GITHUB / "workflows" / "comment.yml")) if s["name"] == "Write the preview")
    run_step(step, clone, tmp_path, CONTRIBUTION=contribution)
    text = (tmp_path / "preview" / "comment.md").read_text("utf-8")
    assert text.startswith(f"{MARKER}\n\n## Not ready yet")
    assert [part for part in shown if part not in text] == []
    assert "retired" not in text, "the contribution did not do what the default branch did since"
    json.loads((tmp_path / "preview" / "suggestions.json").read_text("utf-8"))
    assert git(clone, "status", "--porcelain") == ""


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_a_change_of_terms_alone_needs_no_tests(tmp_path: Path) -> None:
    """The step of the workflow, in a repository whose last commit changes one file."""
    (step,) = (s for s in steps(read(GITHUB / "workflows" / "test.yml")) if s.get("id") == "compare")
    folder, output = tmp_path / "repository", tmp_path / "output"
    folder.mkdir()
    (folder / "first.txt").write_text("x", "utf-8")
    commit_all(folder)
    for event, path, code in (
        ("pull_request", "descriptors/age.yaml", "false"),
        ("pull_request", "sources.yaml", "false"),
        ("pull_request", "descriptors/new/age.teen.yaml", "false"),
        ("merge_group", "changes/+more.terms.md", "false"),
        ("pull_request", "releases/4.0.0.yaml", "true"),
        ("pull_request", "tools/holisticbias/cli.py", "true"),
        ("pull_request", "descriptors/deep/age.yaml", "true"),
        ("push", "descriptors/ability.yaml", "true"),
    ):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("x", "utf-8")
        commit_all(folder)
        output.unlink(missing_ok=True)
        run_step(step, folder, tmp_path, EVENT=event, GITHUB_OUTPUT=str(output))
        assert output.read_text("utf-8") == f"code={code}\n", path


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("changes", "code", "tests", "passes"),
    [
        ("success", "true", "success", True),
        ("success", "false", "skipped", True),
        ("success", "true", "failure", False),
        ("success", "true", "cancelled", False),
        ("failure", "", "skipped", False),
    ],
)
def test_the_required_check(changes: str, code: str, tests: str, passes: bool) -> None:
    (step,) = read(GITHUB / "workflows" / "test.yml")["jobs"]["result"]["steps"]
    environment = {**os.environ, "CHANGES": changes, "CODE": code, "TEST": tests}
    done = subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, check=False, capture_output=True)
    assert (done.returncode == 0) == passes


def test_the_job_that_publishes_runs_nothing_of_the_checkout() -> None:
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    assert jobs["publish"]["permissions"] == {"id-token": "write", "attestations": "write"}
    assert jobs["publish"]["needs"] == "build"
    assert not [s for s in jobs["publish"]["steps"] if s.get("uses", "").startswith("actions/checkout@")]
    assert "sha256sum --check" in str(jobs["publish"])
    assert "git merge-base --is-ancestor" in jobs["build"]["steps"][1]["run"], "it is tagged on the default branch"


def test_a_release_installs_nothing_without_a_hash() -> None:
    scripts = [step["run"] for step in steps(read(GITHUB / "workflows" / "release.yml")) if "run" in step]
    installs = [line.strip() for script in scripts for line in script.split("\n") if line.startswith("pip ")]
    assert len(installs) == 5
    for line in installs:
        assert "--require-hashes" in line or "--no-index" in line
        assert "--no-deps" in line


def plain_name(package: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def locked_versions() -> dict[str, str]:
    """The packages of the lock that have a hash."""
    lock = (GITHUB / "release" / "requirements.txt").read_text("utf-8")
    hashes = r"(?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+"
    locked = dict(re.findall(rf"^([\w.-]+)==([\w.]+) \\\n{hashes}", lock, re.MULTILINE))
    assert len(locked) == len(re.findall(r"^\w", lock, re.MULTILINE))
    return locked


def test_the_lock_has_the_pinned_versions_of_all_that_the_tools_need() -> None:
    pinned = re.findall(r"^([\w.-]+)==([\w.]+)", (GITHUB.parent / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    versions, locked = {plain_name(package): version for package, version in pinned}, locked_versions()
    assert {package: versions[package] for package in locked} == locked
    project = tomllib.loads((GITHUB.parent / "pyproject.toml").read_text("utf-8"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += project["project"]["optional-dependencies"]["hub"]
    assert {plain_name(re.split(r"[<>=]", line)[0]) for line in asked} <= set(locked)
