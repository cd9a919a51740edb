"""The commit of the terms in a manifest."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from holisticbias.release.source_commit import COMMIT, source_commit
from holisticbias.source.folder import NAMES
from repositories import commit_all, git


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git repository with committed terms."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    write_terms(tmp_path)
    commit_all(tmp_path)
    return tmp_path


def write_terms(folder: Path) -> None:
    (folder / "descriptors").mkdir(parents=True)
    (folder / "descriptors" / "age.yaml").write_text("axis: age\n", "utf-8")
    (folder / "sources.yaml").write_text("sources: []\n", "utf-8")


def test_terms_as_they_were_committed_are_at_that_commit(repository: Path) -> None:
    assert source_commit(repository, NAMES) == git(repository, "rev-parse", "HEAD")
    (repository / "notes.txt").write_text("no term", "utf-8")
    assert source_commit(repository, NAMES) == git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["descriptors/age.yaml", "descriptors/new.yaml", "sources.yaml"])
def test_changed_terms_are_at_no_commit(repository: Path, name: str) -> None:
    (repository / name).write_text("changed\n", "utf-8")
    assert source_commit(repository, NAMES) is None


def test_terms_that_the_repository_around_them_does_not_keep_are_at_none_of_its_commits(repository: Path) -> None:
    """A virtual environment in another project, ignored by git."""
    (repository / ".gitignore").write_text(".venv\n", "utf-8")
    installed = repository / ".venv" / "data"
    write_terms(installed)
    assert source_commit(installed, NAMES) is None
    (installed / COMMIT).write_text("0123abcd\n", "utf-8")
    assert source_commit(installed, NAMES) == "0123abcd"


def test_terms_outside_of_git_are_at_no_commit(tmp_path: Path) -> None:
    write_terms(tmp_path / "terms")
    assert source_commit(tmp_path / "terms", NAMES) is None


def test_a_wheel_carries_all_the_terms(root: Path) -> None:
    (terms,) = (
        node.value
        for node in ast.parse((root / "hatch_build.py").read_text("utf-8")).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TERMS"
    )
    assert ast.literal_eval(terms) == NAMES
