"""Workflows: pinned actions, few rights, and no text of a contributor as code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from holisticbias.contribute.preview import MARKER

GITHUB = Path(__file__).resolve().parents[2] / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
# the first major version of each action that runs on Node 24; Node 20 is out of support
NODE_24 = {
    "actions/attest-build-provenance": 4,
    "actions/checkout": 5,
    "actions/download-artifact": 7,
    "actions/github-script": 8,
    "actions/setup-python": 6,
    "actions/upload-artifact": 6,
}


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
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", step["uses"])
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        assert "${{" not in step.get("run", "")
        assert "${{" not in step.get("with", {}).get("script", "")


def test_contributions_are_checked_with_nothing_but_read_rights() -> None:
    workflow = read(next(p for p in WORKFLOWS if p.stem == "validate"))
    assert [job["permissions"] for job in workflow["jobs"].values()] == [{"contents": "read"}]
    assert "secrets." not in str(workflow)


def test_findings_are_shown_even_where_the_report_fails() -> None:
    workflow = read(next(p for p in WORKFLOWS if p.stem == "validate"))
    checks = {step["run"]: step["if"] for step in steps(workflow) if "if" in step}
    assert checks == dict.fromkeys(
        ("holisticbias validate --format github", "holisticbias fmt --check"), "success() || failure()"
    )


def test_comment_never_checks_out_the_contribution() -> None:
    workflow = read(next(p for p in WORKFLOWS if p.stem == "comment"))
    checkouts = [s for s in steps(workflow) if s.get("uses", "").startswith("actions/checkout@")]
    assert [c["with"]["ref"] for c in checkouts] == ["${{ github.event.repository.default_branch }}"]
    text = str(workflow)
    assert "head_sha" in text
    assert not re.search(r"head\.ref|pull_request\.number|GITHUB_ENV|GITHUB_OUTPUT", text)


def test_actions_run_on_a_supported_node_and_are_pinned_alike() -> None:
    pins = {
        pin
        for path in WORKFLOWS
        for pin in re.findall(r"uses: ([\w/-]+)@(\w+) # v(\d+)\.\d+\.\d+\n", path.read_text("utf-8"))
    }
    assert {(name, int(major) >= NODE_24[name]) for name, _, major in pins} == {(name, True) for name in NODE_24}
    assert len(pins) == len(NODE_24)
    used = [step["uses"] for path in WORKFLOWS for step in steps(read(path)) if "uses" in step]
    assert set(used) == {f"{name}@{commit}" for name, commit, _ in pins}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_torch_is_installed_without_cuda(path: Path) -> None:
    for step in steps(read(path)):
        if re.search(r"^make (?!reports)", step.get("run", ""), re.MULTILINE):
            assert step["env"]["PIP_EXTRA_INDEX_URL"] == "https://download.pytorch.org/whl/cpu"


def test_comment_runs_only_where_there_may_be_a_report() -> None:
    (job,) = read(GITHUB / "workflows" / "comment.yml")["jobs"].values()
    (conclusions,) = re.findall(r"contains\(fromJSON\('(.*)'\), github\.event\.workflow_run\.conclusion\)", job["if"])
    assert json.loads(conclusions) == ["success", "failure"]
    assert "github.event.workflow_run.event == 'pull_request'" in job["if"]


def test_comment_says_so_if_there_is_no_report() -> None:
    comment = {step["name"]: step for step in steps(read(GITHUB / "workflows" / "comment.yml"))}
    assert comment["Fetch the report"]["continue-on-error"] is True
    fetched = f"steps.{comment['Fetch the report']['id']}.outcome"
    assert comment["Write the comment"]["if"] == f"{fetched} == 'success'"
    assert comment["Write that there is no report"]["if"] == f"{fetched} != 'success'"


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_comment_without_a_report_links_to_the_run(tmp_path: Path) -> None:
    comment = {step["name"]: step for step in steps(read(GITHUB / "workflows" / "comment.yml"))}
    step = comment["Write that there is no report"]
    assert step["env"] == {"RUN_URL": "${{ github.event.workflow_run.html_url }}"}
    environment = {**os.environ, "RUN_URL": "https://example.org/run", "RUNNER_TEMP": str(tmp_path)}
    subprocess.run(["bash", "-e", "-c", step["run"]], env=environment, check=True)
    text = (tmp_path / "comment.md").read_text("utf-8")
    assert text.startswith(f"{MARKER}\n")
    assert "https://example.org/run" in text


def test_dependabot_proposes_versions_of_actions_and_packages() -> None:
    updates = read(GITHUB / "dependabot.yml")["updates"]
    assert {(u["package-ecosystem"], u["directory"]) for u in updates} == {
        ("github-actions", "/"),
        ("pip", "/"),
        ("npm", "/evaluation/hyparquet"),
    }
