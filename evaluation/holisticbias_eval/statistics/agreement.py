"""Agreement of raters on items, its interval and its floor, and moderated tests of the means of items."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import digamma, polygamma

from holisticbias_eval.arrays import Floats, divide
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import t_margin
from holisticbias_eval.statistics.tests import permuted_p, student_p


@dataclass(frozen=True, slots=True)
class ProductSums:
    """Sums over the items of one group; the sums of several groups add up to those of all.

    ``products`` has for every two raters the sum over items of the product of
    their values, averaged over two different repeats: shape ``[raters, raters]``,
    zero on the diagonal. ``influence`` is how much each repeat of each rater
    moves the sum of ``products``: ``[raters, repeats]``. ``squares`` is the sum
    of squares of the raters' means about their mean over items, ``squared_sums``
    that of the sum over raters. The last two fields are the sum of ``products``
    and the ``squared_sums`` for each permutation.
    """

    freedom: int
    products: Floats
    influence: Floats
    squares: float
    squared_sums: float
    permuted_products: Floats
    permuted_squared_sums: Floats

    def __add__(self, other: "ProductSums") -> "ProductSums":
        """Add the sums of another group with the same raters and repeats."""
        return ProductSums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


def sum_products(values: Floats, permutations: int, rng: np.random.Generator) -> ProductSums | None:
    """Sum the products of the raters' values; ``None`` with fewer than two raters, items or repeats.

    ``values`` has shape ``[raters, items, repeats]`` and is centred over items;
    missing values are NaN, and every item has at least two repeats of each rater.
    Each permutation shuffles the items of each rater by itself: that removes
    agreement and keeps the spread of each rater.
    """
    raters, items, repeats = values.shape
    if min(raters, items, repeats) < 2:
        return None
    known, filled = (~np.isnan(values)).astype(float), np.nan_to_num(values)
    counts = known.sum(axis=2)
    means = filled.sum(axis=2) / counts
    shuffled = rng.permuted(np.tile(np.arange(items), (permutations, raters, 1)), axis=2)
    products, permuted = np.zeros((raters, raters)), np.zeros(permutations)
    for p, q in itertools.combinations(range(raters), 2):
        crossed = _crossed(filled[p], filled[q], known[p], known[q])
        products[p, q] = products[q, p] = np.trace(crossed)
        permuted += 2 * crossed[shuffled[:, p], shuffled[:, q]].sum(axis=1)
    permuted_sums = np.stack([means[p][shuffled[:, p]] for p in range(raters)]).sum(axis=0)
    deviations = known * (filled - means[:, :, None]) / counts[:, :, None]
    return ProductSums(
        freedom=items - 1,
        products=products,
        influence=2 * np.einsum("pdn,pd->pn", deviations, means.sum(axis=0) - means),
        squares=float(items * means.var(axis=1).sum()),
        squared_sums=float(items * means.sum(axis=0).var()),
        permuted_products=permuted,
        permuted_squared_sums=items * permuted_sums.var(axis=1),
    )


def _crossed(one: Floats, other: Floats, one_known: Floats, other_known: Floats) -> Floats:
    """The mean product of an item of one rater and an item of another over two different repeats: ``[items, items]``.

    Products of the same repeat are left out: the effect of a repeat on an item for
    all raters is not agreement about the item.
    """
    sums = np.outer(one.sum(axis=1), other.sum(axis=1)) - one @ other.T
    counts = np.outer(one_known.sum(axis=1), other_known.sum(axis=1)) - one_known @ other_known.T
    return sums / counts


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of raters.

    ``covariance`` is the mean covariance of two raters over items, with a 95%
    interval over raters and repeats (``None`` with fewer than three raters);
    ``without`` is that mean without each rater in turn: ``[raters]``, empty with
    fewer than three. ``alpha`` is Cronbach's; ``None`` if the sum over raters does not vary. The
    ``permuted`` values have shape ``[permutations]``.
    """

    covariance: float
    interval: Interval | None
    without: Floats
    alpha: float | None
    permuted: Floats
    permuted_alpha: Floats

    @property
    def p_value(self) -> float:
        """The share of permutations, the observed order among them, whose covariance is as large (one-sided)."""
        return float(permuted_p(np.array(self.covariance), self.permuted))


def estimate_agreement(sums: ProductSums) -> Agreement:
    """Estimate the shared covariance and Cronbach's alpha (Cronbach 1951)."""
    raters = len(sums.products)
    terms = raters * (raters - 1) * sums.freedom
    squared = np.array([sums.squared_sums, *sums.permuted_squared_sums])
    alphas = raters / (raters - 1) * (1 - divide(np.full_like(squared, sums.squares), squared))
    without = np.zeros(0)
    if raters > 2:
        without = (sums.products.sum() - 2 * sums.products.sum(axis=0)) / (terms / raters * (raters - 2))
    return Agreement(
        covariance=float(sums.products.sum() / terms),
        interval=_agreement_interval(sums, without) if raters > 2 else None,
        without=without,
        alpha=None if np.isnan(alphas[0]) else float(alphas[0]),
        permuted=sums.permuted_products / terms,
        permuted_alpha=alphas[1:],
    )


def _agreement_interval(sums: ProductSums, without: Floats) -> Interval:
    """Student's t interval of the covariance over raters and repeats.

    The variance between raters is by the jackknife. Without agreement it is up
    to four times too large, as the jackknife is for products of two draws: the
    interval then covers too often, never too rarely. The variance between
    repeats, from their influence, is added; the degrees of freedom are those of
    Satterthwaite (1946).
    """
    raters, repeats = sums.influence.shape
    between = (raters - 1) / raters * float(((without - without.mean()) ** 2).sum())
    terms = raters * (raters - 1) * sums.freedom
    influence = sums.influence.sum(axis=0) / terms
    shared = repeats / (repeats - 1) * float((influence**2).sum())
    margin = t_margin(np.array(between), np.array(raters - 1.0), np.array(shared), np.array(repeats - 1.0))[1]
    mean = sums.products.sum() / terms
    return Interval(low=float(mean - margin), high=float(mean + margin))


