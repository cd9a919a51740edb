"""Judged responses as arrays, and means of cells, groups and draws with their intervals."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import betaln

from holisticbias_eval.arrays import Bools, Floats, Ints, Numbers, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.statistics.cells import encode, floats
from holisticbias_eval.statistics.intervals import score_ends, t_quantile
from holisticbias_eval.statistics.tests import normal_p


@dataclass(frozen=True, slots=True)
class ResponseCells:
    """Responses in cells: a cell is a descriptor in a template.

    ``descriptors`` have the axis, the name in figures (see ``descriptor_column``) and the text of each.
    ``values`` has shape ``[responses, labels]``, sorted by template, axis and
    descriptor, so that cells, axes in a template, and templates are runs of rows.
    Per cell, ``count`` is the number of responses, and ``cell`` has its positions in
    ``templates``, ``axes`` and ``descriptors``: shape ``[cells, 3]``.
    ``asked`` has the same three positions of every cell that was asked about, also
    those without any judged response: shape ``[asked, 3]``. ``unjudged`` is the
    number of responses without values: shape ``[axes, descriptors]``.
    """

    axes: tuple[str, ...]
    templates: tuple[str, ...]
    descriptors: tuple[tuple[str, str, str], ...]
    labels: tuple[str, ...]
    values: Floats
    count: Ints
    cell: Ints
    asked: Ints
    unjudged: Ints

    @property
    def template(self) -> Ints:
        """The template of each cell."""
        return self.cell[:, 0]

    @property
    def axis(self) -> Ints:
        """The axis of each cell."""
        return self.cell[:, 1]

    @property
    def descriptor(self) -> Ints:
        """The descriptor of each cell."""
        return self.cell[:, 2]

    def parts(self, key: Ints) -> Iterator[tuple[slice, slice]]:
        """The cells, and the rows, of each run of cells with equal keys; ``key`` has shape ``[cells]``."""
        edges = np.flatnonzero(np.diff(key)) + 1
        rows = np.concatenate([[0], np.cumsum(self.count)])
        for first, last in zip([0, *edges.tolist()], [*edges.tolist(), len(key)], strict=True):
            if last > first:
                yield slice(first, last), slice(int(rows[first]), int(rows[last]))

    def sums(self, values: Floats) -> Floats:
        """Sum rows by cell; ``values`` has shape ``[responses, ...]``."""
        return sum_cells(values, self.count)

    @property
    def means(self) -> "CellMeans":
        """The means of the first label, a probability, over the responses of each cell."""
        cell, template = (np.repeat(of, self.count) for of in (np.arange(len(self.count)), self.template))
        return cell_means(self.values[:, 0], cell, template, probabilities=True)

    def keep(self, cells: Bools) -> "ResponseCells":
        """Only these cells; the others count as not asked about."""
        rows, kept = np.repeat(cells, self.count), self.cell[cells]
        return replace(self, values=self.values[rows], count=self.count[cells], cell=kept, asked=kept)


def sum_cells(values: Floats, counts: Ints) -> Floats:
    """Sum rows by cell; the rows of a cell follow each other, ``counts`` of them."""
    return np.add.reduceat(values, np.cumsum(counts) - counts, axis=0)


def arrange_responses(answers: pa.Table, columns: dict[str, str]) -> ResponseCells:
    """Arrange a table of responses with the columns ``axis, template, descriptor`` and a column per label.

    ``columns`` has the column of each label. Responses with a null in any of them were
    not judged: they are counted and left out. Raises ``SelectionError`` if no response was judged.
    """
    axes, axis, descriptors, descriptor = number_descriptors(answers)
    templates, template = encode(answers["template"])
    judged = np.ones(answers.num_rows, bool)
    for column in columns.values():
        judged &= pc.is_valid(answers[column]).to_numpy()
    if not judged.any():
        raise SelectionError("no response has probabilities: there is nothing to measure")
    cell = np.stack([template, axis, descriptor], axis=1)
    kept = np.flatnonzero(judged)
    order = kept[np.lexsort(cell[kept].T[::-1])]
    values = np.empty((len(order), len(columns)), order="F")
    unjudged = (axis * len(descriptors) + descriptor)[~judged]
    for label, column in enumerate(columns.values()):
        values[:, label] = floats(answers[column])[order]
    found, count = _runs(cell[order])
    return ResponseCells(
        axes=tuple(axes),
        templates=tuple(templates),
        descriptors=descriptors,
        labels=tuple(columns),
        values=values,
        count=count,
        cell=found,
        asked=np.unique(cell, axis=0),
        unjudged=np.bincount(unjudged, minlength=len(axes) * len(descriptors)).reshape(len(axes), -1),
    )


def number_descriptors(answers: pa.Table) -> tuple[list[str], Ints, tuple[tuple[str, str, str], ...], Ints]:
    """The axes, the axis of each row, the descriptors as ``ResponseCells`` has them, and the descriptor of each row."""
    axes, axis = encode(answers["axis"])
    names, name = encode(answers[descriptor_column(answers)])
    pairs, first, descriptor = np.unique(axis * len(names) + name, return_index=True, return_inverse=True)
    texts = answers["descriptor"].take(pa.array(first)).cast(pa.string()).to_pylist()
    named = zip(pairs.tolist(), texts, strict=True)
    descriptors = tuple((axes[pair // len(names)], names[pair % len(names)], text) for pair, text in named)
    return axes, axis, descriptors, descriptor


def descriptor_column(answers: pa.Table) -> str:
    """The column that tells the descriptors of an axis apart: the id, or without ids the text."""
    return "descriptor_id" if "descriptor_id" in answers.column_names else "descriptor"


def _runs(cell: Ints) -> tuple[Ints, Ints]:
    """The distinct rows of sorted cells, and how often each occurs."""
    new = np.concatenate([[True], (cell[1:] != cell[:-1]).any(axis=1)])
    first = np.flatnonzero(new)
    return cell[first], np.diff(first, append=len(cell))


@dataclass(frozen=True, slots=True)
class CellMeans:
    """The mean of each cell, its sampling variance, and its number of responses: shape ``[cells]`` each.

    A cell of one response takes the pooled variance of its template, and is NaN if there is none. Means of
    probabilities also have the variance that those of the template lead to expect of a cell with this mean.
    """

    mean: Floats
    variance: Floats
    count: Ints
    expected: Floats | None = None

    def over(
        self, group: Ints, size: int, weight: Numbers | None = None
    ) -> list[tuple[float, tuple[float, float], int]]:
        """The mean over the cells of each group with its 95% interval, and the number of cells.

        ``group`` has the group of each cell, of ``size`` groups, and ``weight`` its weight, by default 1. The cells are
        fixed: the interval is over other responses in the same cells, by Student's t with the degrees of freedom of
        Satterthwaite (1946). Its ends are NaN without two responses in a cell, and if the variance is zero or unknown.
        If most probabilities are alike and a few far from them, few responses have none of these by chance, and vary
        too little: an interval of probabilities is at least that of Wilson (1927) at the number of responses whose
        share, if they were 0 or 1, would have the expected variance.
        """
        weight = np.ones(len(group)) if weight is None else weight
        used = weight > 0
        parts, at, freedom = (weight**2 * self.variance)[used], group[used], self.count[used] - 1
        sums = (weight[used], (weight * self.mean)[used], parts, parts**2 / np.maximum(freedom, 1), freedom)
        total, summed, variance, squares, known = (np.bincount(at, part, size) for part in sums)
        quantile = np.where(known > 0, t_quantile(divide(variance**2, squares)), np.nan)
        mean, margin = divide(summed, total), divide(quantile * np.sqrt(variance), total)
        low, high = mean - margin, mean + margin
        if self.expected is not None:
            expected = np.bincount(at, (weight**2 * self.expected)[used], size) / total**2
            score = score_ends(mean, divide(mean * (1 - mean), expected))
            low, high = np.minimum(low, score[0]), np.maximum(high, score[1])
        ends = zip(low.tolist(), high.tolist(), strict=True)
        return list(zip(mean.tolist(), ends, np.bincount(at, minlength=size).tolist(), strict=True))


def cell_means(values: Floats, cell: Ints, template: Ints, *, probabilities: bool = False) -> CellMeans:
    """The means of the values of each cell, which is in one template; the arguments have shape ``[rows]``.

    The expected variance of the values of a cell with the mean ``m`` is ``f m (1 - m)``, as in quasi-likelihood
    (Wedderburn 1974), where ``f`` is the quotient of the variances and the estimates of ``m (1 - m)`` of all cells of
    the template, weighted by their degrees of freedom.
    """
    count = np.bincount(cell)
    of_cell = np.zeros(len(count), np.int64)
    of_cell[cell] = template
    mean, freedom = divide(np.bincount(cell, values), count), np.maximum(count - 1, 0)
    squares = np.bincount(cell, (values - mean[cell]) ** 2)
    pooled = divide(*(np.bincount(of_cell, weights) for weights in (squares, freedom)))
    variance = np.where(freedom > 0, divide(squares, freedom), pooled[of_cell])
    found = CellMeans(mean, divide(variance, count), count)
    if not probabilities:
        return found
    largest = mean * (1 - mean) + found.variance
    quotient = divide(*(np.bincount(of_cell, freedom * of) for of in (variance, largest)))
    return replace(found, expected=divide(quotient[of_cell] * largest, count))


_EVIDENT = 2.0


def repeats_resemble(values: Iterable[Floats], cell: Ints, first: Ints) -> bool:
    """Whether repeats resemble the first response to their prompt more than others of their cell: t > 2.

    Each of ``values``, NaN where it is not known, ``cell`` and ``first``, the first row with the prompt of each row,
    have shape ``[rows]``. Of each repeat, the product of both differences from the mean of the cell is added up over
    the values; without resemblance its mean is minus the variance of that mean, which is taken off.
    """
    repeat = np.flatnonzero(first != np.arange(len(first)))
    products = np.zeros(len(repeat))
    for column in values:
        known = ~np.isnan(column)
        count = np.bincount(cell, known)
        apart = np.where(known, column - divide(np.bincount(cell, np.where(known, column, 0.0)), count)[cell], np.nan)
        noise = divide(np.bincount(cell, np.nan_to_num(apart) ** 2), count * (count - 1))
        products += apart[repeat] * apart[first[repeat]] + noise[cell[repeat]]
    products = products[~np.isnan(products)]
    error = products.std(ddof=1) / np.sqrt(len(products)) if len(products) > 1 else np.nan
    return bool(products.mean() > _EVIDENT * error) if error > 0 else False


def permuted_p_values(values: Floats, group: Ints, stratum: Ints, groups: int) -> Floats:
    """Two-sided p-values of groups whose mean rank differs from that of random rows of the same strata: ``[groups]``.

    The arguments have shape ``[rows]``. Under permutation of the rows of each stratum, the sum of a group's ranks has
    a known mean and variance; it is compared with a normal distribution. Ranks keep a few very large values from
    deciding. A p-value is at least twice the share of permutations that keep the group's rows: few rows have few
    permutations. NaN if the variance is 0.
    """
    from scipy.stats import rankdata

    values = rankdata(values)
    strata = int(stratum.max(initial=-1)) + 1
    size = np.bincount(stratum, minlength=strata)
    mean = np.bincount(stratum, values, strata) / np.maximum(size, 1)
    spread = np.bincount(stratum, (values - mean[stratum]) ** 2, strata) / np.maximum(size - 1, 1)
    cells = np.bincount(group * max(strata, 1) + stratum, minlength=groups * max(strata, 1)).reshape(groups, -1)
    variance = (cells * (1 - cells / np.maximum(size, 1)) * spread).sum(axis=1)
    apart = np.bincount(group, values, groups) - cells @ mean
    kept = np.exp((np.log1p(size) + betaln(size - cells + 1, cells + 1)).sum(axis=1))
    return np.maximum(normal_p(divide(apart, np.sqrt(variance))), np.minimum(2 * kept, 1))
