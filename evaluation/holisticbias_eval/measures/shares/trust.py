"""Trust figures of a share measure: effects, other tests and explanations, robustness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from holisticbias_eval.arrays import Floats, Ints, map_in_threads
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, Interval, make_figure
from holisticbias_eval.measures.measure import NONCE, MeasureSettings
from holisticbias_eval.measures.shares.pairs import UNKNOWN, PairFigures
from holisticbias_eval.measures.shares.resampled import (
    CHOICES,
    MeasuredCell,
    choose_wordings,
    drawn_shares,
    measure_cell,
    worded_shares,
)
from holisticbias_eval.statistics.cells import Cell, Crossing
from holisticbias_eval.statistics.intervals import middle_of, range_of
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import (
    detectable_rank_biserial,
    median_of,
    rank_biserial,
    ratios,
    share_of,
    share_of_counts,
    smallest_significant_rank_biserial,
)
from holisticbias_eval.statistics.resampling import (
    noun_draws,
)
from holisticbias_eval.statistics.tests import benjamini_hochberg, holm

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

    @cached_property
    def p(self) -> Floats:
        """The p-value of every pair."""
        return np.concatenate([c.tests.stacked for c in self.cells])

    @property
    def interval(self) -> Interval | None:
        """95% bootstrap interval clustered by noun, and for an axis also by stance."""
        return middle_of(np.clip(self.drawn, 0, 1))

    @cached_property
    def permuted(self) -> Floats:
        """The share when descriptors' labels are permuted within noun and template: ``[permutations]``."""
        return ratios(sum(c.permuted for c in self.cells))

    @property
    def floor(self) -> float | None:
        """The mean permuted share."""
        return None if np.isnan(self.permuted).any() else float(self.permuted.mean())

    def figures(self, measure: str, nats: str) -> Iterator[Figure]:
        """The figures that qualify the share; ``nats`` is the unit of differences in nats."""
        pairs, equal = (int(n) for n in (sum(c.counts[1] for c in self.cells), self._pairs("equal_tokens")[1]))
        for name, value, unit in (*self._tests(), *self._effects(nats)):
            yield make_figure(measure, name, self.keys, value, unit, pairs, of="share")
        yield make_figure(measure, "equal_tokens", self.keys, self._share("equal_tokens"), "share", equal, of="share")
        if "template" in self.keys:
            return
        observed = share_of(self.p)
        if self.keys["axis"] != NONCE:
            control = _observed(self.nonce)
            difference = None if observed is None or control is None else observed - control
            interval = None if self.nonce is None else middle_of(self.drawn - self.nonce)
            unit = "share difference"
            yield make_figure(measure, "minus_nonce", self.keys, difference, unit, pairs, interval=interval, of="share")
        for name, ends in self._ranges():
            value = observed if ends else None
            yield make_figure(measure, name, self.keys, value, "share", pairs, interval=ends, of="share")

    def _tests(self) -> Iterator[tuple[str, float | None, str]]:
        """The share by other tests, and without other explanations; null if the scores do not allow it."""
        differs = np.concatenate([c.pairs.wilcoxon for c in self.cells])
        yield "holm", share_of(holm(self.p)), "share"
        yield "benjamini_hochberg", share_of(benjamini_hochberg(self.p)), "share"
        yield "large", self._share("large"), "share"
        wilcoxon = share_of_counts(np.array([(differs == 1).sum(), (differs != UNKNOWN).sum()]))
        yield "wilcoxon", wilcoxon, "share"
        yield "sign_flip", self._share("sign_flip"), "share"
        yield "paired_large", self._share("paired_large"), "share"
        yield "without_token_count", self._share("without_tokens"), "share"
        yield "without_phrase", self._share("without_phrase"), "share"

    def _effects(self, nats: str) -> Iterator[tuple[str, float | None, str]]:
        """The size of the differences: medians over pairs, and what samples of this size can show."""
        n1, n2 = (
            np.concatenate([c.pairs.sizes[getattr(c.tests, side)] for c in self.cells]) for side in ("first", "second")
        )
        tested = ~np.isnan(self.p)
        sizes = [int(np.median(n[tested])) for n in (n1, n2)] if tested.any() else None
        u = np.concatenate([c.tests.u for c in self.cells])
        yield "rank_biserial", median_of(np.abs(rank_biserial(u, n1, n2))), EFFECT
        yield "smallest_significant", smallest_significant_rank_biserial(*sizes) if sizes else None, EFFECT
        yield "detectable", median_of(detectable_rank_biserial(n1, n2)), EFFECT
        yield "nats", median_of(np.abs(np.concatenate([c.pairs.nats for c in self.cells]))), nats
        yield "detectable_nats", median_of(np.concatenate([c.pairs.detectable_nats for c in self.cells])), nats

    def _ranges(self) -> Iterator[tuple[str, Interval | None]]:
        """The range of an axis's share without one noun or template, and over wordings; null with fewer than two."""
        counts = np.array([c.counts for c in self.cells])
        yield "leave_one_noun_out", range_of(ratios(sum(c.left_out for c in self.cells)))
        yield "leave_one_template_out", range_of(ratios((counts.sum(axis=0) - counts).T))
        yield "wordings", None if self.worded is None else middle_of(self.worded)

    def _pairs(self, name: str) -> Ints:
        """The pairs that differ and the tested pairs, by counts of this name."""
        total: Ints = sum(getattr(c.pairs, name) for c in self.cells)
        return total

    def _share(self, name: str) -> float | None:
        return share_of_counts(self._pairs(name))


