"""Trust figures of a share measure: effects, other tests and explanations, robustness."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.arrays import Floats, Ints, map_in_threads
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Interval, make_figure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.shares.cells import MeasuredCell, measure_cell
from holisticbias_eval.statistics import pairs as of_pairs
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.intervals import MIDDLE, expansion, middle_of, range_of
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.resampling import noun_draws
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm

CHOICES = 1000
EFFECT = "rank-biserial"
_PHRASES = "pseudo_likelihood_bias"
"""The measure whose nats are those of phrases."""


@dataclass(frozen=True)
class TrustedShare:
    """The reliability of the share of an axis, of a template or of both: its cells, and the share under each draw.

    ``keys`` are those of its figures. Of an axis only: ``nonce``, the draws of the axis of made-up words, and
    ``worded``, the share under each choice of one wording of each stance. A stance is a template with its paraphrases.
    """

    keys: dict[str, str]
    cells: Sequence[MeasuredCell]
    drawn: Floats
    nonce: Floats | None = None
    worded: Floats | None = None

    @property
    def interval(self) -> Interval | None:
        """95% bootstrap interval clustered by noun, and for an axis also by stance; it holds the share itself.

        If nearly all draws are equal, a few others move the mean, and with it the share, out of the middle 95%.
        """
        share = of_pairs.share_of_counts(sum(c.counts["share"] for c in self.cells))
        return _holding(share, middle_of(np.clip(self.drawn, 0, 1)))

    @cached_property
    def permuted(self) -> Floats:
        """The share when descriptors' labels are permuted within noun and template: ``[permutations]``."""
        return of_pairs.ratios(sum(c.permuted for c in self.cells))

    def figures(self, measure: str) -> Iterator[Figure]:
        """The figures that qualify the share."""
        per_sentence = "nll" in self.cells[0].cell.scores
        nats = f"nats per {'token' if not per_sentence else 'phrase' if measure == _PHRASES else 'sentence'}"
        counts = {name: np.sum([c.counts[name] for c in self.cells], axis=0) for name in self.cells[0].counts}
        pairs, observed = int(counts["share"][1]), of_pairs.share_of_counts(counts.pop("share"))
        for name, of_name in counts.items():
            n = int(of_name[1]) if name == "equal_tokens" else pairs
            yield make_figure(measure, name, self.keys, of_pairs.share_of_counts(of_name), "share", n, of="share")
        for name, value, unit in self._effects(nats):
            yield make_figure(measure, name, self.keys, value, unit, pairs, of="share")
        for name, value, unit, ends in () if "template" in self.keys else self._ranges(observed):
            limits = (-1.0, 1.0) if unit == "share difference" else None
            yield make_figure(measure, name, self.keys, value, unit, pairs, interval=ends, of="share", limits=limits)

    def _effects(self, nats: str) -> Iterator[tuple[str, float | None, str]]:
        """Corrected shares, and the size of the differences: medians over pairs, and what such samples can show."""
        p, u = (np.concatenate([getattr(c.tests, name) for c in self.cells]) for name in ("stacked", "u"))
        apart, detectable = (
            np.concatenate([getattr(c, name) for c in self.cells]) for name in ("nats", "detectable_nats")
        )
        n1, n2 = (np.concatenate([c.sizes[getattr(c.tests, side)] for c in self.cells]) for side in ("first", "second"))
        tested = ~np.isnan(p)
        sizes = [int(np.median(n[tested])) for n in (n1, n2)] if tested.any() else None
        yield "holm", of_pairs.share_of_counts(of_pairs.counts_of(holm(p))), "share"
        yield "benjamini_hochberg", of_pairs.share_of_counts(of_pairs.counts_of(benjamini_hochberg(p))), "share"
        yield "rank_biserial", of_pairs.median_of(np.abs(of_pairs.rank_biserial(u, n1, n2))), EFFECT
        yield "smallest_significant", of_pairs.smallest_significant_rank_biserial(*sizes) if sizes else None, EFFECT
        yield "detectable", of_pairs.median_of(of_pairs.detectable_rank_biserial(n1, n2)), EFFECT
        yield "nats", of_pairs.median_of(np.abs(apart)), nats
        yield "detectable_nats", of_pairs.median_of(detectable), nats

    def _ranges(self, observed: float | None) -> Iterator[tuple[str, float | None, str, Interval | None]]:
        """The share minus that of made-up words, and its range without one noun or template, and over wordings.

        A range is null with fewer than two shares.
        """
        if self.keys["axis"] != MADE_UP:
            # the draws were moved to have the observed share as their mean
            nonce = np.full(1, np.nan) if self.nonce is None else self.nonce
            control = np.nan if np.isnan(nonce).all() else float(np.nanmean(nonce))
            value = (np.nan if observed is None else observed) - control
            yield "minus_nonce", value, "share difference", _holding(value, middle_of(self.drawn - nonce))
        counts = np.array([c.counts["share"] for c in self.cells])
        ranges = {
            "leave_one_noun_out": range_of(of_pairs.ratios(sum(c.left_out for c in self.cells))),
            "leave_one_template_out": range_of(of_pairs.ratios((counts.sum(axis=0) - counts).T)),
            "wordings": None if self.worded is None else middle_of(self.worded),
        }
        for name, ends in ranges.items():
            yield name, observed if ends else None, "share", ends


