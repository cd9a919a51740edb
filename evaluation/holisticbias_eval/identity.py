"""Pair the rows of two tables of answers, and count what they share."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Part

What = Literal["sentences", "prompts", "pairs", "lines", "candidates", "results", "intersections", "answers"]
"""What two runs share."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The columns by which rows of two tables are paired.

    Items have equal values in the ``key`` columns. An item is unchanged if the columns ``same`` are equal too and the
    numbers ``known`` are known in both tables. ``item`` names it in the error that nothing is shared; with
    ``unchanged`` tables without an unchanged item share nothing. Rows without a value in the column ``needs`` are not
    counted as items.
    """

    what: What
    item: str
    key: tuple[str, ...]
    same: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    unchanged: bool = False
    needs: str | None = None


SENTENCES = Identity("sentences", "sentence", ("sentence_id",), ("text",), ("perplexity",), unchanged=True)
GROUPED = Identity("sentences", "sentence", ("dimension", "group", "sentence"), (), ("perplexity",))
PAIRS = Identity(
    "pairs", "pair of sentences", ("pair_id",), ("sentence", "other_sentence"), unchanged=True, needs="other_sentence"
)
LINES = Identity("lines", "line", ("line_id",))
CANDIDATES = Identity("candidates", "candidate", ("candidate_id",))
RESULTS = Identity("results", "result", ("result_id",))
INTERSECTIONS = Identity("intersections", "intersection", ("intersection_id",))
PROMPTS = Identity("prompts", "prompt", ("response_id",), ("prompt", "persona"))
RESPONSES = Identity("prompts", "response", ("response_id",))
_KINDS = (PAIRS, LINES, CANDIDATES, RESULTS, INTERSECTIONS, PROMPTS, RESPONSES, GROUPED, SENTENCES)
"""Of these the first whose columns both tables have says what they share; without one see ``_of_others``."""


@dataclass(frozen=True, slots=True)
class Shared:
    """The rows of the items that are in both tables: ``[items]`` each, in the order of the first table.

    Rows are ``None`` if they are all rows of the table in order. ``same`` says which items are unchanged; ``gone``
    counts the items of the first table only, ``added`` those of the second.
    """

    first: Ints | None
    second: Ints | None
    same: Bools
    gone: int
    added: int

    def rows(self, first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
        """The shared rows of both tables."""
        return _take(first, self.first), _take(second, self.second)


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


def align(first: pa.Table, second: pa.Table, identity: Identity) -> Shared:
    """Pair the rows of two runs; see ``match_rows``. Raises ``SelectionError`` if the runs share nothing."""
    shared = match_rows(first, second, identity)
    if not (shared.same.any() if identity.unchanged else len(shared.same)):
        raise SelectionError(f"the two runs have no {identity.item} in common: there is nothing to compare")
    return shared


def match_rows(first: pa.Table, second: pa.Table, identity: Identity) -> Shared:
    """Pair the rows of two tables; of several rows with one key the first of the second table counts."""
    keys = _comparable(*(_joined(table, identity.key) for table in (first, second)))
    rows = _same_rows(*keys)
    size = first.num_rows if rows[0] is None else len(rows[0])
    same = np.ones(size, bool)
    columns = [*identity.same, *identity.known]
    one, other = (_take(t.select(columns), own) for t, own in zip((first, second), rows, strict=True))
    for name in identity.same:
        equal = pc.equal(*_comparable(one[name], other[name]))
        same &= pc.fill_null(equal, False).to_numpy()
    for name in identity.known:
        same &= ~np.isnan(_numbers(one[name])) & ~np.isnan(_numbers(other[name]))
    added = 0 if rows[1] is None else pc.sum(pc.invert(pc.is_in(keys[1], keys[0]))).as_py()
    return Shared(*rows, same, first.num_rows - size, added)


def count_shared(first: pa.Table, second: pa.Table) -> SharedSentences:
    """Count the sentences that two runs share, and by how much their likelihoods differ; or whatever else they share.

    Raises ``SelectionError`` if they have nothing in common.
    """
    both = {*first.column_names} & {*second.column_names}
    known = (kind for kind in _KINDS if {*kind.key, *kind.same, *kind.known} <= both)
    identity = next(known, None) or _of_others(first, both)
    if identity.needs:
        first, second = (table.filter(table[identity.needs].is_valid()) for table in (first, second))
    shared = align(first, second, identity)
    common = int(shared.same.sum())
    return SharedSentences(
        what=identity.what,
        common=common,
        changed=len(shared.same) - common,
        gone=shared.gone,
        added=shared.added,
        nats=_difference(first, second, shared) if identity.known else None,
    )


def _of_others(table: pa.Table, names: Collection[str]) -> Identity:
    """Pair the answers of another task by the columns ``..._id`` that both tables have, or else by all their texts."""
    texts = [field.name for field in table.schema if field.name in names and _is_text(field.type)]
    ids = [name for name in texts if name.endswith("_id")]
    if not texts:
        raise SelectionError("the two runs have no column of texts in common: their answers cannot be paired")
    return Identity("answers", "answer", tuple(ids or texts))


def _is_text(kind: pa.DataType) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _difference(first: pa.Table, second: pa.Table, shared: Shared) -> float | None:
    """The mean difference of ``nll`` over unchanged items; None without any."""
    one, other = (
        _in_one_piece(table["nll"], rows, shared.same)
        for table, rows in ((first, shared.first), (second, shared.second))
    )
    return pc.mean(pc.subtract(other, one)).as_py()


def _in_one_piece(column: pa.ChunkedArray, rows: Ints | None, same: Bools) -> pa.Array | pa.ChunkedArray:
    """The values of the items that are the same; in one piece, because the rounding of a sum depends on pieces."""
    if rows is None and same.all():
        return column.combine_chunks()
    return column.take(pa.array(np.flatnonzero(same) if rows is None else rows[same]))


def _joined(table: pa.Table, key: tuple[str, ...]) -> pa.ChunkedArray:
    """The key of each row as one column."""
    if len(key) == 1:
        return table[key[0]]
    parts = (table[name].cast(pa.large_string()) for name in key)
    return pc.binary_join_element_wise(
        *parts, pa.scalar("\0", pa.large_string()), null_handling="replace", null_replacement="\1"
    )


def _comparable(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
    """Both columns as they are if they have one type without a dictionary; else as text."""
    if first.type == second.type and not pa.types.is_dictionary(first.type):
        return first, second
    return first.cast(pa.large_string()), second.cast(pa.large_string())


def _same_rows(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[Ints | None, Ints | None]:
    """The rows with equal keys, in the order of the first column."""
    if first.equals(second):  # runs of one release
        return None, None
    place = pc.index_in(first, second.combine_chunks())
    rows = np.flatnonzero(place.is_valid().to_numpy())
    return _or_all(rows, len(first)), _or_all(place.drop_null().to_numpy().astype(np.int64), len(second))


def _or_all(rows: Ints, size: int) -> Ints | None:
    """The rows, or ``None`` if they are all of so many rows in order."""
    return None if len(rows) == size and (np.diff(rows) > 0).all() else rows


def _take(table: pa.Table, rows: Ints | None) -> pa.Table:
    return table if rows is None else table.take(pa.array(rows))


def _numbers(column: pa.ChunkedArray) -> Floats:
    return column.to_numpy().astype(np.float64)
