"""Generation bias of simulated runs: intervals, floors, audit, comparison and sections."""

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.responses_by_hand import (
    CLUSTERS,
    MEASURE,
    NAME,
    TINY,
    get,
    measure,
    random_answers,
    table,
    value,
    view,
)
from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings
from known import known


@pytest.mark.parametrize(
    ("effect", "responses", "unequal"), [(0.0, 5, False), (0.0, 4, True), (0.6, 15, False), (0.6, 4, True)]
)
def test_intervals_cover_and_false_alarms_are_rare(effect: float, responses: int, unequal: bool) -> None:
    world = ResponseWorld(
        axes=1, descriptors=8, templates=4, styles=4, responses=responses, unequal=unequal, effect=effect
    )
    rng = np.random.default_rng(1)
    covered, alarms = [], []
    for _ in range(25):
        mixtures = world.mixtures(rng)
        figures = measure(world.draw(mixtures, rng))
        interval = known(get(figures, "full_gen_bias_corrected").interval)
        truth = 1000 * world.means(mixtures).var(axis=1).sum(axis=1).mean()
        covered.append(interval.low <= truth <= interval.high)
        alarms.append((get(figures, "full_gen_bias").p_value or 0) < 0.05)
    assert np.mean(covered) > 0.85
    assert np.mean(alarms) <= 0.18 if not effect else np.mean(alarms) > 0.9


def test_runs_are_compared_on_common_cells() -> None:
    first = table([*TINY, ("x", "t", "three", 0.0, 1.0), ("x", "u", "one", 0.0, 1.0)])
    second = table([*((axis, t, d, 0.5, 0.5) for axis, t, d, _, _ in TINY), ("y", "t", "four", 1.0, 0.0)])
    changes = Figures(MEASURE.compare(view(first, CLUSTERS), view(second, CLUSTERS)))
    for keys, size in (({}, 35), ({"axis": "x"}, 35), ({"cluster": "first"}, 17.5), ({"style": "b"}, 17.5)):
        assert value(changes, "first", **keys) == pytest.approx(size)
        assert value(changes, "second", **keys) == 0
        change = get(changes, "change", **keys)
        assert change.value == pytest.approx(-size)
        assert known(change.interval).low <= -size <= known(change.interval).high
        assert change.of in {"full_gen_bias_corrected", "partial_gen_bias_corrected"}
    assert changes.get(NAME, "change", {"axis": "y"}) is None
    assert {len(f.keys) for f in changes} == {0, 1}
    sections = MEASURE.compared_sections(changes, view(second, CLUSTERS))
    assert {table.name for table in sections[0].tables} == {"changes-by-axis", "changes-by-cluster", "changes-by-style"}


def test_made_up_words_are_left_out_of_the_change_over_all() -> None:
    nonce = [("nonce", t, d, 0.0 if d == "one" else 1.0, 0.5) for _, t, d, _, _ in TINY]
    second = table([*((axis, t, d, 0.5, 0.5) for axis, t, d, _, _ in TINY), *nonce])
    changes = Figures(MEASURE.compare(view(table([*TINY, *nonce])), view(second)))
    assert [value(changes, "change"), value(changes, "change", axis="x")] == pytest.approx([-35, -35])
    assert value(changes, "change", axis="nonce") == 0


def test_change_is_found_and_equal_runs_do_not_differ() -> None:
    rng = np.random.default_rng(3)
    small, large = (ResponseWorld(axes=1, effect=effect) for effect in (0.1, 0.6))
    mixtures = small.mixtures(rng)
    runs = [small.draw(mixtures, rng), small.draw(mixtures, rng), large.draw(large.mixtures(rng), rng)]
    same, other = (Figures(MEASURE.compare(view(runs[0]), view(run))) for run in runs[1:])
    assert (get(same, "change").p_value or 0) > 0.01
    assert (get(other, "change").p_value or 0) < 0.001
    assert value(Figures(MEASURE.compare(view(runs[0]), view(runs[0]))), "change") == 0


def test_runs_without_a_common_style_or_cell() -> None:
    renamed = table(TINY).rename_columns(["axis", "template", "descriptor", "p:c", "p:d"])
    with pytest.raises(SelectionError, match="no style in common"):
        MEASURE.compare(view(table(TINY)), view(renamed))
    other = table([("y", t, d, a, b) for _, t, d, a, b in TINY])
    with pytest.raises(SelectionError, match="no descriptor and template in common"):
        MEASURE.compare(view(table(TINY)), view(other))


def test_edited_figures() -> None:
    for edited, problem in ((-1.0, "cannot be negative"), (None, "full_gen_bias is missing"), (46.0, None)):
        figures = [
            f.model_copy(update={"value": edited}) if (f.name, f.keys) == ("full_gen_bias", {"axis": "x"}) else f
            for f in measure(table(TINY))
        ]
        found = list(MEASURE.problems(Figures(figures)))
        assert len(found) == (problem is not None)
        assert all(problem in text for text in found if problem)


def test_leading_descriptors_are_found_and_nobody_by_chance() -> None:
    rng = np.random.default_rng(0)
    named = []
    for effect in (0.0,) * 5 + (0.5,):
        world = ResponseWorld(styles=10, rare=2, softness=0, effect=effect, differing=5, responses=5)
        figures = measure(world.draw(world.mixtures(rng), rng))
        adjusted = figures.by(NAME, "style_adjusted_p", "axis", "descriptor", "style")
        assert len(adjusted) == 400
        named.append(sum((f.value is not None and f.value < 0.05) for f in adjusted))
    assert sum(n > 0 for n in named[:-1]) <= 1
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
    named = {f.keys["cluster"] for f in Figures(measured.figures).by(NAME, "partial_gen_bias", "cluster")}
    assert named == set(clusters)
    assert any(note.startswith("Clusters found") for note in measured.notes)
    assert "average linkage" in MEASURE.signature(MeasureSettings(clusters="found"))["clusters"]


@pytest.mark.parametrize(("members", "message"), [(("a", "c"), "has the style 'c'"), ((), "has no style")])
def test_clusters_that_do_not_fit(members: tuple[str, ...], message: str) -> None:
    with pytest.raises(SelectionError, match=message):
        measure(table(TINY), {"mine": members})
