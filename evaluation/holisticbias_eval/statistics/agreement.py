"""Agreement of raters on items: the covariance that they share, its interval, and its floor.

Here a rater is a pair of templates, an item is a descriptor, and a repeat is a noun.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Interval
from holisticbias_eval.statistics.intervals import t_margin


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over the items of one group; the sums of several groups add up to those of all.

    ``products`` has for every two raters the sum over items of the product of
    their values, averaged over two different repeats: shape ``[raters, raters]``,
    zero on the diagonal. ``influence`` is how much each repeat of each rater
    moves the sum of ``products``: ``[raters, repeats]``. ``squares`` is the sum
    of the raters' squared means, ``squared_sums`` that of the squared sum over
    raters. The last two fields are the sum of ``products`` and the
    ``squared_sums`` for each permutation.
    """

    items: int
    freedom: int
    products: Floats
    influence: Floats
    squares: float
    squared_sums: float
    permuted_products: Floats
    permuted_squared_sums: Floats

    def __add__(self, other: Sums) -> Sums:
        """Add the sums of another group with the same raters and repeats."""
        return Sums(
            self.items + other.items,
            self.freedom + other.freedom,
            self.products + other.products,
            self.influence + other.influence,
            self.squares + other.squares,
            self.squared_sums + other.squared_sums,
            self.permuted_products + other.permuted_products,
            self.permuted_squared_sums + other.permuted_squared_sums,
        )


def sum_products(values: Floats, permutations: int, rng: np.random.Generator) -> Sums | None:
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
    deviations = known * (filled - means[:, :, None]) / counts[:, :, None]
    return Sums(
        items=items,
        freedom=items - 1,
        products=products,
        influence=2 * np.einsum("pdn,pd->pn", deviations, means.sum(axis=0) - means),
        squares=float((means**2).sum()),
        squared_sums=float((means.sum(axis=0) ** 2).sum()),
        permuted_products=permuted,
        permuted_squared_sums=(np.stack([means[p][shuffled[:, p]] for p in range(raters)]).sum(axis=0) ** 2).sum(
            axis=1
        ),
    )


def _crossed(one: Floats, other: Floats, one_known: Floats, other_known: Floats) -> Floats:
    """The mean product of an item of one rater and an item of another over two different repeats: ``[items, items]``.

    Products of the same repeat are left out: the effect of a repeat on an item for
    all raters is not agreement about the item.
    """
    sums = np.outer(one.sum(axis=1), other.sum(axis=1)) - one @ other.T
    counts = np.outer(one_known.sum(axis=1), other_known.sum(axis=1)) - one_known @ other_known.T
    mean: Floats = sums / counts
    return mean


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
        return float((1 + (self.permuted >= self.covariance).sum()) / (1 + len(self.permuted)))


def estimate_agreement(sums: Sums) -> Agreement:
    """Estimate the shared covariance and Cronbach's alpha (Cronbach 1951)."""
    raters = len(sums.products)
    terms = raters * (raters - 1) * sums.freedom
    alphas = _alpha(sums.squares, np.array([sums.squared_sums, *sums.permuted_squared_sums]), raters)
    return Agreement(
        covariance=float(sums.products.sum() / terms),
        interval=_interval(sums) if raters > 2 else None,
        without=_without_each_rater(sums),
        alpha=None if np.isnan(alphas[0]) else float(alphas[0]),
        permuted=sums.permuted_products / terms,
        permuted_alpha=alphas[1:],
    )


def _alpha(squares: float, squared_sums: Floats, raters: int) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        alpha: Floats = raters / (raters - 1) * (1 - squares / squared_sums)
    return np.where(squared_sums > 0, alpha, np.nan)


def _interval(sums: Sums) -> Interval:
    """Student's t interval of the covariance over raters and repeats.

    The variance between raters is by the jackknife. Without agreement it is up
    to four times too large, as the jackknife is for products of two draws: the
    interval then covers too often, never too rarely. The variance between
    repeats, from their influence, is added; the degrees of freedom are those of
    Satterthwaite (1946).
    """
    raters, repeats = sums.influence.shape
    without = _without_each_rater(sums)
    between = (raters - 1) / raters * float(((without - without.mean()) ** 2).sum())
    influence = sums.influence.sum(axis=0) / (raters * (raters - 1) * sums.freedom)
    shared = repeats / (repeats - 1) * float((influence**2).sum())
    margin = t_margin(np.array(between), np.array(raters - 1.0), np.array(shared), np.array(repeats - 1.0))[1]
    mean = sums.products.sum() / (raters * (raters - 1) * sums.freedom)
    return Interval(low=float(mean - margin), high=float(mean + margin))


def _without_each_rater(sums: Sums) -> Floats:
    """The mean covariance of the other raters, without each rater in turn."""
    raters = len(sums.products)
    if raters < 3:
        return np.zeros(0)
    without: Floats = sums.products.sum() - 2 * sums.products.sum(axis=0)
    return without / ((raters - 1) * (raters - 2) * sums.freedom)


def signed_root(values: Floats) -> Floats:
    """The square root of the magnitude, with the sign kept: a covariance as a standard deviation."""
    root: Floats = np.sign(values) * np.sqrt(np.abs(values))
    return root
