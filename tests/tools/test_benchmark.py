"""The benchmark of builds. Its figures are not tested, because other work on the machine changes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import build
import shared
from holisticbias import open_release


def test_floor_writes_its_sentences(tmp_path: Path) -> None:
    cost = build.measure_floor(tmp_path)
    assert cost.seconds > 0
    assert cost.peak_mb > 10
    texts = pq.read_table(tmp_path / "floor.parquet")["text"]
    assert (len(texts), texts[469_999].as_py()) == (470_000, "I'm a person with number 469999.")


def test_build_is_a_whole_release(tmp_path: Path) -> None:
    cost = build.measure_build(tmp_path)
    assert cost.peak_mb > 50
    (folder,) = tmp_path.iterdir()
    assert open_release(folder).version == "1.0.0"


def test_failing_process_is_no_figure() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        shared.measure_process((sys.executable, "-c", "raise SystemExit(3)"))


@pytest.mark.parametrize(
    ("call", "packages"),
    [
        ("from holisticbias.cli import main; main(['build', '--version', '1.0.0', '--out', sys.argv[1]])", ["pandas"]),
        ("import holisticbias", ["numpy", "pyarrow", "pydantic"]),
    ],
)
def test_imports_only_what_it_needs(call: str, packages: list[str], tmp_path: Path) -> None:
    code = f"import sys; {call}; sys.exit(sorted(sys.modules.keys() & {set(packages)}) or 0)"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "out")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
