"""Gains and costs: what changes from one model to another, and whether each change is in a figure's direction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import Field

from holisticbias_eval.figures import SIGNIFICANCE, Figure, Figures, Interval, Part
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import Better

Outcome = Literal["gain", "cost", "change", "no change shown", "not tested", "not defined"]
Kind = Literal["aimed at", "quality", "other"]
KINDS: tuple[Kind, ...] = ("aimed at", "quality", "other")

_BESIDE = frozenset({"figure", "test"})
"""Keys that name a figure, not what it is of."""
_DETAIL = frozenset({"descriptor"})
"""Keys of which there are too many values: their changes stand in the measure's own sections."""


class Aim(Part):
    """The aim of a mitigation: a measure, and keys that its figures must have."""

    measure: str
    keys: dict[str, str] = Field(default_factory=dict)

    def covers(self, measure: str, keys: Mapping[str, str]) -> bool:
        """Whether a figure with these keys is aimed at."""
        return measure == self.measure and self.keys.items() <= keys.items()


class Gain(Part):
    """The change of one figure: both values, the change, and what it is.

    ``outcome`` is a gain or a cost if the change is more than chance (p < 0.05; without a p-value, an interval without
    0) and the figure has a direction, a change if it has none. ``whole`` says that the figure is over everything that
    the measure covers, not of one axis, domain or specification.
    """

    measure: str
    figure: str
    keys: dict[str, str]
    unit: str
    before: float | None
    after: float | None
    change: float | None
    interval: Interval | None
    p_value: float | None
    n: int
    better: Better
    outcome: Outcome
    kind: Kind
    whole: bool
    run: str = ""

    @property
    def relative(self) -> float | None:
        """The change as a share of the value before; None if that is 0 or not defined."""
        return None if self.change is None or not self.before else self.change / abs(self.before)

    @property
    def identity(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """The measure, figure and keys: the same for the same figure of other runs."""
        return self.measure, self.figure, tuple(sorted(self.keys.items()))


def find_gains(changes: Figures, aims: Sequence[Aim], run: str = "") -> Iterator[Gain]:
    """Every change of a headline figure, or of another figure over everything, in the order of the figures."""
    whole = {(f.measure, f.of) for f in changes if f.name == "change" and not _parts(f)}
    for change in changes:
        if change.name != "change" or change.measure not in MEASURES:
            continue
        is_whole = not _parts(change) or (change.measure, change.of) not in whole
        if _is_shown(change, is_whole=is_whole):
            yield _gain(change, changes, aims, run, is_whole=is_whole)


def sort_gains(gains: Sequence[Gain]) -> tuple[Gain, ...]:
    """The figures aimed at first, then those of quality, then all others; figures over everything first."""
    order = {name: i for i, name in enumerate(MEASURES)}
    return tuple(sorted(gains, key=lambda g: (KINDS.index(g.kind), not g.whole, order.get(g.measure, len(order)))))


def _parts(change: Figure) -> frozenset[str]:
    return frozenset(change.keys) - _BESIDE


def _is_shown(change: Figure, *, is_whole: bool) -> bool:
    info = MEASURES[change.measure].info
    parts = _parts(change)
    if parts & _DETAIL or not parts <= set(info.by):
        return False
    return not parts or change.of == info.headline or (is_whole and change.of in info.better)


def _gain(change: Figure, changes: Figures, aims: Sequence[Aim], run: str, *, is_whole: bool) -> Gain:
    measure = MEASURES[change.measure]
    before, after = (changes.value(change.measure, name, change.keys) for name in ("first", "second"))
    better = measure.better(change)
    aimed = any(aim.covers(change.measure, change.keys) for aim in aims)
    return Gain(
        measure=change.measure,
        figure=change.of or change.name,
        keys=change.keys,
        unit=change.unit.removesuffix(" difference"),
        before=before,
        after=after,
        change=change.value,
        interval=change.interval,
        p_value=change.p_value,
        n=change.n,
        better=better,
        outcome=judge(before, change, better),
        kind="aimed at" if aimed else "quality" if measure.info.quality else "other",
        whole=is_whole,
        run=run,
    )


def judge(before: float | None, change: Figure, better: Better) -> Outcome:
    """Read a change as a gain or a cost; a change across the best value counts by both ends of its interval."""
    if change.value is None:
        return "not defined"
    if change.value == 0 and change.interval is None:
        return "no change shown"
    shown = _is_more_than_chance(change)
    if shown is None:
        return "not tested"
    if not shown:
        return "no change shown"
    if better == "none":
        return "change"
    if better in ("lower", "higher"):
        return "gain" if (change.value < 0) == (better == "lower") else "cost"
    return _nearer(before, change, _POINTS[better])


_POINTS: Mapping[str, float] = {"nearer zero": 0.0, "nearer one half": 0.5}


def _is_more_than_chance(change: Figure) -> bool | None:
    """Whether a change is more than chance; None if it has no test and no interval."""
    if change.p_value is not None:
        return change.p_value < SIGNIFICANCE
    if change.interval is not None:
        return not change.interval.low <= 0 <= change.interval.high
    return None


def _nearer(before: float | None, change: Figure, point: float) -> Outcome:
    """A gain if every value in the interval of the change is nearer to the point, a cost if every value is farther."""
    if before is None or change.value is None:
        return "not defined"
    low, high = (change.interval.low, change.interval.high) if change.interval else (change.value, change.value)
    ends = [abs(before + move - point) for move in (low, high)]
    nearest = 0.0 if before + low <= point <= before + high else min(ends)
    if max(ends) < abs(before - point):
        return "gain"
    return "cost" if nearest > abs(before - point) else "change"
