"""Trust figures of a share measure: effects, other tests and explanations, robustness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from holisticbias_eval.arrays import Floats, Ints, map_in_threads
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.measure import NONCE, MeasureSettings
from holisticbias_eval.measures.shares.figures import (
    AxisRank,
    Confounds,
    Corrected,
    Effects,
    Paired,
    RankFlip,
    Robustness,
    ShareTrust,
    Trust,
    choose_wordings,
    worded_shares,
)
from holisticbias_eval.measures.shares.pairs import UNKNOWN, PairFigures, compare_pairs
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.intervals import expansion, middle_of, range_of
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import (
    counts_of,
    detectable_rank_biserial,
    groups_of_rows,
    median_of,
    rank_biserial,
    ratios,
    share_of,
    share_of_counts,
    smallest_significant_rank_biserial,
)
from holisticbias_eval.statistics.resampling import (
    noun_draws,
    significant_when_permuted,
    significant_when_weighted,
    significant_without_each_noun,
)
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm


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


def rank_axes(
    drawn: Mapping[str, Floats], worded: Mapping[str, Floats | None]
) -> tuple[tuple[AxisRank, ...], tuple[RankFlip, ...]]:
    """Rank the axes by their shares, the largest first, and count how often neighbours swap ranks.

    ``drawn`` has the shares of each axis over the bootstrap draws, their mean the
    share observed, and ``worded`` those over choices of wordings; shape
    ``[draws]`` and ``[choices]``. An axis whose share is undefined in some draw
    has no rank.
    """
    # shares that differ by rounding only are tied
    known = {a: np.round(shares, 12) for a, shares in drawn.items() if not np.isnan(shares).any()}
    observed = {a: round(float(shares.mean()), 9) for a, shares in known.items()}
    order = sorted(known, key=lambda a: -observed[a])
    ranks = tuple(_rank(axis, known, observed) for axis in order)
    flips = tuple(
        RankFlip(
            first=one,
            second=other,
            probability=float((known[other] > known[one]).mean()),
            probability_by_wording=_flipped(worded[one], worded[other]),
        )
        for one, other in pairwise(order)
    )
    return ranks, flips


def _rank(axis: str, known: Mapping[str, Floats], observed: Mapping[str, float]) -> AxisRank:
    places = np.sum([shares > known[axis] for shares in known.values()], axis=0) + 1.0
    low, high = np.quantile(places, [0.025, 0.975])
    return AxisRank(
        axis=axis,
        rank=1 + sum(share > observed[axis] for share in observed.values()),
        low=int(low),
        high=int(np.ceil(high)),
    )


def _flipped(one: Floats | None, other: Floats | None) -> float | None:
    return None if one is None or other is None else float((other > one).mean())


@dataclass(frozen=True, slots=True)
class _Axis:
    """An axis's cells, and its share under draws and under wordings."""

    cells: Sequence[MeasuredCell]
    drawn: Floats
    worded: Floats | None


def measure_trust(
    crossing: Crossing, tests: Sequence[PairwiseTests], settings: MeasureSettings
) -> tuple[Trust, tuple[PairFigures, ...]]:
    """The trust figures of every share, and the figures of the pairs of every cell.

    ``tests`` are the tests of the cells. Everything is computed from the scores;
    nothing is scored again. Raises ``SelectionError`` if a noun occurs twice with
    one descriptor.
    """
    if crossing.repeated:
        raise SelectionError(crossing.repeated)
    seeds = np.random.SeedSequence(settings.seed).spawn(len(crossing.cells) + 1)
    rng = np.random.default_rng(seeds[0])
    nouns = noun_draws(len(crossing.nouns), settings.draws, rng)
    stances = noun_draws(len(crossing.stances), settings.draws, rng)
    places = {s: i for i, s in enumerate(crossing.stances)}

    def measure(cell: Cell, own: PairwiseTests, seed: np.random.SeedSequence) -> MeasuredCell:
        return measure_cell(cell, own, places[cell.stance], nouns, settings, seed)

    measured = list(map_in_threads(measure, crossing.cells, tests, seeds[1:]))
    axes = _by_axis(crossing, measured, stances, choose_wordings(crossing, rng))
    return _summarise(crossing, measured, axes, settings), tuple(m.pairs for m in measured)


def _by_axis(
    crossing: Crossing, tested: Sequence[MeasuredCell], stances: Ints, chosen: Mapping[str, Ints]
) -> dict[str, _Axis]:
    axes = {}
    for axis in crossing.axes:
        cells = [t for t in tested if t.cell.axis == axis]
        worded = worded_shares({t.cell.template: t.counts for t in cells}, chosen)
        axes[axis] = _Axis(cells, drawn_shares(cells, stances), worded)
    return axes


