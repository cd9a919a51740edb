"""The figures of group_perplexity: F, t, means, and those of whole sentences."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.perplexities.dimensions import NAME, Dimension, Scale, by_dimension, cut, said_dimension
from holisticbias_eval.statistics.cells import encode, floats
from holisticbias_eval.statistics.groups import resampling
from holisticbias_eval.statistics.groups import variance as tests
from holisticbias_eval.statistics.groups.moments import mean_abs
from holisticbias_eval.statistics.groups.variance import GroupValues, PairTests, Tested
from holisticbias_eval.statistics.intervals import floor_of, range_of
from holisticbias_eval.statistics.mannwhitney import pairs_of
from holisticbias_eval.statistics.tests import holm, permuted_p
from holisticbias_eval.units import show

TESTS: Mapping[str, bool] = {"unpaired": False, "paired": True}
"""The t tests, and whether each pairs the sentences."""
UNITS: Mapping[Scale, str] = {"log": "nats per token", "perplexity": "perplexity"}
F, T, MEAN_T = "F", "t", "mean |t|"
UPPER = 0.95
"""The quantile of permuted values that a figure must exceed to differ from chance, one-sided."""


_figure = partial(make_figure, NAME)


@dataclass(frozen=True)
class ScaleFigures:
    """The figures of one dimension on one scale; without settings none that need resampling."""

    dimension: Dimension
    scale: Scale
    settings: MeasureSettings | None

    @cached_property
    def values(self) -> GroupValues:
        """The values on the scale."""
        return self.dimension.values(self.scale)

    @cached_property
    def drawn(self) -> resampling.Drawn | None:
        """Draws of sentences; ``None`` without settings."""
        if self.settings is None:
            return None
        return resampling.draw_sentences(self.values, np.random.default_rng(self.settings.seed))

    @property
    def keys(self) -> dict[str, str]:
        """The keys that all figures have."""
        return {"dimension": self.dimension.name, "scale": self.scale}

    def figures(self) -> Iterator[Figure]:
        """Tests of all groups and of pairs, then means, then single sentences."""
        tested, asked = tests.one_way(self.values), int(self.dimension.asked.sum())
        missing = asked - tested.n
        compared = [_figure("f", self.keys, tested.value, F, tested.n, missing, p_value=tested.p_value)]
        if self.values.in_pairs:
            for test, paired in TESTS.items():
                keys, found = {**self.keys, "test": test}, tests.pairwise_t(self.values, paired=paired)
                yield from self._each_pair("t", keys, found, T, "adjusted_p")
                defined, value = int((~np.isnan(found.value)).sum()), float(mean_abs(found.value))
                missing = len(found.value) - defined
                compared.append(_figure("mean_abs_t", keys, value, MEAN_T, defined, missing, of="t"))
            found = tests.signed_ranks(self.values)
            yield from self._each_pair("wilcoxon", self.keys, found, "rank sum", "wilcoxon_adjusted_p")
        yield from self._resampled(compared)
        yield from self._of_all(tested, asked)
        yield from self._means()
        yield from self._sentences()

    def _resampled(self, compared: list[Figure]) -> Iterator[Figure]:
        """Figures with their intervals and floors.

        Each is followed by its p-value among permuted groups, and by the value that 95% of these do not exceed.
        """
        if self.settings is None or self.drawn is None:
            yield from compared
            return
        permuted = resampling.permute_groups(self.values, np.random.default_rng([self.settings.seed, 1]))
        for figure in compared:
            name, keys, unit, value = figure.name, figure.keys, figure.unit, figure.value
            drawn, chance = (getattr(found, keys.get("test", "f")) for found in (self.drawn.statistics, permuted))
            chance = chance[~np.isnan(chance)]
            point = np.quantile(chance, UPPER) if len(chance) else np.nan
            p, rest = None, dict[str, Any](p_value=figure.p_value, of=figure.of)
            if value is not None:
                ends = resampling.shifted_interval(value, drawn, self.values.sentences)
                p, rest = float(permuted_p(np.array(value), chance)), {**rest, **floor_of(chance), "interval": ends}
            yield _figure(name, keys, value, unit, figure.n, figure.missing, **rest)
            yield _figure(f"{name}_permuted_p", keys, p, "p_value", len(chance), of=name)
            yield _figure(f"{name}_null_95", keys, point, unit, len(chance), of=name)

    def _of_all(self, tested: Tested, asked: int) -> Iterator[Figure]:
        """Figures beside F, and the tests with sentences as blocks."""
        point = tests.f_point(self.values, UPPER)
        yield _figure("f_distribution_95", self.keys, point, F, tested.n, of="f")
        yield _figure("eta_squared", self.keys, tested.eta_squared, "share", tested.n, asked - tested.n, of="f")
        within, ranked = tests.within_sentences(self.values), tests.friedman(self.values)
        for name, found, value, unit, of in (
            ("f_within", within, within.value, F, None),
            ("eta_squared_within", within, within.eta_squared, "share", "f_within"),
            ("friedman", ranked, ranked.value, "chi-square", None),
        ):
            # of the sentences that have a value in every group; the others are missing
            missing, p = len(self.values.values) - found.n, None if of else found.p_value
            yield _figure(name, self.keys, value, unit, found.n, missing, p_value=p, of=of)

    def _each_pair(
        self, name: str, keys: dict[str, str], found: PairTests, unit: str, corrected: str
    ) -> Iterator[Figure]:
        """A statistic of every pair, each followed by its p-value corrected over the pairs."""
        adjusted, groups = holm(found.p_value), self.dimension.groups
        count = int((~np.isnan(adjusted)).sum())
        for i, (one, other) in enumerate(zip(*pairs_of(len(groups)), strict=True)):
            both = {**keys, "first": groups[one], "second": groups[other]}
            asked = self.dimension.asked[:, [one, other]]
            of_both = asked.sum() if keys.get("test") == "unpaired" else asked.any(axis=1).sum()
            n = found.n[i]
            yield _figure(name, both, found.value[i], unit, n, of_both - n, p_value=found.p_value[i])
            yield _figure(corrected, both, adjusted[i], "p_value", count, of=name)

    def _means(self) -> Iterator[Figure]:
        """The mean of each group, and on the sentences that all groups have its distance from the mean of all."""
        unit, apart = UNITS[self.scale], resampling.deviations(self.values)
        complete = int((~np.isnan(apart)).all(axis=1).sum())
        for g, group in enumerate(self.dimension.groups):
            keys = {**self.keys, "group": group}
            own = self.values.values[:, g]
            known = own[~np.isnan(own)]
            value = float(known.mean()) if len(known) else np.nan
            missing = int(self.dimension.asked[:, g].sum()) - len(known)
            ends = resampling.interval_of(value, self.drawn.mean[:, g], len(known)) if self.drawn else None
            if ends is not None and self.scale == "perplexity":
                ends = max(ends[0], 0.0), ends[1]
            yield _figure("mean", keys, value, unit, len(known), missing, interval=ends)
            value = float(np.nanmean(apart[:, g])) if complete else np.nan
            ends = resampling.interval_of(value, self.drawn.deviation[:, g], complete) if self.drawn else None
            missing = len(own) - complete
            yield _figure("deviation", keys, value, f"{unit} difference", complete, missing, interval=ends)

    def _sentences(self) -> Iterator[Figure]:
        """F without one sentence, and the sentence with the largest share of the sum of squares."""
        without, f = tests.without_each(self.values), float(self.values.sums().f())
        n = (~np.isnan(without)).sum()
        yield _figure("leave_one_sentence_out", self.keys, f, F, n, interval=range_of(without), of="f")
        shares = tests.variance_shares(self.values)
        rows = int(self.dimension.asked.any(axis=1).sum() if self.values.paired else self.dimension.asked.sum())
        most = float(shares.max())
        yield _figure("largest_share", self.keys, most, "share", rows, of="f")
        if not np.isnan(most):
            keys = {**self.keys, "sentence": self.dimension.label(int(np.nanargmax(shares)))}
            yield _figure("largest_sentence", keys, most, "share", rows, of="largest_share")


F_WHOLE = "f_whole_sentences"
COLUMNS = ("nll", "tokens")
_APART = 0.01
"""The difference of mean numbers of tokens, as a share of the smaller, from which a note names it."""


def whole_sentence_figures(answers: pa.Table) -> Iterator[Figure]:
    """F of the negative log-likelihoods of sentences over groups, in each dimension; see ``one_way``.

    There are none unless the table has ``nll`` and ``tokens``.
    """
    for dimension, rows in _dimensions(answers):
        _, values = _by_group(rows, "nll")
        found = tests.one_way(values)
        keys, missing = {"dimension": dimension}, rows.num_rows - found.n
        yield _figure(F_WHOLE, keys, found.value, "F", found.n, missing=missing, p_value=found.p_value, of="f")


def describe_lengths(answers: pa.Table, figures: Figures) -> Iterator[str]:
    """A sentence about each dimension in which the groups' sentences have different numbers of tokens."""
    for dimension, rows in _dimensions(answers):
        groups, values = _by_group(rows, "tokens")
        columns = [(group, own[~np.isnan(own)]) for group, own in zip(groups, values.values.T, strict=True)]
        means = {group: float(known.mean()) for group, known in columns if len(known)}
        if not means:
            continue
        few, many = min(means, key=lambda g: means[g]), max(means, key=lambda g: means[g])
        f = figures.value(NAME, F_WHOLE, {"dimension": dimension})
        if f is not None and means[many] > (1 + _APART) * means[few]:
            yield (
                f"{said_dimension(dimension)}: a sentence has {means[few]:.1f} tokens about {cut(few)} and "
                f"{means[many]:.1f} about {cut(many)}. Perplexity is per token, so that a group whose terms have "
                f"more tokens can seem likelier for this reason alone. F of the likelihoods of whole sentences is "
                f"{show(f, 'F')}"
            )


def _dimensions(answers: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    if set(COLUMNS) <= set(answers.column_names):
        yield from by_dimension(answers)


def _by_group(rows: pa.Table, column: str) -> tuple[list[str], GroupValues]:
    groups, group = encode(rows["group"])
    return groups, GroupValues.of_rows(floats(rows[column]), group, len(groups))
