"""How far Likelihood Bias can be trusted: intervals, floors, corrections, effect sizes, confounds and robustness."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holisticbias_eval.measures.cells import Cell, Crossing, cross
from holisticbias_eval.measures.corrections import benjamini_hochberg, holm
from holisticbias_eval.measures.effects import (
    LARGE,
    detectable_rank_biserial,
    smallest_significant_rank_biserial,
)
from holisticbias_eval.measures.pairs import PairFigures, by_pair, compare_pairs, join
from holisticbias_eval.measures.records import (
    AxisRank,
    Confounds,
    Corrected,
    Effects,
    Interval,
    Paired,
    RankFlip,
    Robustness,
    ShareTrust,
    Trust,
    TrustSettings,
)
from holisticbias_eval.measures.resampling import (
    SIGNIFICANCE,
    each_left_out,
    noun_draws,
    significant_when_permuted,
    significant_when_weighted,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NONCE = "nonce"
_CHOICES = 1000


@dataclass(frozen=True, slots=True)
class _Resampled:
    """How many pairs of a cell differ, and were tested: ``[2, draws]``, ``[2, nouns]``, ``[2, permutations]``."""

    drawn: Ints
    left_out: Ints
    permuted: Ints


@dataclass(frozen=True, slots=True)
class _Tested:
    cell: Cell
    stance: int
    pairs: PairFigures
    resampled: _Resampled


def measure_trust(scores: pa.Table, settings: TrustSettings | None = None) -> tuple[Trust, pa.Table]:
    """What stands beside each figure of Likelihood Bias, see ``Trust``; and the figures of every pair of descriptors.

    The pairs' table is that of ``measures.pairs.by_pair``.

    ``scores`` are those that ``measures.cells.cross`` takes. All of it is
    computed from them: nothing is scored again.
    """
    settings = settings or TrustSettings()
    crossing = cross(scores)
    seeds = np.random.SeedSequence(settings.seed).spawn(len(crossing.cells) + 1)
    rng = np.random.default_rng(seeds[0])
    nouns = noun_draws(len(crossing.nouns), settings.draws, rng)
    stances = noun_draws(len(crossing.stances), settings.draws, rng)
    places = {s: i for i, s in enumerate(crossing.stances)}

    def measure(cell: Cell, seed: np.random.SeedSequence) -> _Tested:
        return _Tested(cell, places[cell.stance], *_measure_cell(cell, nouns, settings, np.random.default_rng(seed)))

    with ThreadPoolExecutor() as pool:
        tested = list(pool.map(measure, crossing.cells, seeds[1:]))
    chosen = _choices(crossing, rng)
    return _summarise(crossing, tested, stances, chosen, settings), by_pair([(t.cell, t.pairs) for t in tested])


def _measure_cell(
    cell: Cell, nouns: Ints, settings: TrustSettings, rng: np.random.Generator
) -> tuple[PairFigures, _Resampled]:
    pairs = compare_pairs(cell, settings.flips, rng)
    weights = np.vstack([nouns, each_left_out(nouns.shape[1])])
    weighted = np.stack(significant_when_weighted(cell.perplexity, weights))
    permuted = np.stack(significant_when_permuted(cell.perplexity, settings.permutations, rng))
    return pairs, _Resampled(weighted[:, : len(nouns)], weighted[:, len(nouns) :], permuted)


def _summarise(
    crossing: Crossing, tested: list[_Tested], stances: Ints, chosen: dict[str, Ints], settings: TrustSettings
) -> Trust:
    by_axis = {a: [t for t in tested if t.cell.axis == a] for a in crossing.axes}
    drawn = {a: _drawn_shares(cells, stances) for a, cells in by_axis.items()}
    nonce = drawn.get(NONCE)
    worded = {a: _worded_shares(cells, chosen) for a, cells in by_axis.items()}
    ranked, flips = _rank(drawn, worded)
    return Trust(
        settings=settings,
        nats_per="sentence" if all(t.cell.nll is not None for t in tested) else "token",
        by_axis=tuple(
            _trust(cells, drawn[a], axis=a, nonce=nonce if a != NONCE else None, worded=worded[a])
            for a, cells in by_axis.items()
        ),
        by_template=tuple(
            _trust([t for t in tested if t.cell.template == name], None, template=name) for name in crossing.templates
        ),
        by_axis_and_template=tuple(_trust([t], None, axis=t.cell.axis, template=t.cell.template) for t in tested),
        axis_ranks=ranked,
        rank_flips=flips,
    )


def _choices(crossing: Crossing, rng: np.random.Generator) -> dict[str, Ints]:
    """Whether a template is the one wording chosen of its stance, for many choices: shape ``[choices]`` each.

    Empty where no stance has two wordings.
    """
    stance_of = {cell.template: cell.stance for cell in crossing.cells}
    wordings = {s: [t for t in crossing.templates if stance_of[t] == s] for s in crossing.stances}
    if all(len(templates) == 1 for templates in wordings.values()):
        return {}
    chosen: dict[str, Ints] = {}
    for templates in wordings.values():
        choice = rng.integers(len(templates), size=_CHOICES)
        chosen |= {t: (choice == i).astype(np.int64) for i, t in enumerate(templates)}
    return chosen


def _worded_shares(cells: Sequence[_Tested], chosen: dict[str, Ints]) -> Floats | None:
    """The share under each choice of wordings: shape ``[choices]``."""
    if not chosen:
        return None
    counts = np.array([[(c.pairs.p < SIGNIFICANCE).sum(), (~np.isnan(c.pairs.p)).sum()] for c in cells])
    return _ratios(counts.T @ np.stack([chosen[c.cell.template] for c in cells]))


def _drawn_shares(cells: Sequence[_Tested], stances: Ints | None) -> Floats:
    """The share under each draw, moved so that their mean is the share observed: shape ``[draws]``.

    Drawing nouns with replacement repeats values, which lets more pairs differ
    than would with as many nouns anew: the draws say how much a share varies,
    not where it lies.
    """
    weights = 1 if stances is None else stances[:, [c.stance for c in cells]].T
    significant, pairs = (np.stack([c.resampled.drawn[i] for c in cells]) for i in (0, 1))
    total = (pairs * weights).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = (significant * weights).sum(axis=0) / total
    observed = _share(np.concatenate([c.pairs.p for c in cells]))
    known = shares[~np.isnan(shares)]
    if observed is None or not len(known):
        return np.full(len(shares), np.nan)
    moved: Floats = shares - known.mean() + observed
    return moved


def _trust(
    cells: Sequence[_Tested],
    drawn: Floats | None,
    axis: str | None = None,
    template: str | None = None,
    nonce: Floats | None = None,
    worded: Floats | None = None,
) -> ShareTrust:
    pairs = join([c.pairs for c in cells])
    drawn = _drawn_shares(cells, None) if drawn is None else drawn
    permuted = _ratios(sum(c.resampled.permuted for c in cells))
    return ShareTrust(
        axis=axis,
        template=template,
        share=_share(pairs.p),
        interval=_interval(np.clip(drawn, 0, 1)),
        floor=float(permuted.mean()) if not np.isnan(permuted).any() else None,
        floor_interval=_interval(permuted),
        corrected=Corrected(holm=_share(holm(pairs.p)), benjamini_hochberg=_share(benjamini_hochberg(pairs.p))),
        effects=_effects(pairs),
        paired=Paired(wilcoxon=_share(pairs.wilcoxon), sign_flip=_share(pairs.sign_flip)),
        confounds=_confounds(pairs, drawn, nonce),
        robustness=_robustness(cells, worded) if axis and not template else None,
    )


def _share(p: Floats) -> float | None:
    known = p[~np.isnan(p)]
    return float((known < SIGNIFICANCE).mean()) if len(known) else None


def _ratios(counts: Ints | int) -> Floats:
    significant, tested = np.asarray(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios: Floats = significant / tested
    return ratios


def _interval(values: Floats) -> Interval | None:
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    low, high = np.quantile(known, [0.025, 0.975])
    return Interval(low=float(low), high=float(high))


def _median(values: Floats) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else None


def _effects(pairs: PairFigures) -> Effects:
    tested = ~np.isnan(pairs.p)
    large = (np.abs(pairs.rank_biserial) >= LARGE) & (pairs.p < SIGNIFICANCE)
    sizes = [int(np.median(n[tested])) for n in (pairs.n1, pairs.n2)] if tested.any() else None
    return Effects(
        rank_biserial=_median(np.abs(pairs.rank_biserial)),
        nats=_median(np.abs(pairs.nats)),
        large=float(large[tested].mean()) if tested.any() else None,
        smallest_significant=smallest_significant_rank_biserial(*sizes) if sizes else None,
        detectable=_median(detectable_rank_biserial(pairs.n1, pairs.n2)),
        detectable_nats=_median(pairs.detectable_nats),
    )


def _confounds(pairs: PairFigures, drawn: Floats, nonce: Floats | None) -> Confounds:
    observed, control = _share(pairs.p), _observed(nonce)
    return Confounds(
        equal_token_pairs=int((pairs.equal_tokens & ~np.isnan(pairs.p)).sum()),
        equal_tokens=_share(pairs.p[pairs.equal_tokens]),
        without_token_count=_share(pairs.without_tokens),
        without_phrase=_share(pairs.without_phrase),
        minus_nonce=None if observed is None or control is None else observed - control,
        minus_nonce_interval=None if nonce is None else _interval(drawn - nonce),
    )


def _observed(values: Floats | None) -> float | None:
    """The observed share, which is the mean of the draws moved to it."""
    if values is None or np.isnan(values).all():
        return None
    return float(np.nanmean(values))


def _robustness(cells: Sequence[_Tested], worded: Floats | None) -> Robustness:
    left_out = _ratios(sum(c.resampled.left_out for c in cells))
    counts = np.array([[(c.pairs.p < SIGNIFICANCE).sum(), (~np.isnan(c.pairs.p)).sum()] for c in cells])
    without = _ratios((counts.sum(axis=0) - counts).T)
    return Robustness(
        leave_one_noun_out=_range(left_out),
        leave_one_template_out=_range(without),
        wordings=None if worded is None else _interval(worded),
    )


def _range(values: Floats) -> Interval | None:
    known = values[~np.isnan(values)]
    return Interval(low=float(known.min()), high=float(known.max())) if len(known) > 1 else None


def _flipped(one: Floats | None, other: Floats | None) -> float | None:
    return None if one is None or other is None else float((other > one).mean())


def _rank(
    drawn: dict[str, Floats], worded: dict[str, Floats | None]
) -> tuple[tuple[AxisRank, ...], tuple[RankFlip, ...]]:
    """Where each axis stands among the others, the largest share first, and how often neighbours change places."""
    # what differs by less than rounding is a tie
    known = {a: np.round(shares, 12) for a, shares in drawn.items() if not np.isnan(shares).any()}
    if not known:
        return (), ()
    observed = {a: round(float(shares.mean()), 9) for a, shares in known.items()}
    order = sorted(known, key=lambda a: -observed[a])
    shares = np.stack([known[a] for a in order])
    ranks = (shares[None] > shares[:, None]).sum(axis=1) + 1
    intervals = [_interval(r.astype(np.float64)) for r in ranks]
    flips = tuple(
        RankFlip(
            first=one,
            second=other,
            probability=float((known[other] > known[one]).mean()),
            probability_by_wording=_flipped(worded[one], worded[other]),
        )
        for one, other in pairwise(order)
    )
    return tuple(
        AxisRank(
            axis=a,
            rank=1 + sum(share > observed[a] for share in observed.values()),
            low=int(v.low),
            high=int(np.ceil(v.high)),
        )
        for a, v in zip(order, intervals, strict=True)
        if v is not None
    ), flips
