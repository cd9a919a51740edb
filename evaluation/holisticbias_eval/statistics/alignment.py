"""Align two tables of scored sentences by sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Part

GROUPED = ("dimension", "group", "sentence")
"""Columns of a table of sentences about several groups."""
What = Literal["sentences", "prompts", "pairs", "lines", "candidates", "results", "intersections"]
"""What two runs share."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """The sentences that are in both tables: their rows in the first and in the second, shape ``[sentences]``.

    Rows are ``None`` if they are all rows of the table in order. ``same`` says for which sentences the text is the
    same and has a perplexity in both.
    """

    first: Ints | None
    second: Ints | None
    same: Bools


class SharedSentences(Part):
    """Counts of the common, changed, gone and added sentences, prompts, or pairs of two runs."""

    what: What = "sentences"

    common: int = Field(description="sentences with the same text and a perplexity in both runs")
    changed: int = Field(description="sentences with the same id whose text changed, or without a perplexity in a run")
    gone: int = Field(description="sentences of the first run only")
    added: int = Field(description="sentences of the second run only")
    nats: float | None = Field(
        None, description="mean difference of negative log-likelihood on common sentences, second run minus first"
    )


def align_rows(first: pa.Table, second: pa.Table) -> Aligned:
    """Align two tables by ``sentence_id``; they also have ``text`` and ``perplexity``.

    Raises ``SelectionError`` if they have no sentence in common.
    """
    rows = _same_rows(first["sentence_id"], second["sentence_id"])
    one, other = (
        take_rows(table.select(["text", "perplexity"]), own) for table, own in zip((first, second), rows, strict=True)
    )
    same: Bools = pc.equal(one["text"], other["text"]).to_numpy()
    for table in (one, other):
        same &= ~np.isnan(table["perplexity"].to_numpy())
    if not same.any():
        raise SelectionError("the two runs have no sentence in common: there is nothing to compare")
    return Aligned(*rows, same)


def take_rows(table: pa.Table, rows: Ints | None) -> pa.Table:
    """These rows of a table; ``None`` means all."""
    return table if rows is None else table.take(pa.array(rows))


def _same_rows(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[Ints | None, Ints | None]:
    """The rows with equal ids, in the order of the first column."""
    if first.equals(second):  # runs of one release
        return None, None
    place = pc.index_in(first, second.combine_chunks())
    rows = np.flatnonzero(place.is_valid().to_numpy())
    return _or_all(rows, len(first)), _or_all(place.drop_null().to_numpy().astype(np.int64), len(second))


def _or_all(rows: Ints, size: int) -> Ints | None:
    """The rows, or ``None`` if they are all of so many rows in order."""
    return None if len(rows) == size and (np.diff(rows) > 0).all() else rows


def count_shared(first: pa.Table, second: pa.Table) -> SharedSentences:
    """Count the sentences that two runs share, and by how much their likelihoods differ; or whatever else they share.

    Raises ``SelectionError`` if they have nothing in common.
    """
    if "pair_id" in first.column_names and "pair_id" in second.column_names:
        return _count_pairs(first, second)
    for name, what in _COUNTED.items():
        if name in first.column_names and name in second.column_names:
            return _count_by(first, second, name, what)
    if "response_id" in first.column_names and "response_id" in second.column_names:
        return _count_prompts(first, second)
    if all(name in table.column_names for table in (first, second) for name in GROUPED):
        return _count_grouped(first, second)
    aligned = align_rows(first, second)
    every, common = len(aligned.same), int(aligned.same.sum())
    one, other = (
        _in_one_piece(table["nll"], rows, aligned.same)
        for table, rows in ((first, aligned.first), (second, aligned.second))
    )
    return SharedSentences(
        common=common,
        changed=every - common,
        gone=first.num_rows - every,
        added=second.num_rows - every,
        nats=pc.mean(pc.subtract(other, one)).as_py(),
    )


def _in_one_piece(column: pa.ChunkedArray, rows: Ints | None, same: Bools) -> pa.Array | pa.ChunkedArray:
    """The values of the sentences that are the same; in one piece, because the rounding of a sum depends on pieces."""
    if rows is None and same.all():
        return column.combine_chunks()
    return column.take(pa.array(np.flatnonzero(same) if rows is None else rows[same]))


_COUNTED: Mapping[str, What] = {"line_id": "lines", "candidate_id": "candidates", "result_id": "results",
                                      "intersection_id": "intersections"}  # fmt: skip
"""Tables whose ids depend on the content of a row, by the name of the id."""


def _count_by(first: pa.Table, second: pa.Table, name: str, what: What) -> SharedSentences:
    """Count by an id that depends on the content, so that nothing can have changed."""
    common = pc.sum(pc.is_in(first[name], second[name].combine_chunks())).as_py() or 0
    if not common:
        raise SelectionError(f"the two runs have no {what} in common: there is nothing to compare")
    gone, added = first.num_rows - common, second.num_rows - common
    return SharedSentences(what=what, common=common, changed=0, gone=gone, added=added)


def _count_prompts(first: pa.Table, second: pa.Table) -> SharedSentences:
    place = pc.index_in(first["response_id"], second["response_id"].combine_chunks())
    one, other = first.filter(pc.is_valid(place)), second.take(pc.drop_null(place))
    if not one.num_rows:
        raise SelectionError("the two runs have no prompt in common: there is nothing to compare")
    equal = (
        pc.equal(*(table[name].cast(pa.large_string()) for table in (one, other))) for name in ("prompt", "persona")
    )
    same = pc.sum(pc.and_(*equal)).as_py()
    return SharedSentences(
        what="prompts",
        common=same,
        changed=one.num_rows - same,
        gone=first.num_rows - one.num_rows,
        added=second.num_rows - one.num_rows,
    )


def _count_grouped(first: pa.Table, second: pa.Table) -> SharedSentences:
    """Count sentences about groups, which have no id: dimension, group and text say which is which."""
    keys, others = (
        pc.binary_join_element_wise(*(t[name].cast(pa.string()) for name in GROUPED), "\0") for t in (first, second)
    )
    place = pc.index_in(keys, pc.unique(others))
    known = {key: row for row, key in reversed(list(enumerate(others.to_pylist())))}
    chosen = pa.array([known[key] for key in keys.filter(pc.is_valid(place)).to_pylist()], pa.int64())
    one, other = first.filter(pc.is_valid(place)), second.take(chosen)
    both = pa.array(~np.isnan(_perplexity(one)) & ~np.isnan(_perplexity(other)))
    if not one.num_rows:
        raise SelectionError("the two runs have no sentence in common: there is nothing to compare")
    one, other = one.filter(both), other.filter(both)
    return SharedSentences(
        common=one.num_rows,
        changed=len(both) - one.num_rows,
        gone=first.num_rows - len(both),
        added=int(pc.sum(pc.invert(pc.is_in(others, pc.unique(keys)))).as_py() or 0),
        nats=pc.mean(pc.subtract(other["nll"], one["nll"])).as_py() if one.num_rows else None,
    )


def _perplexity(table: pa.Table) -> Floats:
    found: Floats = table["perplexity"].to_numpy().astype(np.float64)
    return found


def _count_pairs(first: pa.Table, second: pa.Table) -> SharedSentences:
    first, second = (table.filter(table["other_sentence"].is_valid()) for table in (first, second))
    place = pc.index_in(first["pair_id"], second["pair_id"].combine_chunks())
    one, other = first.filter(pc.is_valid(place)), second.take(pc.drop_null(place))
    equal = (
        pc.fill_null(pc.equal(*(table[name].cast(pa.large_string()) for table in (one, other))), False)
        for name in ("sentence", "other_sentence")
    )
    same = pc.sum(pc.and_(*equal)).as_py() or 0
    if not same:
        raise SelectionError("the two runs have no pair of sentences in common: there is nothing to compare")
    return SharedSentences(
        what="pairs",
        common=same,
        changed=one.num_rows - same,
        gone=first.num_rows - one.num_rows,
        added=second.num_rows - one.num_rows,
    )
