"""Freezing a version: digests, citation, changelog, the next version, and the list of remaining steps."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from holisticbias.rules.validate import load_catalog, validate_paths
from holisticbias.source.folder import term_files
from holisticbias.source.layout import stale_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key

Invoke = Callable[..., tuple[int, str, str]]

TOWNCRIER = """[tool.towncrier]
directory = "changes"
filename = "CHANGELOG.md"
title_format = "## {version} ({project_date})"
type = [{ directory = "terms", name = "Terms", showcontent = true }]
"""
CITATION = "cff-version: 1.2.0\ntitle: An example\nversion: 0.0.9\ndate-released: 2020-01-01\nlicense: MIT\n"


@pytest.fixture
def repository(data: Path, tmp_path: Path) -> Path:
    """Two versions in preparation, 0.1.0 and 0.2.0, in a repository with a changelog and a citation."""
    folder = tmp_path / "repository"
    shutil.copytree(data / "two-versions", folder)
    (folder / "changes").mkdir()
    contents = {
        "pyproject.toml": TOWNCRIER,
        "CHANGELOG.md": "# Changelog\n\n<!-- towncrier release notes start -->\n",
        "CITATION.cff": CITATION,
        "README.md": "Version 0.1.0.\n",
        "changes/README.md": "One file per change.\n",
        "changes/+kind.terms.md": "Adds a kind word.\n",
    }
    for name, text in contents.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_freezing_does_what_a_release_takes(repository: Path, invoke: Invoke) -> None:
    today = datetime.now(UTC).date().isoformat()
    code, out, err = invoke("releases", "--freeze", "0.1.0", "--source", repository)
    assert (code, err) == (0, "")
    assert yaml.safe_load((repository / "CITATION.cff").read_text("utf-8")) == {
        "cff-version": "1.2.0",
        "title": "An example",
        "version": "0.1.0",
        "date-released": datetime.now(UTC).date(),
        "license": "MIT",
    }
    changelog = (repository / "CHANGELOG.md").read_text("utf-8")
    assert f"## 0.1.0 ({today})" in changelog
    assert "Adds a kind word." in changelog
    assert [path.name for path in (repository / "changes").iterdir()] == ["README.md"]
    assert load_catalog(repository).release("0.1.0").date == today
    steps = re.findall(r"^(\d)\. (.*)", out, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert [text.partition(":")[0] for _, text in steps] == [
        "Read the section on 0.1.0 in CHANGELOG.md; releases/0.1.0.changes.json has the numbers",
        "Commit and merge",
        "Publish",
    ]


def test_freezing_again_writes_nothing(repository: Path, invoke: Invoke) -> None:
    invoke("releases", "--freeze", "0.1.0", "--source", repository)
    before = files(repository)
    assert invoke("releases", "--freeze", "0.1.0", "--source", repository)[0] == 0
    assert files(repository) == before


def test_the_next_version_is_renamed_if_its_number_is_too_low(repository: Path, invoke: Invoke) -> None:
    stale = {path for path, _ in stale_files(term_files(repository))}
    invoke("releases", "--freeze", "0.1.0", "--source", repository)
    code, _, err = invoke("releases", "--freeze", "0.2.0", "--source", repository)
    assert (code, "need a major version, such as 1.0.0" in err) == (2, True)
    assert invoke("releases", "--fix", "1.0.0", "--source", repository)[0] == 0
    assert validate_paths([repository]) == ()
    assert {path for path, _ in stale_files(term_files(repository))} <= stale
    assert "0.2.0" not in "".join(path.read_text("utf-8") for path in term_files(repository))
    assert invoke("releases", "--freeze", "1.0.0", "--source", repository)[0] == 0
    assert load_catalog(repository).published == ("0.1.0", "1.0.0")


def test_freezing_the_newest_version_prepares_the_next(repository: Path, invoke: Invoke) -> None:
    """A contributor who adds an entry right after a release has a version to add it to."""
    for arguments in (["--freeze", "0.1.0"], ["--fix", "1.0.0"], ["--freeze", "1.0.0"]):
        assert invoke("releases", *arguments, "--source", repository)[0] == 0
    catalog = load_catalog(repository)
    assert catalog.versions == ("0.1.0", "1.0.0", "next")
    following = catalog.release("next")
    assert (following.summary, following.digest, following.date) == ("In preparation.", None, None)
    assert following.layout == catalog.release("1.0.0").layout


def test_the_changelog_lists_the_entries_that_changed(repository: Path, invoke: Invoke) -> None:
    for arguments in (["--freeze", "0.1.0"], ["--fix", "1.0.0"], ["--freeze", "1.0.0"], ["--freeze", "1.0.0"]):
        assert invoke("releases", *arguments, "--source", repository)[0] == 0
    changelog = (repository / "CHANGELOG.md").read_text("utf-8")
    assert changelog.count("Entries that differ from 0.1.0:") == 1
    assert '- characteristics: added: "orphaned"\n' in changelog
    assert '- race_ethnicity: reworded: "person of color"\n' in changelog
    assert changelog.index("## 1.0.0 (") < changelog.index("Entries that differ") < changelog.index("## 0.1.0 (")
    assert [path.name for path in (repository / "changes").iterdir()] == ["README.md"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fix", "0.0.1"], "a fix comes after 0.1.0, so 0.0.1 cannot be its number"),
        (["--fix", "four"], "'four' is not a version number such as 4.0.0"),
        (["--next", "--check"], "one of --check, --freeze, --next, --fix and --withdraw"),
        (["--freeze", "9.9.9"], "0.2.0 is in preparation and comes before next"),
    ],
)
def test_a_version_that_cannot_be_named(repository: Path, invoke: Invoke, arguments: list[str], message: str) -> None:
    invoke("releases", "--freeze", "0.1.0", "--source", repository)
    before = files(repository)
    code, _, err = invoke("releases", *arguments, "--source", repository)
    assert (code, message in err) == (2, True)
    assert files(repository) == before


def test_the_next_version_is_created_if_there_is_none(repository: Path, invoke: Invoke) -> None:
    for arguments in (["--freeze", "0.1.0"], ["--fix", "1.0.0"], ["--freeze", "1.0.0"]):
        invoke("releases", *arguments, "--source", repository)
    (repository / "releases" / "next.yaml").unlink()
    assert invoke("releases", "--next", "--source", repository)[0] == 0
    assert load_catalog(repository).versions[-1] == "next"


def test_a_changelog_that_cannot_be_written_is_an_error(repository: Path, invoke: Invoke) -> None:
    (repository / "pyproject.toml").write_text("[tool.towncrier]\ndirectory = 1\n", "utf-8")
    code, _, err = invoke("releases", "--freeze", "0.1.0", "--source", repository)
    assert (code, "0.1.0 is frozen, but towncrier could not write CHANGELOG.md" in err) == (2, True)
    (repository / "pyproject.toml").write_text(TOWNCRIER, "utf-8")
    assert invoke("releases", "--freeze", "0.1.0", "--source", repository)[0] == 0
    assert "## 0.1.0 (" in (repository / "CHANGELOG.md").read_text("utf-8")


def test_the_citation_names_the_newest_published_version(root: Path, catalog: Catalog) -> None:
    cited = yaml.safe_load((root / "CITATION.cff").read_text("utf-8"))
    newest = catalog.release(max(catalog.published, key=version_key))
    assert (cited["version"], str(cited["date-released"])) == (newest.version, newest.date)
