"""The benchmarks of builds and of growth. Figures are not tested, because other work on the machine changes them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import build
import growth
import shared
from holisticbias import open_release
from holisticbias.compile.phrases import compile_phrases
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor


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


@pytest.mark.parametrize(
    ("rows", "seconds", "expected"),
    [([1, 4, 16], [3, 12, 48], 1.0), ([1, 4], [1, 16], 2.0), ([10, 100], [5, 5], 0.0)],
)
def test_exponent(rows: list[int], seconds: list[float], expected: float) -> None:
    assert growth.exponent(rows, seconds) == pytest.approx(expected)


def test_scaled_terms_make_so_many_times_the_phrases(catalog: Catalog) -> None:
    one, three = growth.scaled_catalog(1), growth.scaled_catalog(3)
    ids = [d.id for axis in three.axes for d in axis.descriptors]
    assert len(set(ids)) == len(ids) == 3 * sum(len(axis.descriptors) for axis in one.axes)
    for axis in three.axes:
        for d in axis.descriptors:
            Descriptor.model_validate(d.model_dump())
    nouns = sum(len(g.nouns) for g in one.genders)
    base = catalog.at(growth.BASE)
    phrases = [compile_phrases(held, "sound", labels=False).read().num_rows for held in (base, one, three)]
    assert phrases == [phrases[1], phrases[1], nouns + 3 * (phrases[1] - nouns)]


def test_failing_phase_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        growth.measure("verify", tmp_path / "nothing", 1)
