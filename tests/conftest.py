"""Shared fixtures: the catalog, version 1.0.0 compiled and written once per session, and the command."""

import gc
import os
import subprocess
from collections.abc import Callable
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from folders import copy_terms
from holisticbias import build_release, cli, load_catalog
from holisticbias.release.release import Release
from holisticbias.terms.catalog import Catalog
from invoking import Invoke
from processes import python

ROOT = Path(__file__).resolve().parent.parent

# read when torch is imported, also in the processes that tests start: a worker per core, a thread per worker
os.environ.setdefault("OMP_NUM_THREADS", "1")

# a process has one command, the tests have thousands: what is installed is looked up once
vars(cli)["entry_points"] = cache(entry_points)

# `make test` draws the same examples every time, so only a change makes it fail;
# `make fuzz` draws many new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("fuzz", max_examples=4000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first: the worker that takes one last would keep the others waiting."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Leave what the tests import out of the garbage collector's passes, which would read it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository: its folder of terms, schemas and tests."""
    return ROOT


@pytest.fixture(scope="session")
def data(root: Path) -> Path:
    """Examples and expected values."""
    return root / "tests" / "data"


@pytest.fixture(scope="session")
def catalog(root: Path) -> Catalog:
    return load_catalog(root)


@pytest.fixture(scope="session")
def release(catalog: Catalog) -> Release:
    """Version 1.0.0, compiled."""
    return build_release(catalog, "1.0.0")


@pytest.fixture(scope="session")
def small_release(catalog: Catalog) -> Release:
    """The small subset of version 1.0.0, compiled."""
    return build_release(catalog, "1.0.0", "small")


@pytest.fixture(scope="session")
def run(root: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``holisticbias`` in a separate process."""
    return partial(python, "-m", "holisticbias", cwd=root)


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run ``holisticbias`` in this process, in the repository."""
    monkeypatch.chdir(ROOT)
    return Invoke(capsys)


@pytest.fixture
def terms_copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the repository's terms."""
    return copy_terms(root, tmp_path / "terms")
