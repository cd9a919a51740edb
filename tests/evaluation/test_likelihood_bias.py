from __future__ import annotations

import pyarrow as pa
import pytest

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.shares.shares import measure_shares
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
