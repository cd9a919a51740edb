"""The change of group_perplexity between two runs: by hand, paired, and on shared sentences alone."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from known import known

NAME = "group_perplexity"
MEASURE = MEASURES[NAME]
GROUPS = ("blicket", "stad", "mell")
LOG = {"dimension": "one", "scale": "log"}
Row = dict[str, Any]


def rows_of(effects: tuple[float, ...], sentences: int = 40, seed: int = 0, cost: float = 0.0) -> list[Row]:
    rng = np.random.default_rng(seed)
    spread, noise = rng.normal(0, 0.4, sentences), rng.normal(0, 0.05, (sentences, len(effects)))
    return [
        {
            "dimension": "one", "group": GROUPS[g], "sentence": f"{i} of {GROUPS[g]}", "sentence_id": f"s{i}",
            "perplexity": float(np.exp(4 + cost + spread[i] + effect + noise[i, g])), "nll": 1.0,
        }
        for g, effect in enumerate(effects)
        for i in range(sentences)
    ]  # fmt: skip


def view(rows: list[Row]) -> View:
    table = pa.Table.from_pylist(rows)
    return View(Figures(MEASURE.figures(table, None).figures), table)


def compare(first: list[Row], second: list[Row]) -> Figures:
    return Figures(MEASURE.compare(view(first), view(second)))


def test_intervals_keep_the_sentences_together() -> None:
    """A cost that is nearly the same for every sentence has a narrow interval, however sentences differ."""
    one, other = rows_of((0.3, 0.0, -0.3)), rows_of((0.3, 0.0, -0.3), cost=0.05)
    nearly = [{**row, "perplexity": row["perplexity"] * (1 + 1e-9 * i)} for i, row in enumerate(other)]
    for keys, expected in (({**LOG, "figure": "mean"}, 0.05), (LOG, 0.0)):
        change = known(compare(one, nearly).get(NAME, "change", keys))
        interval = known(change.interval)
        assert [change.value, interval.low, interval.high] == pytest.approx([expected] * 3, abs=5e-5)
        same = known(compare(one, other).get(NAME, "change", keys))
        assert same.value == pytest.approx(expected)
        assert same.interval is None, "nothing varies"


def test_only_shared_sentences_count() -> None:
    first = rows_of((0.3, 0.0, -0.3))
    other = [row for row in rows_of((0.1, 0.0, -0.1)) if row["sentence_id"] not in ("s0", "s1")]
    other[0] = {**other[0], "perplexity": 0.0}
    added = [{**row, "sentence_id": "new", "sentence": "new"} for row in other[:1]]
    changes = compare(first, other[::-1] + added)
    expected = compare([row for row in first if row["sentence_id"] not in ("s0", "s1")], other)
    found, same = (known(figures.get(NAME, "change", LOG)) for figures in (changes, expected))
    assert [found.value, found.n, found.missing] == pytest.approx([same.value, 38 * 3 - 1, 1])


def test_runs_without_a_common_dimension() -> None:
    first = rows_of((0.3, 0.0, -0.3))
    with pytest.raises(SelectionError, match="no dimension"):
        compare(first, [{**row, "dimension": "two"} for row in first])


def test_a_dimension_may_have_brackets_in_its_name() -> None:
    """Another dimension with the same words before the brackets is not shared, and is named."""
    first, other = (
        [{**row, "dimension": name} for row in rows_of((0.3, 0.0))] for name in ("race (here)", "race (there)")
    )
    changes = {figure.keys["dimension"]: figure.value for figure in compare(first + other, first).by(
        NAME, "change", "dimension", scale="log")}  # fmt: skip
    assert changes == {"race (here)": 0.0, "race (there)": None}


def test_impossible_figures_of_an_entry() -> None:
    def problems(name: str, value: float, unit: str, **keys: str) -> list[str]:
        return [*MEASURE.problems(Figures([make_figure(NAME, name, {**LOG, **keys}, value, unit, 1)]))]

    for name in ("f", "f_within"):
        assert problems(name, -0.1, "F") == [f"{LOG}: {name} is below 0"]
    assert problems("f", 0.0, "F") == problems("eta_squared", 1.0, "share") == []
    assert problems("mean", -0.1, "nats per token", group="stad") == []
