import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holisticbias import build_release, write_release
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.catalog import Catalog
from loopback_hub import Hub, User, serve, use_as_client

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
    """Build a version of a few terms into a folder."""

    def write(name: str = "release", version: str = "0.2.0", subset: str | None = None) -> Path:
        write_release(build_release(catalog, version, subset), tmp_path / name)
        return tmp_path / name

    return write


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A local Hub; this process is its client, with ann's token and an empty cache."""
    users = {"hf_ann": User("ann", frozenset({"ann", "org"})), "hf_bob": User("bob", frozenset({"bob"}))}
    with serve(Hub(users=users)) as hub:
        use_as_client(hub, tmp_path, monkeypatch)
        monkeypatch.setenv("HF_TOKEN", "hf_ann")
        monkeypatch.setattr(time, "sleep", lambda seconds: None)
        yield hub


@pytest.fixture
def client_environment(hub: Hub, tmp_path: Path) -> dict[str, str]:
    """Environment variables for another process that is a client of the same Hub."""
    ours = {"HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home"), "HF_HUB_DISABLE_XET": "1", "HF_TOKEN": "hf_ann"}
    return {**os.environ, **ours}
