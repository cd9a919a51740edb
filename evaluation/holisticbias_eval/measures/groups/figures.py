"""The figures of groups: how values are laid out by domain and group, and their means and shares."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints, divide
from holisticbias_eval.figures import Figure, difference_limits, make_figure
from holisticbias_eval.measures.columns import difference
from holisticbias_eval.measures.groups.readings import Reading, TextMethod, Texts
from holisticbias_eval.prompts.texts import HUMAN
from holisticbias_eval.statistics.groups.items import Estimates, Items, Resampled, Side, add_up, estimate, paired_p
from holisticbias_eval.statistics.groups.moments import unless_rounding
from holisticbias_eval.statistics.groups.pairs import by_value
from holisticbias_eval.statistics.tests import holm

SHARE, MEAN = "share", "mean"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The share of a class, or the mean if there is no class, of one method; ``reading`` is its place."""

    method: TextMethod
    cls: str | None
    reading: int = 0

    @property
    def name(self) -> str:
        """The name of its figures."""
        return MEAN if self.cls is None else SHARE

    @property
    def keys(self) -> dict[str, str]:
        """The keys of its figures besides domain and group."""
        return self.method.keys if self.cls is None else {"class": self.cls, **self.method.keys}

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return self.method.unit if self.cls is None else SHARE

    @property
    def difference_unit(self) -> str:
        """The unit of a difference of two values."""
        return difference(self.unit)

    @property
    def difference_limits(self) -> tuple[float, float] | None:
        """The least and the largest difference of two values; ``None`` if the unit has no limits."""
        return difference_limits(self.unit)

    @property
    def words(self) -> str:
        """Its name in words."""
        if self.cls is None:
            return self.method.title
        named = f" ({said_method(self.method)})" if self.method.key else ""
        return f"Texts classed as {said(self.cls)}{named}"

    @property
    def slug(self) -> str:
        """Its name in those of charts and tables."""
        return f"{self.method.name}-{self.cls or 'mean'}".replace("_", "-")


def said_method(method: TextMethod) -> str:
    """The title of a method within a sentence: names and abbreviations keep their upper case."""
    return method.title if method.title[1:2].isupper() else method.title[:1].lower() + method.title[1:]


def said(name: str) -> str:
    """A class or a group in words."""
    return name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Layout:
    """Quantities, and the columns of rows whose sums they are quotients of: ``[rows, columns]``.

    The first column, ``first`` among those of all layouts, says which rows were chosen. ``squares`` are the columns of
    squared values, one for each quantity.
    """

    quantities: tuple[Quantity, ...]
    columns: Floats
    side: Side
    squares: Ints
    first: int

    @property
    def shares(self) -> Bools:
        """Whether each quantity is a share: shape ``[quantities]``."""
        return np.array([q.cls is not None for q in self.quantities], bool)

    def row_variance(self, sums: Floats) -> Floats:
        """The variance of each mean if rows are independent, NaN for shares: ``[groups, quantities]``."""
        rows, total = sums[:, self.side.denominators], sums[:, self.side.numerators]
        squares = sums[:, self.squares]
        deviations = unless_rounding(squares - divide(total**2, rows), squares)
        found = divide(divide(deviations, rows - 1), rows)
        return np.where((rows > 1) & ~self.shares, found, np.nan)


def lay_out(readings: Sequence[Reading], chosen: Bools, offset: int) -> Layout:
    """The columns of the chosen rows; other rows are 0. ``offset`` is the number of columns that stand before them."""
    quantities: list[Quantity] = []
    columns: list[Floats] = [chosen.astype(float)]
    numerators, denominators, squares = [], [], []
    for i, reading in enumerate(readings):
        known = chosen & ~np.isnan(reading.values)
        value = np.where(known, reading.values, 0.0)
        classed = chosen & (reading.class_codes >= 0)
        at = offset + len(columns)
        classes = range(len(reading.classes))
        columns += [known.astype(float), value, value**2, classed.astype(float)]
        columns += [(chosen & (reading.class_codes == c)).astype(float) for c in classes]
        quantities += [Quantity(reading.method, reading.classes[c], i) for c in classes]
        quantities.append(Quantity(reading.method, None, i))
        numerators += [*(at + 4 + c for c in classes), at + 1]
        denominators += [*(at + 3 for _ in classes), at]
        squares += [at + 2] * (len(classes) + 1)
    side = Side(np.array(numerators), np.array(denominators))
    return Layout(tuple(quantities), np.stack(columns, axis=1), side, np.array(squares), offset)


COUNT, UNDEFINED = "count", "undefined"
FROM_HUMAN, FROM_HUMAN_ADJUSTED = "difference_from_human", "difference_from_human_adjusted_p"


@dataclass(frozen=True, slots=True)
class Written:
    """The texts of a model, or of people: the ``prefix`` of their figures, and the estimates of both levels."""

    prefix: str
    chosen: Bools
    layout: Layout
    groups: Estimates
    domains: Estimates


@dataclass(frozen=True, slots=True)
class Groups:
    """Texts by group: those of a model and, if there are any, those of people; ``items`` add up the rows of both.

    ``changes`` are the differences of the model's values from those of people, by group and by domain.
    """

    measure: str
    texts: Texts
    readings: tuple[Reading, ...]
    items: Items
    sides: tuple[Written, ...]
    changes: tuple[Resampled | None, Resampled | None]

    @property
    def figure(self) -> Callable[..., Figure]:
        """Makes a figure of the measure; see ``make_figure``."""
        return partial(make_figure, self.measure)

    @property
    def model(self) -> Written:
        """The texts of the model."""
        return self.sides[0]

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """The quantities of the model's texts."""
        return self.model.layout.quantities


