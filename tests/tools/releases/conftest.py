from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias.catalog import Catalog
from holisticbias.release import build_release, write_release
from holisticbias.validate import load_catalog

TERMS = Path(__file__).parents[2] / "data" / "two-versions"
Build = Callable[..., Path]


@pytest.fixture(scope="session")
def terms() -> Path:
    return TERMS


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog(TERMS)


@pytest.fixture
def build(catalog: Catalog, tmp_path: Path) -> Build:
    """Writes a version of a few terms to a folder of that name."""

    def write(name: str = "release", version: str = "1.1.0", subset: str | None = None) -> Path:
        write_release(build_release(catalog, version, subset), tmp_path / name)
        return tmp_path / name

    return write