def _summarise(
    crossing: Crossing, tested: Sequence[MeasuredCell], axes: Mapping[str, _Axis], settings: MeasureSettings
) -> Trust:
    ranks, flips = rank_axes({a: x.drawn for a, x in axes.items()}, {a: x.worded for a, x in axes.items()})
    nonce = axes[NONCE].drawn if NONCE in axes else None
    return Trust(
        settings=settings,
        nats_per="sentence" if all("nll" in t.cell.scores.columns for t in tested) else "token",
        by_axis=tuple(
            _trust(x.cells, x.drawn, axis=a, nonce=nonce if a != NONCE else None, robustness=_robustness(x))
            for a, x in axes.items()
        ),
        by_template=tuple(
            _trust(cells, drawn_shares(cells, None), template=name)
            for name in crossing.templates
            for cells in [[t for t in tested if t.cell.template == name]]
        ),
        by_axis_and_template=tuple(
            _trust([t], drawn_shares([t], None), axis=t.cell.axis, template=t.cell.template) for t in tested
        ),
        axis_ranks=ranks,
        rank_flips=flips,
    )


def _trust(
    cells: Sequence[MeasuredCell],
    drawn: Floats,
    axis: str | None = None,
    template: str | None = None,
    nonce: Floats | None = None,
    robustness: Robustness | None = None,
) -> ShareTrust:
    p = np.concatenate([c.tests.stacked for c in cells])
    permuted = ratios(sum(c.permuted for c in cells))
    return ShareTrust(
        axis=axis,
        template=template,
        share=share_of(p),
        interval=middle_of(np.clip(drawn, 0, 1)),
        floor=float(permuted.mean()) if not np.isnan(permuted).any() else None,
        floor_interval=middle_of(permuted),
        corrected=Corrected(holm=share_of(holm(p)), benjamini_hochberg=share_of(benjamini_hochberg(p))),
        effects=_effects(cells),
        paired=_paired(cells),
        confounds=_confounds(cells, drawn, nonce),
        robustness=robustness,
    )


def _effects(cells: Sequence[MeasuredCell]) -> Effects:
    n1, n2 = (np.concatenate([c.pairs.sizes[getattr(c.tests, side)] for c in cells]) for side in ("first", "second"))
    tested = ~np.isnan(np.concatenate([c.tests.stacked for c in cells]))
    sizes = [int(np.median(n[tested])) for n in (n1, n2)] if tested.any() else None
    u = np.concatenate([c.tests.u for c in cells])
    return Effects(
        rank_biserial=median_of(np.abs(rank_biserial(u, n1, n2))),
        nats=median_of(np.abs(np.concatenate([c.pairs.nats for c in cells]))),
        large=_share(cells, "large"),
        smallest_significant=smallest_significant_rank_biserial(*sizes) if sizes else None,
        detectable=median_of(detectable_rank_biserial(n1, n2)),
        detectable_nats=median_of(np.concatenate([c.pairs.detectable_nats for c in cells])),
    )


def _share(cells: Sequence[MeasuredCell], name: str) -> float | None:
    """The share of pairs that differ, by counts of this name."""
    return share_of_counts(sum(getattr(c.pairs, name) for c in cells))


def _paired(cells: Sequence[MeasuredCell]) -> Paired:
    differs = np.concatenate([c.pairs.wilcoxon for c in cells])
    return Paired(
        wilcoxon=share_of_counts(np.array([(differs == 1).sum(), (differs != UNKNOWN).sum()])),
        sign_flip=_share(cells, "sign_flip"),
        large=_share(cells, "paired_large"),
    )


def _confounds(cells: Sequence[MeasuredCell], drawn: Floats, nonce: Floats | None) -> Confounds:
    observed, control = share_of_counts(sum(c.counts for c in cells)), _observed(nonce)
    return Confounds(
        equal_token_pairs=sum(int(c.pairs.equal_tokens[1]) for c in cells),
        equal_tokens=_share(cells, "equal_tokens"),
        without_token_count=_share(cells, "without_tokens"),
        without_phrase=_share(cells, "without_phrase"),
        minus_nonce=None if observed is None or control is None else observed - control,
        minus_nonce_interval=None if nonce is None else middle_of(drawn - nonce),
    )


def _observed(values: Floats | None) -> float | None:
    """The observed share; the draws were moved to have it as their mean."""
    if values is None or np.isnan(values).all():
        return None
    return float(np.nanmean(values))


def _robustness(axis: _Axis) -> Robustness:
    counts = np.array([c.counts for c in axis.cells])
    return Robustness(
        leave_one_noun_out=range_of(ratios(sum(c.left_out for c in axis.cells))),
        leave_one_template_out=range_of(ratios((counts.sum(axis=0) - counts).T)),
        wordings=None if axis.worded is None else middle_of(axis.worded),
    )