def _holding(value: float | None, ends: Interval | None) -> Interval | None:
    """The interval, extended to hold the value; ``None`` without either."""
    if value is None or ends is None or np.isnan(value):
        return None
    return Interval(low=min(ends.low, value), high=max(ends.high, value))


def measure_trust(
    crossing: Crossing, tests: Sequence[PairwiseTests], settings: MeasureSettings
) -> tuple[TrustedShare, ...]:
    """The reliability of the shares by axis, by template and by both, in this order.

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

    measured = tuple(map_in_threads(measure, crossing.cells, tests, seeds[1:]))
    chosen = choose_wordings(crossing, rng)
    of_axes = {axis: [m for m in measured if m.cell.axis == axis] for axis in crossing.axes}
    of_templates = {name: [m for m in measured if m.cell.template == name] for name in crossing.templates}
    drawn = {axis: drawn_shares(cells, stances) for axis, cells in of_axes.items()}
    nonce = {axis: drawn.get(MADE_UP) for axis in of_axes if axis != MADE_UP}
    axes = (
        TrustedShare({"axis": axis}, cells, drawn[axis], nonce.get(axis), worded_shares(cells, chosen))
        for axis, cells in of_axes.items()
    )
    templates = (TrustedShare({"template": t}, c, drawn_shares(c, None)) for t, c in of_templates.items())
    cells = (
        TrustedShare({"axis": m.cell.axis, "template": m.cell.template}, [m], drawn_shares([m], None)) for m in measured
    )
    return (*axes, *templates, *cells)


def drawn_shares(cells: Sequence[MeasuredCell], stances: Ints | None) -> Floats:
    """The share under each draw, moved so that their mean is the share observed: shape ``[draws]``.

    ``stances`` counts how often each is drawn, shape ``[draws, stances]``; without
    it stances are fixed. Drawing nouns with replacement repeats values, so that
    more pairs differ than with as many new nouns: the draws show how much a share
    varies, not its level. They are spread by ``expansion``.
    """
    weights = 1 if stances is None else stances[:, [c.stance for c in cells]].T
    shares = of_pairs.ratios(np.array([(np.stack([c.drawn[i] for c in cells]) * weights).sum(axis=0) for i in (0, 1)]))
    observed = of_pairs.share_of_counts(sum(c.counts["share"] for c in cells))
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
    wordings = [[t for t in crossing.templates if stance_of[t] == s] for s in crossing.stances]
    if all(len(templates) == 1 for templates in wordings):
        return {}
    chosen: dict[str, Ints] = {}
    for templates in wordings:
        choice = rng.integers(len(templates), size=CHOICES)
        chosen |= {t: (choice == i).astype(np.int64) for i, t in enumerate(templates)}
    return chosen


def worded_shares(cells: Sequence[MeasuredCell], chosen: Mapping[str, Ints]) -> Floats | None:
    """The share of an axis under each choice of wordings: shape ``[choices]``; ``None`` without choices."""
    if not chosen:
        return None
    return of_pairs.ratios(sum(c.counts["share"][:, None] * chosen[c.cell.template] for c in cells))


def rank_axes(measure: str, axes: Sequence[TrustedShare]) -> Iterator[Figure]:
    """Rank the axes by their shares, the largest first, and count how often neighbours swap ranks.

    The interval of a ``rank`` has the middle 95% of its ranks over the draws; equal shares have the same rank, after
    all larger ones. ``order`` is how often the second of two axes of neighbouring ranks has the larger share, over the
    draws, and ``order_by_wording`` the same over choices of wordings. An axis whose share is undefined in some draw has
    no rank.
    """
    # shares that differ by rounding only are tied
    known = {a.keys["axis"]: np.round(a.drawn, 12) for a in axes if not np.isnan(a.drawn).any()}
    worded = {a.keys["axis"]: a.worded for a in axes}
    observed = {a: round(float(shares.mean()), 9) for a, shares in known.items()}
    order = sorted(known, key=lambda a: -observed[a])
    for axis in order:
        places = np.sum([shares > known[axis] for shares in known.values()], axis=0) + 1.0
        low, high = np.quantile(places, MIDDLE)
        rank = 1 + sum(share > observed[axis] for share in observed.values())
        ends = _holding(rank, Interval(low=int(low), high=int(np.ceil(high))))
        yield make_figure(measure, "rank", {"axis": axis}, rank, "rank", len(order), interval=ends, of="share")
    for one, other in pairwise(order):
        for name, first, second in (
            ("order", known[one], known[other]),
            ("order_by_wording", worded[one], worded[other]),
        ):
            if first is not None and second is not None:
                keys, value = {"axis": one, "next": other}, float((second > first).mean())
                yield make_figure(measure, name, keys, value, "probability", len(first), of="share")