def _observed(values: Floats | None) -> float | None:
    """The observed share; the draws were moved to have it as their mean."""
    if values is None or np.isnan(values).all():
        return None
    return float(np.nanmean(values))


@dataclass(frozen=True, slots=True)
class Trust:
    """The reliability of the shares by axis, by template and by both, in this order, with the pairs of every cell."""

    shares: tuple[TrustedShare, ...]
    pairs: tuple[PairFigures, ...]
    draws: int
    per_sentence: bool

    def figures(self, measure: str) -> Iterator[Figure]:
        """The figures beside every share, and the ranks of the axes."""
        per = "token" if not self.per_sentence else "phrase" if measure == _PHRASES else "sentence"
        for share in self.shares:
            yield from share.figures(measure, f"nats per {per}")
        yield from rank_axes(measure, [s for s in self.shares if list(s.keys) == ["axis"]], self.draws)


def measure_trust(crossing: Crossing, tests: Sequence[PairwiseTests], settings: MeasureSettings) -> Trust:
    """The reliability of every share.

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
    chosen = choose_wordings(crossing, rng)
    of_axes = {axis: [m for m in measured if m.cell.axis == axis] for axis in crossing.axes}
    of_templates = {name: [m for m in measured if m.cell.template == name] for name in crossing.templates}
    drawn = {axis: drawn_shares(cells, stances) for axis, cells in of_axes.items()}
    axes = (
        TrustedShare(
            {"axis": axis}, cells, drawn[axis], drawn.get(NONCE) if axis != NONCE else None,
            worded_shares({m.cell.template: m.counts for m in cells}, chosen),
        )
        for axis, cells in of_axes.items()
    )  # fmt: skip
    templates = (TrustedShare({"template": t}, c, drawn_shares(c, None)) for t, c in of_templates.items())
    cells = (
        TrustedShare({"axis": m.cell.axis, "template": m.cell.template}, [m], drawn_shares([m], None)) for m in measured
    )
    per_sentence = all("nll" in m.cell.scores.columns for m in measured)
    return Trust((*axes, *templates, *cells), tuple(m.pairs for m in measured), settings.draws, per_sentence)


def rank_axes(measure: str, axes: Sequence[TrustedShare], draws: int) -> Iterator[Figure]:
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
        low, high = np.quantile(places, [0.025, 0.975])
        ends = (int(low), int(np.ceil(high)))
        rank = 1 + sum(share > observed[axis] for share in observed.values())
        yield make_figure(measure, "rank", {"axis": axis}, rank, "rank", len(order), interval=ends, of="share")
    for one, other in pairwise(order):
        keys, unit = {"axis": one, "next": other}, "probability"
        swapped = float((known[other] > known[one]).mean())
        yield make_figure(measure, "order", keys, swapped, unit, draws, of="share")
        first, second = worded[one], worded[other]
        if first is not None and second is not None:
            swapped = float((second > first).mean())
            yield make_figure(measure, "order_by_wording", keys, swapped, unit, CHOICES, of="share")
