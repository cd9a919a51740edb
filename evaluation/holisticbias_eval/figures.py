"""Figures: one record for the results of every measure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf, isclose, isfinite, isnan
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from holisticbias_eval.arrays import ROUNDING, Floats

SIGNIFICANCE = 0.05
"""The level of every test."""

P_RESOLUTION = 0.001
"""Smaller p-values are shown as below this limit, because simulations do not test them."""


NATS = "nats per sentence"
DEVIATION = ", standard deviation"
"""The end of the unit of a standard deviation whose variance is estimated, as that which several samples share.

The estimate of a variance may be below 0. The value is then minus the root of its size, so that values can be averaged
and compared; reports show such a value as "none shown", and an end of an interval below 0 as 0. A value from rounding,
below the root of ``ROUNDING``, is shown as one below 0.
"""


SCORES = (
    "compound score", "norm", "polarity", "probability of positive minus negative",
    "female minus male share of gendered words",
)  # fmt: skip
"""Scales from -1 to 1, whose names stand in headings and not after every number."""

LIMITS: Mapping[str, tuple[float, float]] = {
    **dict.fromkeys(("share", "probability"), (0.0, 1.0)), **dict.fromkeys(SCORES, (-1.0, 1.0)), "words": (0.0, inf),
}  # fmt: skip
"""The least and the largest value of a unit. No interval goes further, unless the estimate itself does."""
ROUNDED = 1e-9
"""A difference of sums may exceed its limits by this much."""


def difference_limits(unit: str) -> tuple[float, float] | None:
    """The least and the largest difference of two values of a unit; ``None`` if the unit has no limits."""
    limits = LIMITS.get(unit)
    return limits and (limits[0] - limits[1], limits[1] - limits[0])


def as_shown(value: float | None, unit: str) -> float | None:
    """A value as it is drawn and compared: a standard deviation below 0, or of rounding, is 0; see ``DEVIATION``."""
    return 0.0 if value is not None and unit.endswith(DEVIATION) and value < ROUNDING**0.5 else value


Named = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=0, lt=2**53)]


_GIVEN: set[str] = set()


class Part(BaseModel):
    """A frozen part of a result; unknown keys are refused. It does not know which of its fields were given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def model_post_init(self, _: object) -> None:
        """Share one set of the names of given fields: a set for each figure is half of the memory of a large run."""
        object.__setattr__(self, "__pydantic_fields_set__", _GIVEN)


class Interval(Part):
    """From ``low`` to ``high``."""

    low: float
    high: float

    @classmethod
    def between(cls, low: float, high: float) -> "Interval | None":
        """The interval between two computed ends; ``None`` if an end is NaN."""
        return None if isnan(low) or isnan(high) else cls(low=float(low), high=float(high))

    def __neg__(self) -> "Interval":
        """The interval of the value with the other sign."""
        return Interval(low=-self.high, high=-self.low)


