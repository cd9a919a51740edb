"""What GitHub runs: pinned, with no more rights than it needs, and never with a contributor's words as code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKFLOWS = sorted((Path(__file__).resolve().parents[2] / ".github" / "workflows").glob("*.yml"))


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
