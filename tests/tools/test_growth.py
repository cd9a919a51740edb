"""The benchmark of growth. Its figures are not tested, because other work on the machine changes them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import growth
from holisticbias.compile.phrases import compile_phrases
from holisticbias.rules.validate import load_catalog
from holisticbias.terms.entries import Descriptor


@pytest.mark.parametrize(
    ("rows", "seconds", "expected"),
    [([1, 4, 16], [3, 12, 48], 1.0), ([1, 4], [1, 16], 2.0), ([10, 100], [5, 5], 0.0)],
)
def test_exponent(rows: list[int], seconds: list[float], expected: float) -> None:
    assert growth.exponent(rows, seconds) == pytest.approx(expected)


def test_scaled_terms_make_so_many_times_the_phrases(root: Path) -> None:
    one, three = growth.scaled_catalog(1), growth.scaled_catalog(3)
    ids = [d.id for axis in three.axes for d in axis.descriptors]
    assert len(set(ids)) == len(ids) == 3 * sum(len(axis.descriptors) for axis in one.axes)
    for axis in three.axes:
        for d in axis.descriptors:
            Descriptor.model_validate(d.model_dump())
    nouns = sum(len(g.nouns) for g in one.genders)
    base = load_catalog(root).at(growth.BASE)
    phrases = [compile_phrases(held, "sound", labels=False).read().num_rows for held in (base, one, three)]
    assert phrases == [phrases[1], phrases[1], nouns + 3 * (phrases[1] - nouns)]


def test_failing_phase_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        growth.measure("verify", tmp_path / "nothing", 1)
