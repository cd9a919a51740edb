"""Styles by descriptor, and clusters of styles."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.responses_by_hand import (
    MEASURE,
    NAME,
    TINY,
    measure,
    random_answers,
    table,
)
from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings


def test_leading_descriptors_are_found_and_nobody_by_chance() -> None:
    rng = np.random.default_rng(0)
    named = []
    for effect in (0.0,) * 10 + (0.5,):
        world = ResponseWorld(styles=10, rare=2, softness=0, effect=effect, differing=5, responses=5)
        figures = measure(world.draw(world.mixtures(rng), rng))
        adjusted = figures.by(NAME, "style_adjusted_p", "axis", "descriptor", "style")
        assert len(adjusted) == 400
        named.append(sum((f.value is not None and f.value < 0.05) for f in adjusted))
    assert sum(n > 0 for n in named[:-1]) <= 2
    assert named[-1] > 5


def test_many_styles_have_figures_by_descriptor_only_if_they_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holisticbias_eval.measures.responses.bias_figures.MOST", 24)
    figures = measure(random_answers(0), {"one": ("s0", "s2")})
    shown = {f.keys["style"] for f in figures.by(NAME, "style_mean", "axis", "descriptor", "style")}
    biases = {f.keys["style"]: f.value or 0 for f in figures.by(NAME, "partial_gen_bias", "style")}
    assert shown == set(sorted(biases, key=lambda style: -biases[style])[:2])
    assert len(figures.by(NAME, "style_mean", "axis", "descriptor", "cluster")) == 12


def test_clusters_are_found() -> None:
    """Styles a and b always occur together, c without them."""
    rng = np.random.default_rng(0)
    a = rng.random(200)
    columns = {
        "axis": ["x"] * 200, "template": ["t"] * 200, "descriptor": [f"d{i % 4}" for i in range(200)],
        "p:c": 0.4 * (1 - a), "p:a": 0.3 * a, "p:same": np.full(200, 0.2), "p:b": 0.2 * a,
    }  # fmt: skip
    measured = MEASURE.figures(pa.table(columns), MeasureSettings(clusters="found"))
    clusters = defaultdict(set)
    for row in measured.tables["clusters"].to_pylist():
        clusters[row["cluster"]].add(row["style"])
    assert sorted(map(sorted, clusters.values())) == [["a", "b"], ["c"], ["same"]]
    assert {f.keys["cluster"] for f in Figures(measured.figures).by(NAME, "partial_gen_bias", "cluster")} == set(
        clusters
    )
    assert any(note.startswith("Clusters found") for note in measured.notes)
    assert "average linkage" in MEASURE.signature(MeasureSettings(clusters="found"))["clusters"]


@pytest.mark.parametrize(("members", "message"), [(("a", "c"), "has the style 'c'"), ((), "has no style")])
def test_clusters_that_do_not_fit(members: tuple[str, ...], message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        measure(table(TINY), {"mine": members})
