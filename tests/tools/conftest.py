"""Fixtures of the tests of the tools."""

import shutil
from pathlib import Path

import pytest

from folders import copy_few
from holisticbias.contribute.freeze import freeze
from holisticbias.contribute.release_files import begin_version, complete_release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from small_terms import add_term


@pytest.fixture(scope="session")
def unchanged(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of a third of the repository's terms that no test changes."""
    return copy_few(root, tmp_path_factory.mktemp("shared") / "terms")


@pytest.fixture
def terms_copy(unchanged: Path, tmp_path: Path) -> Path:
    """A copy of a third of the repository's terms."""
    return shutil.copytree(unchanged, tmp_path / "terms")


@pytest.fixture
def copy(terms_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a third of the repository's terms, as the current folder."""
    monkeypatch.chdir(terms_copy)
    return terms_copy


@pytest.fixture(scope="session")
def few(unchanged: Path) -> Catalog:
    """The catalog of a third of the repository's terms."""
    return load_catalog(unchanged)


@pytest.fixture
def read_once(few: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that change a copy of the terms take the catalog that is read once for all tests."""
    for module in ("contribute.authoring", "questions.answering"):
        monkeypatch.setattr(f"holisticbias.{module}.load_catalog", lambda _: few)


@pytest.fixture
def shared_terms(unchanged: Path, read_once: None) -> Path:
    """A copy of the repository's terms for commands that write nothing."""
    return unchanged


@pytest.fixture(scope="session")
def two_versions(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of terms with the published version 0.1.0, and ``next``, that no test changes."""
    folder = shutil.copytree(data / "two-versions", tmp_path_factory.mktemp("shared") / "repository")
    freeze(folder, "0.1.0", "2026-11-25")
    complete_release(folder, "0.1.0")
    (folder / "releases" / "next.yaml").unlink()
    begin_version(folder, "next")
    return folder


@pytest.fixture(scope="session")
def with_brave(two_versions: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The two versions, and a new term of ``next``, ability.brave, that no test changes."""
    folder = shutil.copytree(two_versions, tmp_path_factory.mktemp("shared") / "repository")
    add_term(folder, "brave")
    return folder


@pytest.fixture
def repository(two_versions: Path, tmp_path: Path) -> Path:
    """A folder of terms with the published version 0.1.0, and ``next``, which adds entries and rewords one."""
    return shutil.copytree(two_versions, tmp_path / "repository")