def arrange(measure: str, texts: Texts, readings: tuple[Reading, ...], rng: np.random.Generator) -> Groups:
    """Add up the rows by item and estimate every quantity of every group and domain."""
    sources = [("", ~texts.human), *([(f"{HUMAN}_", texts.human)] if texts.human.any() else [])]
    layouts: list[Layout] = []
    for _, chosen in sources:
        layouts.append(lay_out(readings, chosen, sum(layout.columns.shape[1] for layout in layouts)))
    items = add_up(texts.group, texts.item, np.hstack([layout.columns for layout in layouts]), len(texts.groups))
    # a change is that of the second side from the first
    sides = [layout.side for layout in reversed(layouts)]
    (groups, change), (domains, domain_change) = estimate(items, texts.slices(), sides, layouts[0].shares, rng)
    estimates = zip(sources, layouts, reversed(groups), reversed(domains), strict=True)
    written = tuple(Written(*source, layout, by_group, whole) for source, layout, by_group, whole in estimates)
    return Groups(measure, texts, readings, items, written, (change, domain_change))


def summary_figures(groups: Groups) -> Iterator[Figure]:
    """Counts, shares, means and undefined texts of groups and domains.

    First the figures of the model's texts, then those of people's, then the differences.
    """
    texts = groups.texts
    for side in groups.sides:
        reasons = [_reasons(texts, reading, side.chosen) for reading in groups.readings]
        undefined = np.stack([counts.sum(axis=1) for counts in reasons], axis=1)
        yield from _values(groups, side, side.groups, texts.group_keys, undefined)
        whole = np.add.reduceat(undefined, texts.domains[:-1])
        yield from _values(groups, side, side.domains, texts.all_domain_keys, whole)
        of_group = np.bincount(texts.group[side.chosen], minlength=len(texts.groups))
        for reading, counts in zip(groups.readings, reasons, strict=True):
            for g, w in zip(*np.nonzero(counts), strict=True):
                keys = {**texts.keys(int(g)), "why": reading.reasons[w], **reading.method.keys}
                yield groups.figure(f"{side.prefix}{UNDEFINED}", keys, counts[g, w], "count", of_group[g])
    by_group, by_domain = groups.changes
    parts, every = texts.slices(), [slice(0, len(texts.domains) - 1)]
    if by_group is not None and by_domain is not None:
        yield from _from_human(groups, texts.group_keys, by_group, [side.groups for side in groups.sides], parts)
        yield from _from_human(groups, texts.all_domain_keys, by_domain, [side.domains for side in groups.sides], every)


def _reasons(texts: Texts, reading: Reading, chosen: Bools) -> Ints:
    """The number of texts of each group without a value, by reason: shape ``[groups, reasons]``."""
    size = max(len(reading.reasons), 1)
    rows = chosen & (reading.reason_codes >= 0)
    codes = texts.group[rows] * size + reading.reason_codes[rows]
    return np.bincount(codes, minlength=size * len(texts.groups)).reshape(-1, size)


def _values(
    groups: Groups, side: Written, found: Estimates, keys: list[dict[str, str]], undefined: Ints
) -> Iterator[Figure]:
    """The counts, shares and means of one level; ``undefined`` has shape ``[keys, readings]``."""
    for g, own in enumerate(keys):
        for q, quantity in enumerate(side.layout.quantities):
            n, missing = found.rows[g, q], undefined[g, quantity.reading]
            named, value = {**own, **quantity.keys}, found.value[g, q]
            if quantity.cls is not None:
                count = int(np.rint(np.nan_to_num(value) * n))
                yield groups.figure(f"{side.prefix}{COUNT}", named, count, "count", n, missing=missing)
            name, ends = f"{side.prefix}{quantity.name}", (found.low[g, q], found.high[g, q])
            yield groups.figure(name, named, value, quantity.unit, n, missing=missing, interval=ends)


def _from_human(
    groups: Groups, keys: list[dict[str, str]], change: Resampled, sides: Sequence[Estimates], families: list[slice]
) -> Iterator[Figure]:
    """The model's value minus that of people's texts on one level, with the p-value of a t test over items.

    P-values are corrected within each family, which is a slice of the keys.
    """
    model, human = sides
    p = paired_p(change, np.minimum(model.items, human.items))
    rows = model.rows + human.rows
    for part in families:
        adjusted, tests = by_value(p[part], holm), (~np.isnan(p[part])).sum(axis=0)
        for g in range(part.start, part.stop):
            for q, quantity in enumerate(groups.quantities):
                named, ends = {**keys[g], **quantity.keys}, (change.low[g, q], change.high[g, q])
                yield groups.figure(
                    FROM_HUMAN, named, change.value[g, q], quantity.difference_unit, rows[g, q], interval=ends,
                    p_value=p[g, q], of=quantity.name, limits=quantity.difference_limits,
                )  # fmt: skip
                corrected = adjusted[g - part.start, q]
                yield groups.figure(FROM_HUMAN_ADJUSTED, named, corrected, "p_value", tests[q], of=FROM_HUMAN)
