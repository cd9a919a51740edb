"""Generation bias of simulated runs: intervals, floors, audit, comparison and sections."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation.responses_by_hand import (
    CLUSTERS,
    MEASURE,
    NAME,
    TINY,
    get,
    measure,
    table,
    value,
    view,
)
from tests.evaluation.simulated_responses import ResponseWorld

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from known import known


@pytest.mark.parametrize("effect", [0.0, 0.6])
@pytest.mark.parametrize(("responses", "unequal"), [(5, False), (15, False), (4, True)])
def test_intervals_cover_and_false_alarms_are_rare(effect: float, responses: int, unequal: bool) -> None:
    world = ResponseWorld(
        axes=1, descriptors=8, templates=4, styles=4, responses=responses, unequal=unequal, effect=effect
    )
    rng = np.random.default_rng(1)
    covered, alarms = [], []
    for _ in range(40):
        mixtures = world.mixtures(rng)
        figures = measure(world.draw(mixtures, rng))
        interval = known(get(figures, "full_gen_bias_corrected").interval)
        truth = 1000 * world.means(mixtures).var(axis=1).sum(axis=1).mean()
        covered.append(interval.low <= truth <= interval.high)
        alarms.append((get(figures, "full_gen_bias").p_value or 0) < 0.05)
    assert np.mean(covered) > 0.85
    assert np.mean(alarms) <= 0.15 if not effect else np.mean(alarms) > 0.9


def test_axes_are_corrected_for_their_number() -> None:
    world, rng = ResponseWorld(), np.random.default_rng(0)
    by_axis = measure(world.draw(world.mixtures(np.random.default_rng(0)), rng)).by(NAME, "full_gen_bias", "axis")
    assert len(by_axis) == 4
    assert not any(f.is_significant or f.above_floor for f in by_axis)


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
    sections = MEASURE.compared_sections(changes, view(second, CLUSTERS))
    assert {table.name for table in sections[0].tables} == {"changes-by-axis", "changes-by-cluster", "changes-by-style"}


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


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("full_gen_bias", -1.0, "cannot be negative"),
        ("variance_share", 1.5, "between 0 and 1"),
        ("full_gen_bias", None, "full_gen_bias is missing"),
        ("full_gen_bias", 46.0, None),
    ],
)
def test_edited_figures(name: str, value: float | None, problem: str | None) -> None:
    figures = [
        f.model_copy(update={"value": value}) if (f.name, f.keys) == (name, {"axis": "x"}) else f
        for f in measure(table(TINY))
    ]
    found = list(MEASURE.problems(Figures(figures)))
    assert len(found) == (problem is not None)
    assert all(problem in text for text in found if problem)
