"""The figures of group_perplexity: F, t, means, and those of whole sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.figures import Maker
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.perplexities.dimensions import NAME, SCALES, Dimension, Scale, cut
from holisticbias_eval.statistics.groups.moments import mean_abs, pairs_of_groups
from holisticbias_eval.statistics.groups.resampling import (
    Drawn,
    Statistics,
    deviations,
    draw_sentences,
    interval_of,
    permute_groups,
    shifted_interval,
)
from holisticbias_eval.statistics.groups.variance import (
    GroupValues,
    PairTests,
    Tested,
    f_point,
    friedman,
    one_way,
    pairwise_t,
    signed_ranks,
    variance_shares,
    within_sentences,
    without_each,
)
from holisticbias_eval.statistics.intervals import middle_of
from holisticbias_eval.statistics.tests import holm

TESTS: Mapping[str, bool] = {"unpaired": False, "paired": True}
"""The t tests, and whether each pairs the sentences."""
UNITS: Mapping[Scale, str] = {"log": "nats per token", "perplexity": "perplexity"}
F, T, MEAN_T = "F", "t", "mean |t|"
UPPER = 0.95
"""The quantile of permuted values that a figure must exceed to differ from chance, one-sided."""


def dimension_figures(dimension: Dimension, settings: MeasureSettings | None) -> Iterator[Figure]:
    """All figures of a dimension; without settings none that need resampling."""
    for scale in SCALES:
        yield from ScaleFigures(NAME, dimension, scale, settings).figures()


@dataclass(frozen=True)
class ScaleFigures(Maker):
    """The figures of one dimension on one scale."""

    dimension: Dimension
    scale: Scale
    settings: MeasureSettings | None

    @cached_property
    def values(self) -> GroupValues:
        """The values on the scale."""
        return self.dimension.values(self.scale)

    @cached_property
    def drawn(self) -> Drawn | None:
        """Draws of sentences; ``None`` without settings."""
        return None if self.settings is None else draw_sentences(self.values, np.random.default_rng(self.settings.seed))

    @cached_property
    def permuted(self) -> Statistics | None:
        """Permuted groups; ``None`` without settings."""
        if self.settings is None:
            return None
        return permute_groups(self.values, np.random.default_rng([self.settings.seed, 1]))

    @property
    def keys(self) -> dict[str, str]:
        """The keys that all figures have."""
        return {"dimension": self.dimension.name, "scale": self.scale}

    def figures(self) -> Iterator[Figure]:
        """Tests of all groups, then of pairs, then means, then single sentences."""
        yield from self._of_all()
        if self.values.in_pairs:
            for test, paired in TESTS.items():
                yield from self._of_pairs(test, pairwise_t(self.values, paired=paired))
            yield from self._wilcoxon()
        yield from self._means()
        yield from self._sentences()

    def _of_all(self) -> Iterator[Figure]:
        tested = one_way(self.values)
        drawn = None if self.drawn is None else self.drawn.statistics.f
        permuted = None if self.permuted is None else self.permuted.f
        missing = int(self.dimension.asked.sum()) - tested.n
        yield self.figure(
            "f", self.keys, tested.value, F, tested.n, missing=missing, p_value=tested.p_value,
            interval=self._ends(tested.value, drawn), **_floor(tested.value, permuted),
        )  # fmt: skip
        yield from self._chance("f", self.keys, tested.value, F, permuted)
        yield self.figure("f_distribution_95", self.keys, f_point(self.values, UPPER), F, tested.n, of="f")
        yield self.figure("eta_squared", self.keys, tested.eta_squared, "share", tested.n, missing=missing, of="f")
        within, ranked = within_sentences(self.values), friedman(self.values)
        yield self._blocked("f_within", within, within.value, F)
        yield self._blocked("eta_squared_within", within, within.eta_squared, "share", of="f_within")
        yield self._blocked("friedman", ranked, ranked.value, "chi-square")

    def _blocked(self, name: str, tested: Tested, value: float, unit: str, of: str | None = None) -> Figure:
        """A figure of the sentences that have a value in every group; the others are missing."""
        missing, p = len(self.values.values) - tested.n, None if of else tested.p_value
        return self.figure(name, self.keys, value, unit, tested.n, missing=missing, p_value=p, of=of)

    def _chance(
        self, name: str, keys: dict[str, str], value: float, unit: str, permuted: Floats | None
    ) -> Iterator[Figure]:
        """The p-value of a figure among permuted groups, and the value that 95% of these do not exceed."""
        known = _known(permuted)
        if permuted is None:
            return
        p = np.nan if np.isnan(value) or not len(known) else (1 + _reached(known, value)) / (1 + len(known))
        point = np.quantile(known, UPPER) if len(known) else np.nan
        yield self.figure(f"{name}_permuted_p", keys, p, "p_value", len(known), of=name)
        yield self.figure(f"{name}_null_95", keys, point, unit, len(known), of=name)

    def _of_pairs(self, test: str, found: PairTests) -> Iterator[Figure]:
        keys = {**self.keys, "test": test}
        yield from self._each_pair("t", keys, found, T, signed=True)
        value = float(mean_abs(found.value))
        drawn = None if self.drawn is None else getattr(self.drawn.statistics, test)
        permuted = None if self.permuted is None else getattr(self.permuted, test)
        defined = int((~np.isnan(found.value)).sum())
        yield self.figure(
            "mean_abs_t", keys, value, MEAN_T, defined, missing=len(found.value) - defined,
            interval=self._ends(value, drawn), **_floor(value, permuted), of="t",
        )  # fmt: skip
        yield from self._chance("mean_abs_t", keys, value, MEAN_T, permuted)

    def _wilcoxon(self) -> Iterator[Figure]:
        yield from self._each_pair("wilcoxon", self.keys, signed_ranks(self.values), "rank sum", signed=False)

    def _each_pair(
        self, name: str, keys: dict[str, str], found: PairTests, unit: str, *, signed: bool
    ) -> Iterator[Figure]:
        """A statistic of every pair, each followed by its p-value corrected over the pairs."""
        adjusted, groups = holm(found.p_value), self.dimension.groups
        tests = int((~np.isnan(adjusted)).sum())
        corrected = "adjusted_p" if signed else f"{name}_adjusted_p"
        for i, (one, other) in enumerate(zip(*pairs_of_groups(len(groups)), strict=True)):
            both = {**keys, "first": groups[one], "second": groups[other]}
            asked = self.dimension.asked[:, [one, other]]
            of_both = asked.sum() if keys.get("test") == "unpaired" else asked.any(axis=1).sum()
            n = found.n[i]
            yield self.figure(name, both, found.value[i], unit, n, missing=of_both - n, p_value=found.p_value[i])
            yield self.figure(corrected, both, adjusted[i], "p_value", tests, of=name)

    def _means(self) -> Iterator[Figure]:
        """The mean of each group, and on the sentences that all groups have its distance from the mean of all."""
        unit, apart = UNITS[self.scale], deviations(self.values)
        complete = int((~np.isnan(apart)).all(axis=1).sum())
        for g, group in enumerate(self.dimension.groups):
            keys = {**self.keys, "group": group}
            own = self.values.values[:, g]
            known = own[~np.isnan(own)]
            value = float(known.mean()) if len(known) else np.nan
            missing = int(self.dimension.asked[:, g].sum()) - len(known)
            ends = None if self.drawn is None else interval_of(value, self.drawn.mean[:, g], len(known))
            if ends is not None and self.scale == "perplexity":
                ends = max(ends[0], 0.0), ends[1]
            yield self.figure("mean", keys, value, unit, len(known), missing=missing, interval=ends)
            value = float(np.nanmean(apart[:, g])) if complete else np.nan
            ends = None if self.drawn is None else interval_of(value, self.drawn.deviation[:, g], complete)
            missing = len(own) - complete
            yield self.figure("deviation", keys, value, f"{unit} difference", complete, missing=missing, interval=ends)

    def _sentences(self) -> Iterator[Figure]:
        """F without one sentence, and the sentence with the largest share of the sum of squares."""
        without = _known(without_each(self.values))
        f = float(self.values.sums().f())
        ends = (float(without.min()), float(without.max())) if len(without) else None
        yield self.figure("leave_one_sentence_out", self.keys, f, F, len(without), interval=ends, of="f")
        shares = variance_shares(self.values)
        rows = int(self.dimension.asked.any(axis=1).sum() if self.values.paired else self.dimension.asked.sum())
        most = float(shares.max())
        yield self.figure("largest_share", self.keys, most, "share", rows, of="f")
        if not np.isnan(most):
            keys = {**self.keys, "sentence": self.dimension.label(int(np.nanargmax(shares)))}
            yield self.figure("largest_sentence", keys, most, "share", rows, of="largest_share")

    def _ends(self, value: float, drawn: Floats | None) -> tuple[float, float] | None:
        if drawn is None:
            return None
        known = ~np.isnan(self.values.values)
        n = int(known.any(axis=1).sum()) if self.values.paired else int(known.sum(axis=0).min())
        return shifted_interval(value, drawn, n)


def _known(values: Floats | None) -> Floats:
    return np.zeros(0) if values is None else values[~np.isnan(values)]


def _reached(permuted: Floats, value: float) -> int:
    return int((permuted >= value * (1 - 1e-12)).sum())


def _floor(value: float, permuted: Floats | None) -> dict[str, Any]:
    """The floor of a known value, and its interval, as arguments of a figure."""
    known = _known(permuted)
    if np.isnan(value) or not len(known):
        return {}
    return {"floor": known.mean(), "floor_interval": middle_of(known)}


F_WHOLE = "f_whole_sentences"
COLUMNS = ("nll", "tokens")
_APART = 0.01
"""The difference of mean numbers of tokens, as a share of the smaller, from which a note names it."""


def whole_sentence_figures(answers: pa.Table) -> Iterator[Figure]:
    """F of the negative log-likelihoods of sentences over groups, in each dimension, as ``scipy.stats.f_oneway``.

    There are none unless the table has ``nll`` and ``tokens``. Null without two values in each group, or without
    variance.
    """
    from scipy.stats import f_oneway

    for dimension, rows in _dimensions(answers):
        groups = [values[np.isfinite(values)] for values in _by_group(rows, "nll").values()]
        defined = min(map(len, groups)) > 1 and any(np.ptp(values) > 0 for values in groups)
        f, p = f_oneway(*groups) if defined else (np.nan, np.nan)
        n = sum(map(len, groups))
        keys, missing = {"dimension": dimension}, rows.num_rows - n
        p_value = None if np.isnan(p) else float(p)
        yield Maker(NAME).figure(F_WHOLE, keys, float(f), "F", n, missing=missing, p_value=p_value, of="f")


def describe_lengths(answers: pa.Table, figures: Figures) -> Iterator[str]:
    """A sentence about each dimension in which the groups' sentences have different numbers of tokens."""
    for dimension, rows in _dimensions(answers):
        means = {group: float(np.nanmean(values)) for group, values in _by_group(rows, "tokens").items()}
        few, many = min(means, key=lambda g: means[g]), max(means, key=lambda g: means[g])
        f = figures.value(NAME, F_WHOLE, {"dimension": dimension})
        if f is not None and means[many] > (1 + _APART) * means[few]:
            yield (
                f"{cut(dimension)}: a sentence has {means[few]:.1f} tokens about {cut(few)} and {means[many]:.1f} "
                f"about {cut(many)}. Perplexity is per token, so that a group whose terms have more tokens can seem "
                f"likelier for this reason alone. F of the likelihoods of whole sentences is {f:.2f}"
            )


def _dimensions(answers: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    if set(COLUMNS) <= set(answers.column_names):
        for name in pc.unique(answers["dimension"]).to_pylist():
            yield str(name), answers.filter(pc.equal(answers["dimension"], name))


def _by_group(rows: pa.Table, column: str) -> Mapping[str, Floats]:
    values = rows[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
    groups = np.array(rows["group"].cast(pa.string()).to_pylist(), dtype=object)
    return {str(group): values[groups == group] for group in dict.fromkeys(groups.tolist())}
