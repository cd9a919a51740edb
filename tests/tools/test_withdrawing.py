"""A withdrawn version still compiles and verifies, and its users are warned."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias import build_release, open_release, write_release
from holisticbias.errors import PublishError, WithdrawnVersionWarning
from holisticbias.release import publish, verify
from holisticbias.release.build import newest_version
from holisticbias.rules.validate import load_catalog, validate_paths

Invoke = Callable[..., tuple[int, str, str]]

SAID = "version 0.2.0 was withdrawn on DATE: two terms were wrong; use 0.1.0"


@pytest.fixture
def repository(data: Path, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two published versions, the second withdrawn; they are the record of the package."""
    folder = tmp_path / "repository"
    shutil.copytree(data / "two-versions", folder)
    history = "    history:\n      - {until: 0.2.0, plural: persons of color, reason: people is the usual plural}\n"
    path = folder / "descriptors" / "race_ethnicity.yaml"
    path.write_text(path.read_text("utf-8").replace(history, ""), "utf-8")
    for version in ("0.1.0", "0.2.0"):
        assert invoke("releases", "--freeze", version, "--source", folder)[0] == 0
    write_release(build_release(load_catalog(folder), "0.2.0"), tmp_path / "built")
    reason = ("--reason", "two terms were wrong.")
    code, out, _ = invoke("releases", "--withdraw", "0.2.0", *reason, "--source", folder)
    assert (code, said(folder) in out) == (0, True), out
    monkeypatch.setattr(verify, "find_source", lambda _: folder)
    return folder


def said(folder: Path) -> str:
    withdrawn = load_catalog(folder).release("0.2.0").withdrawn
    assert withdrawn is not None
    return SAID.replace("DATE", withdrawn.date)


def test_a_withdrawn_version_is_what_it_was(repository: Path, invoke: Invoke) -> None:
    assert validate_paths([repository]) == ()
    assert invoke("releases", "--check", "--source", repository)[0] == 0
    assert newest_version(load_catalog(repository)) == "0.1.0"
    out = invoke("releases", "--source", repository)[1]
    assert "two terms were wrong." in out
    rows = json.loads(invoke("releases", "--format", "json", "--source", repository)[1])
    assert [row["withdrawn"] is None for row in rows] == [True, False, True]


def test_users_are_warned(repository: Path, tmp_path: Path, invoke: Invoke) -> None:
    with pytest.warns(WithdrawnVersionWarning, match="two terms were wrong; use 0.1.0"):
        open_release(tmp_path / "built")
    code, out, err = invoke("verify", tmp_path / "built")
    assert (code, "is complete" in out, err) == (0, True, f"warning: {said(repository)}\n")
    code, _, err = invoke("build", "--version", "0.2.0", "--out", tmp_path / "again", "--source", repository)
    assert (code, err) == (0, f"warning: {said(repository)}\n")
    with pytest.raises(PublishError, match="which was withdrawn on"):
        publish.publish_release(tmp_path / "built", "organisation/name", dry_run=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--withdraw", "next", "--reason", "x"), "version next is not published, so it cannot be withdrawn"),
        (("--withdraw", "0.2.0", "--reason", "x"), "version 0.2.0 is withdrawn already"),
        (("--withdraw", "9.9.9", "--reason", "x"), "there is no version '9.9.9'"),
        (("--withdraw", "0.1.0"), "--withdraw and --reason need each other"),
    ],
)
def test_a_version_that_cannot_be_withdrawn(
    repository: Path, invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = invoke("releases", *arguments, "--source", repository)
    assert (code, message in err) == (2, True), err


def test_a_version_in_preparation_is_not_withdrawn_by_hand(repository: Path) -> None:
    path = repository / "releases" / "next.yaml"
    path.write_text(path.read_text("utf-8") + "withdrawn: {date: 2026-01-02, reason: An example.}\n", "utf-8")
    assert [f.rule for f in validate_paths([repository])] == ["withdrawn-version"]
