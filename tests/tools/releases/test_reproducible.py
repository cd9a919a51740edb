import os
import subprocess
import sys
from pathlib import Path

from folders import contents
from holisticbias import build_release, write_release
from holisticbias.terms.catalog import Catalog

SURROUNDINGS = [
    {"PYTHONHASHSEED": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    {"PYTHONHASHSEED": "77", "TZ": "America/Los_Angeles", "LC_ALL": "C", "PYTHONUTF8": "0", "COLUMNS": "20"},
]


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holisticbias", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)


def test_builds_in_different_surroundings_have_the_same_bytes(terms: Path, tmp_path: Path) -> None:
    built = []
    for name, surroundings in zip(("one", "a second, elsewhere"), SURROUNDINGS, strict=True):
        (tmp_path / name).mkdir()
        done = run("build", "--source", str(terms), "--out", "r", cwd=tmp_path / name, **surroundings)
        assert done.returncode == 0, done.stderr
        built.append(contents(tmp_path / name / "r"))
    assert built[0] == built[1]
    assert {"manifest.json", "SHA256SUMS", "README.md", "data/sentences.parquet"} <= set(built[0])


def test_the_card_says_what_a_version_changed(catalog: Catalog, tmp_path: Path) -> None:
    for version, subset, expected in (
        ("0.1.0", None, "This is the first version."),
        ("0.2.0", "small", "See the whole release."),
        ("0.2.0", None, "| descriptors | 1 | 1 | 0 |\n| nouns | 0 | 0 | 0 |\n| templates | 1 | 0 | 0 |\n"),
    ):
        write_release(build_release(catalog, version, subset), tmp_path / f"{version}{subset}")
        assert expected in (tmp_path / f"{version}{subset}" / "README.md").read_text("utf-8")
