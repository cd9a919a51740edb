"""The command ``site``: the folder, an earlier site, and bad input."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from holisticbias import build_release, write_release
from holisticbias.terms.catalog import Catalog
from holisticbias_eval.site.build import is_current
from holisticbias_eval.site.explored import Sources

Invoke = Callable[..., tuple[int, str, str]]
PART = ("axis=nonce", "gender=neutral")


@pytest.fixture(scope="module")
def parts(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small parts of three layouts, and an empty registry."""
    folder = tmp_path_factory.mktemp("parts")
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        write_release(build_release(catalog, version, where=PART), folder / version)
    (folder / "results").mkdir()
    return folder


@pytest.fixture
def options(parts: Path) -> list[str | Path]:
    return ["--release", parts / "2.0.0", "--results", parts / "results"]


def test_it_writes_the_site_and_replaces_it(
    invoke: Invoke, options: list[str | Path], parts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    releases = ["--release", parts / "1.0.0", parts / "3.0.0"]  # one option, two values
    code, said, steps = invoke("site", *options, *releases, "--out", out)
    assert (code, said) == (0, f"Site: {out / 'index.html'}\n"), steps
    assert (out / "releases" / "1.0.0-to-3.0.0.html").is_file()
    assert invoke("site", *options, "--out", out)[0] == 0
    assert not (out / "releases" / "1.0.0.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_site_is_current_until_something_changes(
    invoke: Invoke, options: list[str | Path], parts: Path, root: Path, tmp_path: Path
) -> None:
    sources = Sources((str(parts / "2.0.0"),), results=parts / "results")
    assert not is_current(tmp_path / "site", sources)
    assert invoke("site", *options, "--out", tmp_path / "site")[0] == 0
    assert is_current(tmp_path / "site", sources)
    assert not is_current(tmp_path / "site", Sources((str(parts / "1.0.0"),), results=parts / "results"))
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "new.json").write_text("{}", "utf-8")
    assert not is_current(tmp_path / "site", Sources((str(parts / "2.0.0"),), results=tmp_path / "results"))
    (tmp_path / "site" / "site.json").write_text("not JSON", "utf-8")
    assert not is_current(tmp_path / "site", sources)


@pytest.mark.parametrize(
    ("releases", "message"),
    [
        (["9.9.9"], r"there is no version '9.9.9': releases/ has 1\.0\.0, .*"),
        (["absent-folder"], r"absent-folder is not a release: it does not exist; .*"),
        (["PARTS/2.0.0", "PARTS/2.0.0"], r"two releases are version 2\.0\.0: name one of them"),
    ],
)
def test_bad_releases_write_nothing(
    invoke: Invoke, parts: Path, tmp_path: Path, releases: list[str], message: str
) -> None:
    chosen = [part for name in releases for part in ("--release", name.replace("PARTS", str(parts)))]
    code, said, errors = invoke("site", *chosen, "--results", parts / "results", "--out", tmp_path / "site")
    assert (code, said) == (2, "")
    assert re.fullmatch(f"holisticbias: {message}", errors.splitlines()[-1])
    assert list(tmp_path.iterdir()) == []


def test_a_release_of_other_terms_is_refused(
    invoke: Invoke, mini_release_folder: Path, parts: Path, tmp_path: Path
) -> None:
    out = tmp_path / "site"
    code, _, errors = invoke("site", "--release", mini_release_folder, "--results", parts / "results", "--out", out)
    assert code == 2
    assert errors.splitlines()[-1].endswith(
        "is version 0.1.0, which the terms do not have: name their folder with --source"
    )


def test_a_folder_with_something_else_is_kept(invoke: Invoke, options: list[str | Path], tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work", "utf-8")
    code, _, errors = invoke("site", *options, "--out", tmp_path)
    assert code == 2
    assert "holds something else" in errors
    assert (tmp_path / "thesis.txt").read_text("utf-8") == "years of work"


def test_serving_ends_with_an_interruption(options: list[str | Path], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "holisticbias", "site", *map(str, options), "--out", str(tmp_path / "site")]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--serve", "--no-open", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        with urllib.request.urlopen(f"{address}terms/index.html", timeout=10) as answer:  # noqa: S310 - our server
            assert b"blicket" in answer.read()
        process.send_signal(signal.SIGINT)
        said, errors = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "Ended.\n")
    assert "Traceback" not in errors
