"""A cell of a share measure under draws of nouns, permutations of labels and choices of wordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.shares.pairs import PairFigures, compare_pairs
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.intervals import expansion
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import (
    counts_of,
    groups_of_rows,
    ratios,
    share_of_counts,
)
from holisticbias_eval.statistics.resampling import (
    significant_when_permuted,
    significant_when_weighted,
    significant_without_each_noun,
)

CHOICES = 1000


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """A cell's compared pairs, and how many differ and were tested in resamples.

    ``drawn`` has shape ``[2, draws]``, ``left_out`` ``[2, nouns]`` and
    ``permuted`` ``[2, permutations]``; ``stance`` is the number of its stance.
    """

    cell: Cell
    stance: int
    tests: PairwiseTests
    pairs: PairFigures
    drawn: Ints
    left_out: Ints
    permuted: Ints

    @property
    def counts(self) -> Ints:
        """The numbers of pairs that differ and that were tested: shape ``[2]``."""
        return counts_of(self.tests.stacked)


def measure_cell(
    cell: Cell, tests: PairwiseTests, stance: int, nouns: Ints, settings: MeasureSettings, seed: np.random.SeedSequence
) -> MeasuredCell:
    """The figures of a cell with its tests; ``nouns`` are the draws, shape ``[draws, nouns]``."""
    rng = np.random.default_rng(seed)
    pairs = compare_pairs(cell, tests, settings.flips, rng)
    every = cell.values
    found = [
        (
            np.stack(significant_when_weighted(values, nouns)),
            np.stack(significant_without_each_noun(values)),
            np.stack(significant_when_permuted(values, settings.permutations, rng)),
        )
        for values in (every[rows] for rows in groups_of_rows(len(every)))
    ]
    return MeasuredCell(cell, stance, tests, pairs, *(sum(counts) for counts in zip(*found, strict=True)))


def drawn_shares(cells: Sequence[MeasuredCell], stances: Ints | None) -> Floats:
    """The share under each draw, moved so that their mean is the share observed: shape ``[draws]``.

    ``stances`` counts how often each is drawn, shape ``[draws, stances]``; without
    it stances are fixed. Drawing nouns with replacement repeats values, so that
    more pairs differ than with as many new nouns: the draws show how much a share
    varies, not its level. They are spread by ``expansion``.
    """
    weights = 1 if stances is None else stances[:, [c.stance for c in cells]].T
    shares = ratios(np.array([(np.stack([c.drawn[i] for c in cells]) * weights).sum(axis=0) for i in (0, 1)]))
    observed = share_of_counts(sum(c.counts for c in cells))
    known = shares[~np.isnan(shares)]
    if observed is None or not len(known):
        return np.full(len(shares), np.nan)
    clusters = cells[0].left_out.shape[1] if stances is None else stances.shape[1]
    moved: Floats = expansion(clusters) * (shares - known.mean()) + observed
    return moved


def choose_wordings(crossing: Crossing, rng: np.random.Generator) -> dict[str, Ints]:
    """Whether each template is the wording chosen for its stance, over many choices: shape ``[choices]`` each.

    Empty if no stance has two wordings.
    """
    stance_of = {cell.template: cell.stance for cell in crossing.cells}
    wordings = {s: [t for t in crossing.templates if stance_of[t] == s] for s in crossing.stances}
    if all(len(templates) == 1 for templates in wordings.values()):
        return {}
    chosen: dict[str, Ints] = {}
    for templates in wordings.values():
        choice = rng.integers(len(templates), size=CHOICES)
        chosen |= {t: (choice == i).astype(np.int64) for i, t in enumerate(templates)}
    return chosen


def worded_shares(counts: Mapping[str, Ints], chosen: Mapping[str, Ints]) -> Floats | None:
    """The share under each choice: shape ``[choices]``; ``None`` without choices.

    ``counts`` has, for each template, how many pairs differ and how many were tested.
    """
    if not chosen:
        return None
    return ratios(np.stack([counts[t] for t in counts], axis=1) @ np.stack([chosen[t] for t in counts]))
