"""Intervals and tests of shares whose rows belong together: by stance and noun, or by prompt."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from holisticbias_eval.arrays import Floats, Ints, map_in_threads
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.intervals import CRITICAL_Z, score_interval, t_margin
from holisticbias_eval.statistics.pairs import count_different, groups_of_rows
from holisticbias_eval.statistics.resampling import function_without_each_column
from holisticbias_eval.statistics.tests import design_effects, student_p

_SMOOTHING = 0.5


@dataclass(frozen=True, slots=True)
class Moved:
    """The change of counts between two runs over the same sentences.

    ``significant`` is the change of the number of pairs with p < 0.05 and
    ``tested`` the number of pairs tested in both, shape ``[stances]`` each.
    ``without`` is the change of the smoothed number of significant pairs when
    one noun is left out, minus its mean over nouns: shape ``[stances, nouns]``.
    """

    significant: Floats
    tested: Floats
    without: Floats


MovedCell = tuple[Ints, Ints, Floats]
"""The numbers of a cell's pairs with p < 0.05 and of its tested pairs in both runs, and its part of ``without``."""


def moved_cells(first: Crossing, second: Crossing) -> list[MovedCell]:
    """Compare the cells of two crossings of the same sentences.

    Raises ``SelectionError`` if a noun occurs twice with one descriptor.
    """
    repeated = first.repeated or second.repeated
    if repeated:
        raise SelectionError(repeated)
    return list(map_in_threads(_moved_cell, first.cells, second.cells))


def _moved_cell(first: Cell, second: Cell) -> MovedCell:
    before, after = first.values, second.values
    without = _without_each_noun(after) - _without_each_noun(before)
    return count_different(before), count_different(after), without


def moved_by_axis(
    crossing: Crossing, cells: Iterable[MovedCell], baseline: str | None = None
) -> dict[str | None, Moved]:
    """The changes of each axis, and of all but the ``baseline`` under ``None``, from those of the cells."""
    places = {s: i for i, s in enumerate(crossing.stances)}
    stances, nouns = len(crossing.stances), len(crossing.nouns)
    moved = {
        axis: Moved(np.zeros(stances), np.zeros(stances), np.zeros((stances, nouns))) for axis in (None, *crossing.axes)
    }
    for cell, (first, second, without) in zip(crossing.cells, cells, strict=True):
        place = places[cell.stance]
        for axis in (cell.axis,) if cell.axis == baseline else (None, cell.axis):
            moved[axis].significant[place] += second[0] - first[0]
            moved[axis].tested[place] += first[1]
            moved[axis].without[place] += without
    return moved


def estimate(moved: Moved) -> tuple[Interval, float] | None:
    """Student's t interval and p-value of the change of share; ``None`` with fewer than two stances or nouns.

    The variance has two parts. ``between`` is that of the stances' changes
    around the whole change. All stances have the same nouns, so a noun
    may have the same effect in all of them: ``shared`` is that covariance, by the
    jackknife over nouns, from products of different stances only. The sum is
    the variance clustered both ways (Cameron, Gelbach and Miller 2011), its
    degrees of freedom those of Satterthwaite (1946).

    If the runs differ at all, the standard error is at least one test. The interval excludes 0 exactly if p < 0.05.
    """
    stances, nouns = int((moved.tested > 0).sum()), moved.without.shape[1]
    if stances < 2 or nouns < 2:
        return None
    tests = moved.tested.sum()
    change = moved.significant.sum() / tests
    between = stances / (stances - 1) * ((moved.significant - change * moved.tested) ** 2).sum()
    if not between and not moved.significant.any() and not moved.without.any():
        return Interval(low=0, high=0), 1.0
    between = max(between, 1.0)
    products = (moved.without.sum(axis=0) ** 2).sum() - (moved.without**2).sum()
    shared = max(stances / (stances - 1) * (nouns - 1) / nouns * products, 0.0)
    freedom, margin = t_margin(np.array(between), np.array(stances - 1), np.array(shared), np.array(nouns - 1))
    low, high = change - margin / tests, change + margin / tests
    interval = Interval(low=float(max(low, -1)), high=float(min(high, 1)))
    return interval, float(student_p(change * tests / np.sqrt(between + shared), freedom))


def _without_each_noun(values: Floats) -> Floats:
    """The smoothed number of significant pairs without one noun, minus its mean over the cell's nouns: ``[nouns]``."""
    present = np.flatnonzero(~np.isnan(values).all(axis=0))
    found = np.zeros(values.shape[1])
    for rows in groups_of_rows(len(values)):
        for noun, smoothed in enumerate(function_without_each_column(values[rows], _smoothed)):
            found[noun] += float(smoothed[~np.isnan(smoothed)].sum())
    found[np.isnan(values).all(axis=0)] = 0
    found[present] -= found[present].mean() if len(present) else 0
    return found


def _smoothed(p: Floats) -> Floats:
    """Each p-value as 1 if it is below 0.05 and 0 if not, smoothed by the distance of its z from the limit.

    Leaving out one noun moves a z a little and rarely across the limit: counting
    the crossings would make the jackknife's variance several times too large.
    """
    return ndtr((-ndtri(p / 2) - CRITICAL_Z) / _SMOOTHING)


def flip_p_value(differences: Ints) -> float | None:
    """The two-sided p-value of a sum of whole numbers if the sign of each is as likely + as -; null without numbers.

    ``differences`` are wins minus losses of each prompt, shape ``[prompts]``. The distribution is exact: that of all
    signs, by convolution. With differences of 1 and -1 it is the binomial test.
    """
    if not len(differences):
        return None
    sizes = np.abs(differences)
    chances = np.ones(1)
    for size in sizes.tolist():
        wider = np.zeros(len(chances) + 2 * size)
        wider[: len(chances)] += chances / 2
        wider[2 * size :] += chances / 2
        chances = wider
    sums = np.arange(len(chances)) - int(sizes.sum())
    return float(min(chances[np.abs(sums) >= abs(int(differences.sum()))].sum(), 1.0))


def clustered_interval(wins: Ints, counts: Ints) -> Interval | None:
    """The 95% interval of the share of wins over prompts: wins and judgements per prompt, ``[prompts]`` each.

    That of Wilson (1927) at the effective number of judgements. Its design effect is from the variance of a ratio
    over prompts, linearised; see ``design_effects`` and ``score_interval``. Null with fewer than two prompts.
    """
    wins, counts = wins[counts > 0], counts[counts > 0]
    prompts, n = np.array([len(counts)]), np.array([counts.sum()], float)
    if prompts[0] < 2:
        return None
    share = wins.sum() / n
    squares = wins @ wins - 2 * share * (wins @ counts) + share**2 * (counts @ counts)  # of wins - share * counts
    variance = prompts / (prompts - 1) * squares / n**2
    low, high = score_interval(share, n, prompts, design_effects(share, n, prompts, variance))
    return Interval(low=float(low[0]), high=float(high[0]))
