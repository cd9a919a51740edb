"""The change of shares from one run to another, split into parts due to the sentences and to the model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Ints, map_in_threads
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.identity import SENTENCES, align
from holisticbias_eval.measures.measure import baseline_of
from holisticbias_eval.statistics.cells import Compared, Crossing, cross
from holisticbias_eval.statistics.clusters import Moved, estimate, moved_by_axis, moved_cells
from holisticbias_eval.statistics.pairs import count_different

CROSSED = ("axis", "template", "template_id", "paraphrase_of", "descriptor_id", "noun_id")

COMPARED = (*CROSSED, "descriptor_gender", "sentence_id", "text", "perplexity", "nll")
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
    """The change of every axis's share, and of the share over all axes but that of made-up words (without keys).

    The figures are ``first``, ``second``, and the parts of the change, one step
    after another: sentences of the first run only are removed (``gone``), changed
    sentences are replaced (``changed``), the scores of common sentences become
    those of the second run (``change``, the model's part, with its interval and
    p-value), and sentences of the second run only are added (``added``). A value
    is null if a share that it needs has no pair.

    Raises ``SelectionError`` if the runs have no sentence in common.
    """
    aligned = align(first, second, SENTENCES)
    names = (*CROSSED, *dict.fromkeys(("perplexity", value)))
    wholes = _only(first, names), _only(second, names)
    one, other = sides = [
        _side(whole, shared, aligned.same) for whole, shared in zip(wholes, aligned.rows(*wholes), strict=True)
    ]
    # an older run may not say which templates are paraphrases
    arranged = one.common if "paraphrase_of" in first.column_names else other.common
    crossing = cross(arranged, value)
    crossings = [crossing if s.common is arranged else crossing.with_scores(s.common, value) for s in sides]
    cells = moved_cells(*crossings)
    counts = [cell.first for cell in cells], [cell.second for cell in cells]
    inner = [_add_up(crossing, own) if _alike(s.common, arranged) else _count(s.common, value)
             for s, own in zip(sides, counts, strict=True)]  # fmt: skip
    steps = [*reversed(_outwards(one, inner[0], value)), *_outwards(other, inner[1], value)]
    moved = moved_by_axis(crossing, cells, baseline_of(crossing.axes))
    axes = dict.fromkeys([*steps[0], *steps[-1]])
    return tuple(f for axis in axes for f in _figures(measure, axis, steps, moved.get(axis)))


@dataclass(frozen=True, slots=True)
class _Side:
    """The table of one run, its sentences that the other run has too, and those of them that are the same."""

    whole: pa.Table
    shared: pa.Table
    common: pa.Table


def _side(whole: pa.Table, shared: pa.Table, same: Bools) -> _Side:
    return _Side(whole, shared, shared if same.all() else shared.filter(pa.array(same)))


def _only(table: pa.Table, names: Iterable[str]) -> pa.Table:
    return table.select([name for name in names if name in table.column_names])


def _alike(table: pa.Table, other: pa.Table) -> bool:
    """Whether the rows of both tables are of the same axes, templates, descriptors and nouns."""
    return all(table[name].equals(other[name]) for name in ("axis", "template", "descriptor_id", "noun_id"))


def _outwards(side: _Side, common: Step, value: Compared) -> tuple[Step, Step, Step]:
    """The counts of the common, the shared and all sentences; a table that is the one within has its counts."""
    shared = common if side.shared is side.common else _count(side.shared, value)
    return common, shared, shared if side.whole is side.shared else _count(side.whole, value)


def _count(scores: pa.Table, value: Compared) -> Step:
    crossing = cross(scores, value)
    return _add_up(crossing, map_in_threads(lambda cell: count_different(cell.values), crossing.cells))


def _add_up(crossing: Crossing, counts: Iterable[Ints]) -> Step:
    """The counts of each axis from those of its cells, and under ``None`` those of all but the baseline."""
    found = {axis: np.zeros(2, np.int64) for axis in (*crossing.axes, None)}
    baseline = baseline_of(crossing.axes)
    for cell, own in zip(crossing.cells, counts, strict=True):
        for axis in (cell.axis,) if cell.axis == baseline else (cell.axis, None):
            found[axis] += own
    return {axis: _Count(*total.tolist()) for axis, total in found.items()}


def _figures(measure: str, axis: str | None, steps: list[Step], moved: Moved | None) -> Iterator[Figure]:
    first, kept, common_first, common_second, kept_second, second = (step.get(axis, _Count()) for step in steps)
    estimated = None if moved is None else estimate(moved)
    keys = {} if axis is None else {"axis": axis}
    for name, count in (("first", first), ("second", second)):
        yield make_figure(measure, name, keys, count.share, "share", count.pairs, of="share")
    changed = _sum(_less(common_first, kept), _less(kept_second, common_second))
    for name, value, n in (
        ("gone", _less(kept, first), first.pairs),
        ("changed", changed, kept.pairs),
        ("added", _less(second, kept_second), second.pairs),
    ):
        yield make_figure(measure, name, keys, value, "share difference", n, of="share")
    yield make_figure(
        measure, "change", keys, _less(common_second, common_first), "share difference", common_second.pairs,
        interval=estimated.interval if estimated else None, p_value=estimated.p_value if estimated else None,
        of="share",
    )  # fmt: skip


def _less(later: _Count, earlier: _Count) -> float | None:
    return None if later.share is None or earlier.share is None else later.share - earlier.share


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other
