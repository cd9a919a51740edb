"""The change of shares from one run to another, split into parts due to the sentences and to the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.shares.counts import pool, share_of_cell
from holisticbias_eval.statistics.alignment import align_rows
from holisticbias_eval.statistics.cells import Compared, Crossing, cross
from holisticbias_eval.statistics.clusters import Moved, estimate, moved_by_axis
from holisticbias_eval.statistics.groups_of_rows import count_different

CROSSED = ("axis", "template", "template_id", "paraphrase_of", "descriptor_id", "noun_id")

COMPARED = (*CROSSED, "sentence_id", "text", "perplexity", "nll")
"""The columns that the comparison of two runs uses."""


@dataclass(frozen=True, slots=True)
class _Count:
    """Pairs that differ and pairs that were tested."""

    significant: int = 0
    pairs: int = 0

    @property
    def share(self) -> float | None:
        return self.significant / self.pairs if self.pairs else None


Step = dict[str | None, _Count]


def share_changes(
    measure: str, first: pa.Table, second: pa.Table, value: Compared = "perplexity"
) -> tuple[Figure, ...]:
    """The change of every axis's share, and of the share over all axes (without keys).

    The figures are ``first``, ``second``, and the parts of the change, one step
    after another: sentences of the first run only are removed (``gone``), changed
    sentences are replaced (``changed``), the scores of common sentences become
    those of the second run (``change``, the model's part, with its interval and
    p-value), and sentences of the second run only are added (``added``). A value
    is null if a share that it needs has no pair.

    Raises ``SelectionError`` if the runs have no sentence in common.
    """
    aligned = align_rows(first, second)
    scored = dict.fromkeys(("perplexity", value))
    first, second = (_only(table, (*CROSSED, *scored)) for table in (first, second))
    one, other = _taken(first, aligned.first), _taken(second, aligned.second)
    same = pa.array(aligned.same)
    common = (one, other) if aligned.same.all() else (one.filter(same), other.filter(same))
    # a table with all rows of the one beside it has its counts too
    outer = [_count(table, value) for table in (first, second)]
    inner = [_count(table, value) for table in common]
    kept = [_either(table, [(whole, a), (shared, b)], value) for table, whole, a, shared, b in
            zip((one, other), (first, second), outer, common, inner, strict=True)]  # fmt: skip
    steps = [outer[0], kept[0], *inner, kept[1], outer[1]]
    moved = moved_by_axis(*_crossings(*common, value))
    axes = dict.fromkeys([*steps[0], *steps[-1]])
    return tuple(f for axis in axes for f in _figures(measure, axis, steps, moved.get(axis)))


def _only(table: pa.Table, names: Iterable[str]) -> pa.Table:
    return table.select([name for name in names if name in table.column_names])


def _taken(table: pa.Table, rows: Ints) -> pa.Table:
    """These rows of a table; the table itself if they are all of its rows in order."""
    whole = len(rows) == table.num_rows and (rows == np.arange(len(rows))).all()
    return table if whole else table.take(pa.array(rows))


def _either(table: pa.Table, counted: Iterable[tuple[pa.Table, Step]], value: Compared) -> Step:
    """The counts of a table with as many rows as this one, or else of this one."""
    known = (step for other, step in counted if other.num_rows == table.num_rows)
    return next(known, None) or _count(table, value)


def _crossings(first: pa.Table, second: pa.Table, value: Compared) -> tuple[Crossing, Crossing]:
    """Cross both tables with the same stances: an older run may not say which templates are paraphrases."""
    known = first if "paraphrase_of" in first.column_names else second
    names = [name for name in CROSSED if name in known.column_names]
    scored = list(dict.fromkeys(("perplexity", value)))

    def crossed(table: pa.Table) -> Crossing:
        columns = [*known.select(names).columns, *table.select(scored).columns]
        return cross(pa.table(columns, names=[*names, *scored]), value)

    return crossed(first), crossed(second)


def _count(scores: pa.Table, value: Compared) -> Step:
    """Count the pairs of each axis, and under ``None`` those of all."""
    crossing = cross(scores, value)
    with ThreadPoolExecutor() as workers:
        counts = workers.map(lambda cell: count_different(cell.values), crossing.cells)
        cells = list(map(share_of_cell, crossing.cells, counts))
    axes: tuple[str | None, ...] = (*crossing.axes, None)
    pooled = {axis: pool(cells, axis, None) for axis in axes}
    return {axis: _Count(found.significant, found.pairs) for axis, found in pooled.items()}


def _figures(measure: str, axis: str | None, steps: list[Step], moved: Moved | None) -> Iterator[Figure]:
    first, kept, common_first, common_second, kept_second, second = (step.get(axis, _Count()) for step in steps)
    estimated = None if moved is None else estimate(moved)
    keys = {} if axis is None else {"axis": axis}
    for name, count in (("first", first), ("second", second)):
        yield Figure(measure=measure, name=name, keys=keys, value=count.share, unit="share", n=count.pairs, of="share")
    changed = _sum(_less(common_first, kept), _less(kept_second, common_second))
    for name, value, n in (
        ("gone", _less(kept, first), first.pairs),
        ("changed", changed, kept.pairs),
        ("added", _less(second, kept_second), second.pairs),
    ):
        yield Figure(measure=measure, name=name, keys=keys, value=value, unit="share difference", n=n, of="share")
    yield Figure(
        measure=measure,
        name="change",
        keys=keys,
        value=_less(common_second, common_first),
        unit="share difference",
        interval=estimated.interval if estimated else None,
        p_value=estimated.p_value if estimated else None,
        n=common_second.pairs,
        of="share",
    )


def _less(later: _Count, earlier: _Count) -> float | None:
    return None if later.share is None or earlier.share is None else later.share - earlier.share


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