def signed_root(values: Floats) -> Floats:
    """The square root of the magnitude, with the sign kept: a covariance as a standard deviation."""
    return np.sign(values) * np.sqrt(np.abs(values))


def rooted(low: float, high: float) -> Interval:
    """The ends of an interval as signed roots."""
    low, high = signed_root(np.array([low, high])).tolist()
    return Interval(low=low, high=high)


_SMALLEST = 1e-5


@dataclass(frozen=True, slots=True)
class RaterMeans:
    """Means over raters and repeats with 95% intervals and two-sided p-values of "not zero": ``[items]`` each.

    An interval or p-value is NaN where nothing varies, or with fewer than three raters or two repeats.
    """

    mean: Floats
    low: Floats
    high: Floats
    p_value: Floats


def estimate_means(groups: Sequence[Floats]) -> list[RaterMeans]:
    """Estimate the mean of each item of each group, over raters and repeats.

    ``groups`` have shape ``[raters, items, repeats]``, NaN if missing.

    The variance of a mean has two parts. Between raters, it is that of the
    item's own raters, moderated: drawn towards the variance of its group, more
    strongly the more alike the variances of all items are. With three raters an
    item's own variance says little, and that of the group alone would let a
    single rater decide. Between repeats, it is that of the item's means over
    raters. Noise of single values is in both parts, so the intervals are too
    wide where that noise is most of the variance.
    """
    means = [np.nanmean(group, axis=2) for group in groups]
    few = [i for i, group in enumerate(groups) if group.shape[0] < 3 or group.shape[1] < 2 or group.shape[2] < 2]
    tested = [i for i in range(len(groups)) if i not in few]
    variances = moderate([means[i].var(axis=0, ddof=1) for i in tested], [len(means[i]) - 1 for i in tested])
    found = dict(zip(tested, variances, strict=True))
    return [_means(groups[i], mean.mean(axis=0), *found.get(i, (None, None))) for i, mean in enumerate(means)]


def _means(group: Floats, mean: Floats, variance: Floats | None, freedom: Floats | None) -> RaterMeans:
    unknown = np.full(len(mean), np.nan)
    if variance is None or freedom is None:
        return RaterMeans(mean, unknown, unknown, unknown)
    raters = len(group)
    known = (~np.isnan(group)).sum(axis=0)
    by_repeat = np.nansum(group, axis=0) / np.where(known > 0, known, np.nan)
    repeats = (known > 0).sum(axis=1)
    shared = np.nanvar(by_repeat, axis=1, ddof=1) / repeats
    degrees, margin = t_margin(variance / raters, freedom, shared, repeats - 1.0)
    error = np.sqrt(variance / raters + shared)
    p = student_p(divide(mean, error), degrees)
    varies = error > 0
    return RaterMeans(mean, *(np.where(varies, x, np.nan) for x in (mean - margin, mean + margin, p)))


def moderate(variances: Sequence[Floats], freedom: Sequence[int]) -> list[tuple[Floats, Floats]]:
    """Draw the variances of items towards their group's variance; return variances and degrees of freedom.

    Each group has its own variance; how alike the items of a group are
    (``prior``, in degrees of freedom) is estimated over all groups, from the
    variance of the logarithms within groups.
    """
    floored = [np.maximum(v, _SMALLEST * np.median(v[v > 0])) if (v > 0).any() else v for v in variances]
    varied = [i for i, v in enumerate(floored) if (v > 0).all()]
    logs = {i: np.log(floored[i]) for i in varied}
    prior = _prior([logs[i] for i in varied], [freedom[i] for i in varied])
    found = []
    for i, (own, degrees) in enumerate(zip(floored, freedom, strict=True)):
        most = degrees * (len(own) - 1.0)
        if i not in logs or np.isinf(prior):
            drawn, total = np.full(len(own), own.mean()), most
        else:
            typical = np.exp(logs[i].mean() - _log_bias(degrees) + _log_bias(prior))
            drawn, total = (prior * typical + degrees * own) / (prior + degrees), min(prior + degrees, most)
        found.append((drawn, np.full(len(own), total)))
    return found


def _prior(logs: Sequence[Floats], freedom: Sequence[int]) -> float:
    """Degrees of freedom of the variances' own distribution; infinite if they differ no more than by chance."""
    known = sum(len(group) - 1 for group in logs)
    if not known:
        return np.inf
    spread = sum(float(((group - group.mean()) ** 2).sum()) for group in logs)
    chance = sum((len(group) - 1) * float(polygamma(1, d / 2)) for group, d in zip(logs, freedom, strict=True))
    excess = (spread - chance) / known
    return 2 * _inverse_trigamma(excess) if excess > 0 else np.inf


def _log_bias(freedom: float) -> float:
    """The expected logarithm of a variance estimate minus the logarithm of the variance."""
    return float(digamma(freedom / 2) - np.log(freedom / 2))


def _inverse_trigamma(value: float) -> float:
    """The argument at which the trigamma function has a value, by Newton's method on its reciprocal."""
    found = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(polygamma(1, found))
        step = trigamma * (1 - trigamma / value) / float(polygamma(2, found))
        found += step
        if abs(step) < 1e-8 * found:
            break
    return found
