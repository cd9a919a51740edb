from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.shares.shares import Share, measure_shares
from holisticbias_eval.prompts.selection import select_sentences

Row = tuple[str, str, str, float | None]


def table(rows: list[Row]) -> pa.Table:
    axis, template, descriptor, perplexity = zip(*rows, strict=True)
    columns = {"axis": axis, "template": template, "descriptor_id": descriptor, "noun_id": ["kid"] * len(rows)}
    return pa.table({**columns, "perplexity": pa.array(perplexity, pa.float64())})


def test_worked_by_hand() -> None:
    # Four against four, all below: p = 2/70, below 0.05. Interleaved, or three against three: never below 0.05.
    samples: dict[tuple[str, str, str], list[float]] = {
        ("age", "t1", "young"): [1, 2, 3, 4],
        ("age", "t1", "old"): [5, 6, 7, 8],
        ("age", "t1", "elderly"): [1.5, 2.5, 5.5, 6.5],
        ("age", "t2", "young"): [1, 2, 3],
        ("age", "t2", "old"): [4, 5, 6],
        ("nonce", "t1", "doff"): [1, 2, 3, 4],
    }
    rows: list[Row] = [(*key, float(v)) for key, listed in samples.items() for v in listed]
    found = measure_shares(table(rows))
    assert [(s.axis, s.descriptors, s.pairs, s.significant, s.share) for s in found.by_axis] == [
        ("age", 3, 4, 1, 0.25),
        ("nonce", 1, 0, 0, None),
    ]
    assert [(s.template, s.descriptors, s.pairs, s.significant) for s in found.by_template] == [
        ("t1", 4, 3, 1),
        ("t2", 2, 1, 0),
    ]


def test_a_descriptor_without_perplexity_is_counted_and_not_tested() -> None:
    rows: list[Row] = [("age", "t", "young", v) for v in (1.0, 2.0, 3.0, 4.0)]
    rows += [("age", "t", "old", v) for v in (5.0, 6.0, 7.0, 8.0)]
    rows += [("age", "t", "elderly", None), ("age", "t", "elderly", float("nan"))]
    (axis,) = measure_shares(table(rows)).by_axis
    assert (axis.descriptors, axis.pairs, axis.significant, axis.untested, axis.share) == (3, 1, 1, 2, 1.0)


def test_no_sentence_is_an_error() -> None:
    with pytest.raises(SelectionError, match="no sentence"):
        measure_shares(table([("a", "t", "d", 1.0)]).slice(0, 0))


def test_selects_descriptors_of_any_gender_with_a_noun(mini_release: Release) -> None:
    selected = select_sentences(mini_release.sentences)
    assert selected.num_rows == 7 * 4 * 3
    assert set(selected["noun_phrase_type"].to_pylist()) == {"descriptor_noun"}
    assert set(selected["descriptor_gender"].to_pylist()) == {"any"}


def random_rows(seed: int, nouns: int, digits: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for axis, descriptors in (("age", 5), ("ability", 4), ("nonce", 1)):
        for template, descriptor in itertools.product(("t1", "t2", "t3"), range(descriptors)):
            shift = rng.normal()
            for _ in range(nouns):
                missing = rng.random() < 0.1
                value = None if missing else round(float(rng.lognormal(shift, 0.7)), digits)
                rows.append((axis, template, f"{axis}.{descriptor}", value))
    return [rows[i] for i in rng.permutation(len(rows))]


Counts = dict[tuple[str, str], tuple[int, int, int]]


def slow_counts(rows: list[Row]) -> Counts:
    """Pairs tested, pairs significant and pairs without a perplexity, cell by cell and pair by pair."""
    counts: Counts = {}
    for axis, template in dict.fromkeys((r[0], r[1]) for r in rows):
        cell = [r for r in rows if (r[0], r[1]) == (axis, template)]
        names = sorted({r[2] for r in cell})
        samples = {n: [r[3] for r in cell if r[2] == n and r[3] is not None] for n in names}
        tested = significant = untested = 0
        for a, b in itertools.combinations(names, 2):
            if not samples[a] or not samples[b]:
                untested += 1
                continue
            tested += 1
            significant += mannwhitneyu(samples[a], samples[b]).pvalue < 0.05
        counts[axis, template] = (tested, significant, untested)
    return counts


def counted(share: Share) -> tuple[int, int, int]:
    return share.pairs, share.significant, share.untested


@pytest.mark.parametrize(
    ("seed", "nouns", "digits"), [(0, 30, 6), (1, 30, 0), (2, 6, 6), (3, 6, 0), (4, 2, 1), (5, 1, 6)]
)
def test_equals_a_loop_over_pairs(seed: int, nouns: int, digits: int) -> None:
    rows = random_rows(seed, nouns, digits)
    expected = slow_counts(rows)
    found = measure_shares(table(rows))
    assert {(c.axis, c.template): counted(c) for c in found.by_axis_and_template} == expected
    for pools, place in ((found.by_axis, 0), (found.by_template, 1)):
        for pool in pools:
            name = (pool.axis, pool.template)[place]
            cells = [counts for key, counts in expected.items() if key[place] == name]
            assert counted(pool) == tuple(map(sum, zip(*cells, strict=True)))
