"""The figures of the stereotype score, and how far they can be trusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Bools, Ints
from holisticbias_eval.figures import Figure, Interval, corrected
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.measures.stereotype.outcomes import (
    MISSING,
    NAME,
    STEREOTYPE,
    TEMPLATE,
    TIE,
    Outcomes,
    figure,
    read_outcomes,
)
from holisticbias_eval.prompts.pairs import TERM_SCORES
from holisticbias_eval.statistics.attributes import (
    AttributeCounts,
    attribute_test,
    binomial_test,
    deviation_parts,
    mean_interval,
    set_means,
    spreads,
    without_each,
)
from holisticbias_eval.statistics.tests import holm

SETS, SENTENCES = 30, 4
"""Sets of sentences, and sentences of each attribute in a set."""
NATS = "nats per sentence"


def trust_figures(outcomes: Outcomes, settings: MeasureSettings | None) -> Iterator[Figure]:
    """Trust figures of each specification and of all: other sentences, single attributes, templates."""
    for i, name in enumerate(outcomes.specifications):
        rows, keys = outcomes.of(i) & outcomes.main, {"specification": name}
        counts, numbers = outcomes.counts(rows)
        yield from _other_sets(counts, keys, settings)
        yield from _single_attributes(outcomes, counts, numbers, keys)
        yield from _wordings(outcomes, counts, rows, keys)
    everyone, _ = outcomes.counts(outcomes.main & outcomes.people)
    yield from _other_sets(everyone, {}, settings)
    if TEMPLATE in outcomes.source:
        yield _template_correlation(outcomes)


def _other_sets(counts: AttributeCounts, keys: dict[str, str], settings: MeasureSettings | None) -> Iterator[Figure]:
    """The standard deviation of the score over sets of four sentences per attribute, and the range of the sets."""
    if settings is None:
        return
    value, interval = None, None
    if (counts.pairs > 1).any():
        means = set_means(counts, SETS, SENTENCES, np.random.default_rng(settings.seed))
        value, interval = float(means.std(ddof=1)), Interval(low=float(means.min()), high=float(means.max()))
    yield figure("sets_sd", keys, value, "share", len(counts), of=NAME)
    yield figure("sets_range", keys, counts.mean, "share", len(counts), interval=interval, of=NAME)


def _single_attributes(
    outcomes: Outcomes, counts: AttributeCounts, numbers: Ints, keys: dict[str, str]
) -> Iterator[Figure]:
    """The range of the score without one attribute, and the attribute with the largest part in the deviation."""
    without = without_each(counts)
    interval = Interval(low=float(without.min()), high=float(without.max())) if len(without) else None
    yield figure("leave_one_attribute_out", keys, counts.mean, "share", len(counts), interval=interval, of=NAME)
    parts = deviation_parts(counts)
    if len(parts) and not np.isnan(parts[0]):
        most = int(parts.argmax())
        attribute = outcomes.attributes[int(numbers[most])][1]
        of_most = {**keys, "attribute": attribute}
        yield figure("largest_attribute", of_most, float(parts[most]), "share", len(counts), of=NAME)


def _wordings(outcomes: Outcomes, counts: AttributeCounts, rows: Bools, keys: dict[str, str]) -> Iterator[Figure]:
    """Variation over sentences of one attribute: attributes on which they disagree, and the spread of margins."""
    several = counts.take(counts.pairs > 1)
    split = (several.chosen > 0) & (several.chosen < several.pairs)
    value = float(split.mean()) if len(several) else None
    yield figure("split_attributes", keys, value, "share", len(several), len(counts) - len(several), of=NAME)
    known = rows & ~np.isnan(outcomes.margin)
    if not known.any():
        return
    margin, attribute = outcomes.margin[known], outcomes.attribute[known]
    within, between = spreads(margin, attribute)
    _, code = np.unique(attribute, return_inverse=True)
    mean = float((np.bincount(code, margin) / np.bincount(code)).mean())
    n, missing = len(margin), int(rows.sum()) - len(margin)
    yield figure("mean_margin", keys, mean, f"{NATS} difference", n, missing, of=NAME)
    yield figure("wording_spread", keys, within, NATS, n, missing, of=NAME)
    yield figure("attribute_spread", keys, between, NATS, n, missing, of=NAME)


def _template_correlation(outcomes: Outcomes) -> Figure:
    """Spearman's rank correlation over specifications of the scores on templates and on other sentences."""
    from scipy.stats import spearmanr

    template = np.array([source == TEMPLATE for source in outcomes.source], bool)
    pairs = []
    for i in range(len(outcomes.specifications)):
        both = [outcomes.counts(outcomes.of(i) & outcomes.people & kind)[0].mean for kind in (template, ~template)]
        if both[0] is not None and both[1] is not None:
            pairs.append(both)
    values = np.array(pairs, float).reshape(-1, 2)
    defined = len(values) >= 3 and all(len(np.unique(values[:, side])) > 1 for side in (0, 1))
    found = spearmanr(values[:, 0], values[:, 1]) if defined else None
    return figure(
        "template_correlation",
        {},
        float(found.statistic) if found else None,
        "rank correlation",
        len(values),
        p_value=float(found.pvalue) if found else None,
        of=NAME,
    )


DRAWS = 2000
"""Draws of the two-level bootstrap."""
ORDERS = ("offered_first", "orders_agree")
"""Columns of a forced choice: whether each answer chose the sentence offered first (a mean of both orders), and
whether both orders chose the same sentence."""


