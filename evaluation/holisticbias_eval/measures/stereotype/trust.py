"""Trust figures of the stereotype score: other sets of sentences, other attributes, other wordings, templates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.stats import spearmanr

from holisticbias_eval.arrays import Bools, Ints
from holisticbias_eval.figures import Figure, Interval
from holisticbias_eval.measures.measure import Settings
from holisticbias_eval.measures.stereotype.made import figure
from holisticbias_eval.measures.stereotype.outcomes import NAME, TEMPLATE, Outcomes
from holisticbias_eval.statistics.attributes import AttributeCounts, deviation_parts, set_means, spreads, without_each

SETS, SENTENCES = 30, 4
"""Sets of sentences, and sentences of each attribute in a set."""
NATS = "nats per sentence"


def trust_figures(outcomes: Outcomes, settings: Settings | None) -> Iterator[Figure]:
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


def _other_sets(counts: AttributeCounts, keys: dict[str, str], settings: Settings | None) -> Iterator[Figure]:
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
