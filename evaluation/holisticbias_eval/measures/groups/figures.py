"""The figures of groups: how values are laid out by domain and group, and their means and shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.groups.readings import HUMAN, Method, Reading, Texts
from holisticbias_eval.statistics.groups.items import (
    Estimated,
    Estimates,
    Items,
    Resampled,
    Side,
    add_up,
    estimate,
    paired_p,
)
from holisticbias_eval.statistics.groups.pairs import by_value
from holisticbias_eval.statistics.tests import holm

SHARE, MEAN = "share", "mean"


@dataclass(frozen=True, slots=True)
class Quantity:
    """The share of a class, or the mean if there is no class, of one method; ``reading`` is its place."""

    method: Method
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


def said_method(method: Method) -> str:
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
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.maximum(squares - total**2 / rows, 0.0) / (rows - 1) / rows
        return np.where((rows > 1) & ~self.shares, found, np.nan)


def lay_out(readings: Sequence[Reading], chosen: Bools, offset: int = 0) -> Layout:
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


@dataclass(frozen=True)
class Maker:
    """Makes figures of one measure."""

    measure: str

    @property
    def figure(self) -> Callable[..., Figure]:
        """Makes a figure of the measure; see ``make_figure``."""
        return partial(make_figure, self.measure)


@dataclass(frozen=True)
class Groups:
    """Texts of a model by group, and those of people if there are any; ``items`` add up the rows of both."""

    texts: Texts
    readings: tuple[Reading, ...]
    model: Layout
    human: Layout | None
    items: Items
    found: Estimated

    @property
    def sides(self) -> tuple[tuple[str, Layout, Estimates, Estimates], ...]:
        """For the model's texts and the people's: the beginning of figures' names, and the estimates of both levels."""
        layouts = [("", self.model), *([(f"{HUMAN}_", self.human)] if self.human else [])]
        found = zip(layouts, self.found.groups, self.found.domains, strict=True)
        return tuple((prefix, layout, groups, domains) for (prefix, layout), groups, domains in found)


def arrange(texts: Texts, readings: tuple[Reading, ...], rng: np.random.Generator) -> Groups:
    """Add up the rows by item and estimate every quantity of every group and domain."""
    human = texts.human.any()
    model = lay_out(readings, ~texts.human)
    people = lay_out(readings, texts.human, model.columns.shape[1]) if human else None
    columns = np.concatenate([model.columns, people.columns], axis=1) if people else model.columns
    items = add_up(texts.group, texts.item, columns, len(texts.groups))
    sides = [people.side, model.side] if people else [model.side]
    found = estimate(items, texts.slices(), sides, model.shares, rng)
    ordered = Estimated(found.groups[::-1], found.domains[::-1], found.change, found.domain_change)
    return Groups(texts, readings, model, people, items, ordered)


@dataclass(frozen=True)
class Summaries(Maker):
    """Counts, shares, means and undefined texts of groups and domains."""

    groups: Groups

    def figures(self) -> Iterator[Figure]:
        """The figures of the model's texts, then those of people's, then the differences."""
        texts = self.groups.texts
        by_group = [texts.keys(g) for g in range(len(texts.groups))]
        by_domain = [texts.domain_keys(part.start) for part in texts.slices()]
        for prefix, layout, groups, domains in self.groups.sides:
            undefined = self._undefined(human=bool(prefix))
            whole = np.stack([undefined[part].sum(axis=0) for part in texts.slices()])
            yield from self._values(prefix, layout, groups, by_group, undefined)
            yield from self._values(prefix, layout, domains, by_domain, whole)
        yield from self._reasons()
        yield from self._from_human(by_group, by_domain)

    def _undefined(self, *, human: bool) -> Ints:
        """The number of texts without a value: shape ``[groups, readings]``."""
        texts, chosen = self.groups.texts, self.groups.texts.human == human
        unknown = [chosen & np.isnan(reading.values) for reading in self.groups.readings]
        size = len(texts.groups)
        return np.stack([np.bincount(texts.group[rows], minlength=size) for rows in unknown], axis=1)

    def _values(
        self, prefix: str, layout: Layout, found: Estimates, keys: list[dict[str, str]], undefined: Ints
    ) -> Iterator[Figure]:
        for g, own in enumerate(keys):
            for q, quantity in enumerate(layout.quantities):
                n, missing = found.rows[g, q], undefined[g, quantity.reading]
                named, value = {**own, **quantity.keys}, found.value[g, q]
                if quantity.cls is not None:
                    count = np.rint(np.nan_to_num(value) * n)
                    yield self.figure(f"{prefix}{COUNT}", named, int(count), "count", n, missing=missing)
                ends = found.low[g, q], found.high[g, q]
                yield self.figure(
                    f"{prefix}{quantity.name}", named, value, quantity.unit, n, missing=missing, interval=ends
                )

    def _reasons(self) -> Iterator[Figure]:
        """The number of texts of the model without a value, by reason."""
        texts = self.groups.texts
        for reading in self.groups.readings:
            size = max(len(reading.reasons), 1)
            for prefix, chosen in (("", ~texts.human), (f"{HUMAN}_", texts.human)):
                rows = chosen & (reading.reason_codes >= 0)
                codes = texts.group[rows] * size + reading.reason_codes[rows]
                counts = np.bincount(codes, minlength=size * len(texts.groups)).reshape(-1, size)
                of_group = np.bincount(texts.group[chosen], minlength=len(texts.groups))
                for g, w in zip(*np.nonzero(counts), strict=True):
                    keys: dict[str, str] = {**texts.keys(int(g)), "why": reading.reasons[w], **reading.method.keys}
                    yield self.figure(f"{prefix}{UNDEFINED}", keys, counts[g, w], "count", of_group[g])

    def _from_human(self, by_group: list[dict[str, str]], by_domain: list[dict[str, str]]) -> Iterator[Figure]:
        """The model's value minus that of people's texts, with the p-value of a t test over items."""
        found = self.groups.found
        if found.change is None or found.domain_change is None:
            return
        parts = self.groups.texts.slices()
        yield from self._changes(by_group, found.change, found.groups, parts)
        yield from self._changes(by_domain, found.domain_change, found.domains, [slice(0, len(parts))])

    def _changes(
        self,
        keys: list[dict[str, str]],
        change: Resampled,
        sides: tuple[Estimates, ...],
        families: list[slice],
    ) -> Iterator[Figure]:
        """Differences of one level; p-values are corrected within each family, one of which is a slice of the keys."""
        model, human = sides
        p = paired_p(change, np.minimum(model.items, human.items))
        adjusted = np.concatenate([by_value(p[part], holm) for part in families])
        for part in families:
            tests = (~np.isnan(p[part])).sum(axis=0)
            for g in range(part.start, part.stop):
                for q, quantity in enumerate(self.groups.model.quantities):
                    named = {**keys[g], **quantity.keys}
                    yield self.figure(
                        FROM_HUMAN, named, change.value[g, q], difference_unit(quantity),
                        model.rows[g, q] + human.rows[g, q], interval=(change.low[g, q], change.high[g, q]),
                        p_value=p[g, q], of=quantity.name,
                    )  # fmt: skip
                    yield self.figure(FROM_HUMAN_ADJUSTED, named, adjusted[g, q], "p_value", tests[q], of=FROM_HUMAN)


def difference_unit(quantity: Quantity) -> str:
    """The unit of a difference of two values."""
    return f"{quantity.unit} difference"