def stereotype_figures(table: pa.Table, settings: MeasureSettings | None) -> list[Figure]:
    """All figures of a table of pairs with outcomes; without settings no intervals and no p-values of attributes."""
    outcomes = read_outcomes(table)
    figures = [
        *_scores(outcomes, settings),
        *_shares(outcomes),
        *_attributes(outcomes),
        *_sources(outcomes, settings),
        *trust_figures(outcomes, settings),
        *_order_figures(table, outcomes),
        *_rejected(table),
    ]
    if set(TERM_SCORES) <= set(table.column_names):
        figures += _term_scores(table, settings)
    return figures


def score_figure(
    outcomes: Outcomes, rows: Bools, keys: dict[str, str], settings: MeasureSettings | None, name: str = NAME
) -> Figure:
    """The mean over attributes of the share of pairs, with its interval and its test over attributes."""
    counts, _ = outcomes.counts(rows)
    interval, p_value = None, None
    if settings is not None and len(counts):
        rng = np.random.default_rng(settings.seed)
        interval, p_value = mean_interval(counts, DRAWS, rng), attribute_test(counts, rng)
    return figure(
        name,
        keys,
        counts.mean,
        "share",
        int(counts.pairs.sum()),
        int((rows & (outcomes.state == MISSING)).sum()),
        interval=interval,
        p_value=p_value,
    )


def _scores(outcomes: Outcomes, settings: MeasureSettings | None) -> Iterator[Figure]:
    """The score of each specification, corrected p-values of all but controls, and the score over all attributes."""
    found = []
    for i, name in enumerate(outcomes.specifications):
        rows = outcomes.of(i) & outcomes.main
        found.append(score_figure(outcomes, rows, {"specification": name}, settings))
        ties = int((rows & (outcomes.state == TIE)).sum())
        yield found[-1]
        yield figure("ties", found[-1].keys, ties, "count", int(rows.sum()), of=NAME)
    yield from corrected(of_people(found, outcomes), holm)
    yield score_figure(outcomes, outcomes.main & outcomes.people, {}, settings)


def of_people(figures: Sequence[Figure], outcomes: Outcomes) -> list[Figure]:
    """The figures of specifications except controls: only these are tests of a model."""
    return [f for f in figures if f.keys["specification"] not in outcomes.controls]


def _shares(outcomes: Outcomes) -> Iterator[Figure]:
    """The share over all pairs of a specification, with the exact binomial test."""
    found = []
    for i, name in enumerate(outcomes.specifications):
        rows = outcomes.of(i) & outcomes.main
        pairs = int((rows & outcomes.counted).sum())
        chosen = int((rows & (outcomes.state == STEREOTYPE)).sum())
        tested = binomial_test(chosen, pairs)
        missing = int((rows & (outcomes.state == MISSING)).sum())
        p_value, interval = tested or (None, None)
        value = chosen / pairs if pairs else None
        keys = {"specification": name}
        found.append(figure("share", keys, value, "share", pairs, missing, interval=interval, p_value=p_value, of=NAME))
    yield from found
    yield from corrected(of_people(found, outcomes), holm)


def _attributes(outcomes: Outcomes) -> Iterator[Figure]:
    """The share of each attribute."""
    rows = outcomes.main
    size = len(outcomes.attributes)
    counted = np.bincount(outcomes.attribute[rows & outcomes.counted], minlength=size)
    chosen = np.bincount(outcomes.attribute[rows & (outcomes.state == STEREOTYPE)], minlength=size)
    missing = np.bincount(outcomes.attribute[rows & (outcomes.state == MISSING)], minlength=size)
    asked = np.bincount(outcomes.attribute[rows], minlength=size)
    for i, (specification, attribute) in enumerate(outcomes.attributes):
        if asked[i]:
            keys = {"specification": outcomes.specifications[specification], "attribute": attribute}
            value = chosen[i] / counted[i] if counted[i] else None
            yield figure("attribute_share", keys, value, "share", int(counted[i]), int(missing[i]), of=NAME)


def _sources(outcomes: Outcomes, settings: MeasureSettings | None) -> Iterator[Figure]:
    """The score of each specification on templates, on generated and on imported sentences."""
    sources = dict.fromkeys(source for source in outcomes.source if source)
    for i, name in enumerate(outcomes.specifications):
        for source in sources:
            rows = outcomes.of(i) & np.array([own == source for own in outcomes.source], bool)
            if rows.any():
                yield score_figure(outcomes, rows, {"specification": name, "source": source}, settings)


def _term_scores(table: pa.Table, settings: MeasureSettings | None) -> Iterator[Figure]:
    """The score by the likelihood of the changed words alone, for masked models."""
    outcomes = read_outcomes(table, TERM_SCORES)
    for i, name in enumerate(outcomes.specifications):
        rows = outcomes.of(i) & outcomes.main
        yield score_figure(outcomes, rows, {"specification": name}, settings, "term_score")


def _order_figures(table: pa.Table, outcomes: Outcomes) -> Iterator[Figure]:
    """Order effects of a forced choice: how often the first sentence is chosen, and how often both orders agree."""
    for column in ORDERS:
        if column not in table.column_names:
            continue
        values = table[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
        for i, name in enumerate(outcomes.specifications):
            rows = outcomes.of(i) & outcomes.main
            known = rows & ~np.isnan(values)
            value = float(values[known].mean()) if known.any() else None
            n = int(known.sum())
            yield figure(column, {"specification": name}, value, "share", n, int(rows.sum()) - n, of=NAME)


def _rejected(table: pa.Table) -> Iterator[Figure]:
    """The pairs that could not be converted, by the rule that rejected them."""
    if "rule" not in table.column_names:
        return
    names = table["specification"].to_pylist()
    rules = Counter((name, rule) for name, rule in zip(names, table["rule"].to_pylist(), strict=True) if rule)
    asked = Counter(names)
    for (name, rule), count in rules.items():
        yield figure("rejected", {"specification": name, "rule": rule}, count, "count", asked[name])
