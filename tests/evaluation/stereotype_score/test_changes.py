"""The change of the stereotype score between two runs: values by hand, a slow version, intervals, and the report."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.stereotype_score import StereotypeScore
from holisticbias_eval.statistics.attributes import AttributeCounts, attribute_test, mean_interval
from known import known

# specification, attribute, whether the first and the second run choose the stereotyped sentence (None: a tie)
PAIRS = [
    ("s", "x", 0, 1), ("s", "x", 0, 1), ("s", "x", 1, 1), ("s", "x", 1, 0),  # x: two gained, one lost of four
    ("s", "y", 0, 1), ("s", "y", 0, 0), ("s", "y", None, 1),  # y: one gained of two
    ("t", "z", 1, 0),
]  # fmt: skip


def answers(run: int, pairs: list[Any] | None = None, **changed: str) -> pa.Table:
    rows = []
    for i, (specification, attribute, *states) in enumerate(PAIRS if pairs is None else pairs):
        state = states[run]
        row = {"pair_id": str(i), "specification": specification, "attribute": attribute, "stereotyped": "sentence"}
        texts = {"sentence": f"a dromel {i}", "other_sentence": changed.get(f"p{i}", f"a tazzin {i}")}
        scores = {"score_stereotype": -1.0, "score_antistereotype": -1.0 if state is None else -2.0 + 2 * (1 - state)}
        rows.append({**row, **texts, **scores})
    return pa.Table.from_pylist(rows)


def view(table: pa.Table) -> View:
    return View(Figures(StereotypeScore().figures(table, None).figures), table)


def changes(first: pa.Table, second: pa.Table) -> Figures:
    return Figures(StereotypeScore().compare(view(first), view(second)))


def test_the_change_is_the_mean_over_attributes_of_pairs_in_both() -> None:
    found = changes(answers(0), answers(1))
    one = known(found.get("stereotype_score", "change", {"specification": "s"}))
    assert (one.value, one.n, one.missing) == ((1 / 4 + 1 / 2) / 2, 6, 1)
    assert one.p_value == 0.5  # both attributes change in the same direction: 2 of 4 sign patterns
    assert found.value("stereotype_score", "change", {"specification": "t"}) == -1.0
    assert found.value("stereotype_score", "change") == pytest.approx((1 / 4 + 1 / 2 - 1) / 3)
    assert found.value("stereotype_score", "first", {"specification": "s"}) == (1 / 2 + 0) / 2
    assert found.value("stereotype_score", "second", {"specification": "s"}) == pytest.approx((3 / 4 + 2 / 3) / 2)
    assert found.value("stereotype_score", "change_adjusted_p", {"specification": "t"}) == 1.0


def test_pairs_with_other_sentences_are_not_compared() -> None:
    found = changes(answers(0), answers(1, p7="another sentence"))
    one = known(found.get("stereotype_score", "change", {"specification": "t"}))
    assert (one.value, one.n, one.p_value) == (None, 0, None)
    assert found.value("stereotype_score", "first", {"specification": "t"}) == 1.0


def test_equal_runs_do_not_change() -> None:
    one = known(changes(answers(0), answers(0)).get("stereotype_score", "change", {"specification": "s"}))
    assert one.interval is not None
    assert (one.value, one.p_value) == (0.0, 1.0)
    assert one.interval.low == -one.interval.high < 0


def counts(*triples: tuple[int, int, int]) -> AttributeCounts:
    gained, lost, pairs = np.array(triples, np.int64).T
    return AttributeCounts(gained, pairs, np.zeros(len(triples), np.int64), lost)


triple = st.integers(1, 5).flatmap(
    lambda n: st.integers(0, n).flatmap(lambda g: st.tuples(st.just(g), st.integers(0, n - g), st.just(n)))
)


@given(st.lists(triple, min_size=1, max_size=7))
def test_the_test_is_the_slow_one(triples: list[tuple[int, int, int]]) -> None:
    values = [(gained - lost) / pairs for gained, lost, pairs in triples]
    sums = [abs(np.dot(signs, values)) for signs in itertools.product((1, -1), repeat=len(values))]
    expected = np.mean([value >= abs(sum(values)) - 1e-6 for value in sums])
    assert attribute_test(counts(*triples), np.random.default_rng(0)) == pytest.approx(expected)


@given(st.lists(triple, min_size=2, max_size=7))
def test_the_interval_holds_the_change(triples: list[tuple[int, int, int]]) -> None:
    made = counts(*triples)
    found = known(mean_interval(made, 200, np.random.default_rng(0)))
    assert -1 <= found.low <= known(made.mean) <= found.high <= 1


def test_the_interval_has_the_width_of_students_t() -> None:
    """Eight attributes of many pairs: mean and standard error of their changes, and t with 7 degrees of freedom."""
    gained = np.array([10, 25, 40, 30, 20, 35, 15, 45])
    made = AttributeCounts(gained, np.full(8, 100), np.zeros(8, np.int64), np.zeros(8, np.int64))
    found = known(mean_interval(made, 20_000, np.random.default_rng(0)))
    half = 2.3646 * (gained / 100).std(ddof=1) / np.sqrt(8)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.03)