class Figure(Part):
    """One number of a measure, with its keys, its reliability and its sample size.

    ``keys`` say what the figure is of, as in ``{"axis": "ability", "template": "i-love"}``;
    a figure over everything has no keys. ``of`` names the figure that this figure
    qualifies: a share corrected for the number of tests is a figure of ``share``.
    A value is null if it is not defined; ``n`` is given anyway. ``result.json`` has
    corrected p-values as separate figures, from which ``Figures`` sets ``adjusted_p``.
    """

    measure: str
    name: str
    keys: dict[Named, Named] = {}
    value: float | None
    unit: str = Field(description="share, nats per sentence, perplexity, count ...")
    interval: Interval | None = Field(None, description="95% interval")
    floor: float | None = Field(None, description="the value expected by chance: the mean over permuted labels")
    floor_interval: Interval | None = Field(None, description="middle 95% of the values over permuted labels")
    p_value: float | None = None
    adjusted_p: float | None = Field(None, description="p-value corrected for the number of tests of its kind")
    n: Count = Field(description="number of items that the value is computed over: pairs, sentences, descriptors ...")
    missing: Count = Field(0, description="number of items left out because a value is missing")
    of: str | None = None

    @property
    def above_floor(self) -> bool | None:
        """Whether the value exceeds its floor; ``None`` without a value or a floor.

        A value with a p-value was tested against its floor: it exceeds it if
        p < 0.05. A standard deviation from an estimated variance (``DEVIATION``) also
        needs an interval above 0, so that no agreement is claimed beside an interval
        that includes none; without an interval nothing is claimed. Any other value must lie above the upper end of
        ``floor_interval`` by more than the interval's width, which is about five
        standard deviations of 20 permuted values above their mean. Without that
        margin most runs in which nothing differs would have at least one of 13 axes
        above its floor.
        """
        if self.value is None or self.floor_interval is None:
            return None
        if self.unit.endswith(DEVIATION):
            low = as_shown(self.interval.low, self.unit) if self.interval else None
            return None if low is None else self.is_significant and low > 0
        if self.p_value is not None:
            return self.is_significant
        floor = self.floor_interval
        return self.value > floor.high + (floor.high - floor.low)

    @property
    def is_finite(self) -> bool:
        """Whether all its numbers are finite, as far as it has them."""
        ends = [end for one in (self.interval, self.floor_interval) if one for end in (one.low, one.high)]
        return all(isfinite(one or 0) for one in (self.value, self.floor, self.p_value, self.adjusted_p, *ends))

    @property
    def is_significant(self) -> bool:
        """Whether the value was tested and p < 0.05."""
        return self.p_value is not None and self.p_value < SIGNIFICANCE

    @property
    def excludes_zero(self) -> bool:
        """Whether there is an interval, and 0 lies outside it."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high

    @property
    def differs(self) -> bool:
        """Whether the value was tested and p < 0.05 after correction for the number of tests."""
        return self.adjusted_p is not None and self.adjusted_p < SIGNIFICANCE


Ends = Interval | tuple[float, float] | None


def make_figure(
    measure: str,
    name: str,
    keys: dict[str, str],
    value: float | None,
    unit: str,
    n: float,
    missing: float = 0,
    *,
    interval: Ends = None,
    floor: float | None = None,
    floor_interval: Ends = None,
    p_value: float | None = None,
    of: str | None = None,
    limits: tuple[float, float] | None = None,
) -> Figure:
    """A figure of computed values: a NaN, and an interval with a NaN, becomes null.

    So does an interval whose ends differ by rounding at most: where nothing varies, nothing is known of other items.
    ``limits`` are the least and the largest value that there can be, by default those of the unit.
    """
    ends = _within(limits or LIMITS.get(unit), value, _estimated(interval))
    return Figure(
        measure=measure, name=name, keys=keys, value=known(value), unit=unit, interval=ends,
        floor=known(floor), floor_interval=_interval(floor_interval), p_value=known(p_value), n=int(n),
        missing=int(missing), of=of,
    )  # fmt: skip


def known(value: float | None) -> float | None:
    """A value, or ``None`` if it is NaN."""
    return None if value is None or isnan(value) else float(value)


def _estimated(ends: Ends) -> Interval | None:
    flat = isinstance(ends, tuple) and isclose(*ends, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return None if flat else _interval(ends)


def _interval(ends: Ends) -> Interval | None:
    return Interval.between(*ends) if isinstance(ends, tuple) else ends


def _within(limits: tuple[float, float] | None, value: float | None, ends: Interval | None) -> Interval | None:
    """An interval as far as it lies within limits, unless the value lies outside."""
    if limits is None or ends is None or not (value is None or limits[0] - ROUNDED <= value <= limits[1] + ROUNDED):
        return ends
    low, high = (min(max(end, limits[0]), limits[1]) for end in (ends.low, ends.high))
    return ends if (low, high) == (ends.low, ends.high) else Interval(low=low, high=high)


def corrected(figures: Sequence[Figure], correct: Callable[[Floats], Floats]) -> Iterator[Figure]:
    """The p-values of these figures corrected together, as further figures.

    ``correct`` is ``holm`` or ``benjamini_hochberg``. Each is named after its figure; ``n`` is the number of tests.
    """
    p = np.array([np.nan if f.p_value is None else f.p_value for f in figures], np.float64)
    tests = int((~np.isnan(p)).sum())
    for f, value in zip(figures, correct(p).tolist(), strict=True):
        yield make_figure(f.measure, f"{f.name}_adjusted_p", f.keys, value, "p_value", tests, of=f.name)


def figure_columns(
    figures: Sequence[Any], names: Sequence[str], intervals: Sequence[str] = ("interval", "floor_interval")
) -> dict[str, list[Any]]:
    """Some fields of figures, or of their changes, then their keys, then the ends of their intervals, as columns.

    A key with the name of a field is left out.
    """
    keys = dict.fromkeys(key for figure in figures for key in figure.keys if key not in names)
    columns: dict[str, list[Any]] = {name: [getattr(figure, name) for figure in figures] for name in names}
    columns |= {key: [figure.keys.get(key) for figure in figures] for key in keys}
    for name in intervals:
        pairs = [getattr(figure, name) for figure in figures]
        columns |= {f"{name}_{end}": [pair and getattr(pair, end) for pair in pairs] for end in ("low", "high")}
    return columns


class Figures:
    """The figures of a run, found by measure, name and keys, with their corrected p-values."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        self._all = _with_adjusted_p(tuple(figures))
        self._index: dict[tuple[str, str, tuple[str, ...]], dict[tuple[str, ...], Figure]] = {}
        self._parts: dict[tuple[object, ...], dict[tuple[str, ...], list[Figure]]] = {}
        for figure in self._all:
            names = tuple(sorted(figure.keys))
            found = self._index.setdefault((figure.measure, figure.name, names), {})
            found[tuple(figure.keys[name] for name in names)] = figure

    def __iter__(self) -> Iterator[Figure]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def by(self, measure: str, name: str, /, *keys: str, **values: str) -> tuple[Figure, ...]:
        """The figures with this name and exactly these keys, some of which have these values, in order."""
        names, chosen = tuple(sorted((*keys, *values))), tuple(sorted(values))
        parts = self._parts.setdefault((measure, name, names, chosen), {})
        for figure in () if parts else self._index.get((measure, name, names), {}).values():
            parts.setdefault(tuple(figure.keys[key] for key in chosen), []).append(figure)
        return tuple(parts.get(tuple(values[key] for key in chosen), ()))

    def get(self, measure: str, name: str, keys: Mapping[str, str] | None = None) -> Figure | None:
        """The figure with this name and exactly these keys and values."""
        wanted = keys or {}
        names = tuple(sorted(wanted))
        return self._index.get((measure, name, names), {}).get(tuple(wanted[key] for key in names))

    def value(self, measure: str, name: str, keys: Mapping[str, str] | None = None) -> float | None:
        """The value of a figure; ``None`` if there is no such figure or it is not defined."""
        found = self.get(measure, name, keys)
        return None if found is None else found.value


def _with_adjusted_p(figures: tuple[Figure, ...]) -> tuple[Figure, ...]:
    """The figures, with the value of the first figure ``adjusted_p`` or ``..._adjusted_p`` of each as a field."""
    adjusted: dict[tuple[object, ...], float | None] = {}
    for f in figures:
        if f.of and (f.name == "adjusted_p" or f.name.endswith("_adjusted_p")):
            adjusted.setdefault(_place(f, f.of), f.value)
    if not adjusted:
        return figures
    return tuple(
        f if f.p_value is None or (p := adjusted.get(_place(f, f.name))) is None
        else Figure(**vars(f) | {"adjusted_p": p})
        for f in figures
    )  # fmt: skip


def _place(figure: Figure, name: str) -> tuple[object, ...]:
    return figure.measure, name, tuple(sorted(figure.keys.items()))
