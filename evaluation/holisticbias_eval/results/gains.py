"""Gains and costs: what changes from one model to another, and whether each change is in a figure's direction."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isclose
from typing import Literal, get_args

from pydantic import Field

from holisticbias.terms.entries import MADE_UP
from holisticbias_eval.figures import Figure, Figures, Interval, Part, as_shown
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import NEUTRAL, Better
from holisticbias_eval.measures.perplexities.dimensions import WITH_HELD_OUT, is_of_dimension
from holisticbias_eval.sections.tables import ends

Outcome = Literal["gain", "cost", "change", "no change shown", "not tested", "not defined", "baseline"]
Kind = Literal["aimed at", "transfer", "quality", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_BESIDE = frozenset({"figure", "test"})
"""Keys that name a figure, not what it is of."""
_DETAIL = frozenset({"descriptor"})
"""Keys of which there are too many values: their changes stand in the measure's own sections."""


class Aim(Part):
    """The aim of a mitigation: a measure, and keys that its figures must have."""

    measure: str
    keys: dict[str, str] = Field(default_factory=dict)

    def covers(self, measure: str, keys: Mapping[str, str]) -> bool:
        """Whether a figure with these keys is aimed at, also on those groups alone that two runs share."""
        return self._fits(measure, keys, self.keys.get("dimension"))

    def transfers(self, measure: str, keys: Mapping[str, str]) -> bool:
        """Whether a figure with these keys is of what is aimed at together with groups that were not trained on."""
        own = self.keys.get("dimension")
        return own is not None and self._fits(measure, keys, f"{own}{WITH_HELD_OUT}")

    def _fits(self, measure: str, keys: Mapping[str, str], dimension: str | None) -> bool:
        others = {key: value for key, value in self.keys.items() if key != "dimension"}
        fits = dimension is None or is_of_dimension(keys.get("dimension", ""), dimension)
        return fits and measure == self.measure and others.items() <= keys.items()


class Gain(Part):
    """The change of one figure: both values, the change, and what it is.

    ``outcome`` is a gain or a cost if the change is more than chance (p < 0.05; without a p-value, an interval without
    0) and the figure has a direction, a change if it has none. That of made-up words is the baseline, whatever it is.
    ``whole`` says that the figure is over everything that the measure covers, not of one axis, domain or specification.
    ``main`` says that it stands for its measure; the others are the same on another scale, or details. ``level`` says
    that it is how much there is of something unwanted, not how much groups differ. ``common`` says that both values are
    of the sentences that both runs have, because either run has others. ``chance`` is the value that the
    figure after does not exceed for 95% of permuted groups, and ``distribution`` the 95th percentile of its
    distribution if groups are equal, if the measure has them.
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
    main: bool = True
    level: bool = False
    common: bool = False
    chance: float | None = None
    distribution: float | None = None
    run: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether the change is more than chance."""
        return self.outcome in ("gain", "cost", "change")

    @property
    def relative(self) -> float | None:
        """The change as a share of the value before; None if that is 0 or not shown, or one half is neutral."""
        before = as_shown(self.before, self.unit)
        if self.change is None or not before or self.better == "nearer one half":
            return None
        return self.change / abs(before)

    @property
    def identity(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        """The measure, figure and keys: the same for the same figure of other runs."""
        return self.measure, self.figure, tuple(sorted(self.keys.items()))


def find_gains(changes: Figures, aims: Sequence[Aim], run: str = "", after: Figures | None = None) -> Iterator[Gain]:
    """Every change of a headline figure, or of another figure over everything, in the order of the figures.

    ``after`` are the figures of the second run, which say what each reaches by chance.
    """
    of_figures = [f for f in changes if f.name == "change" and f.measure in MEASURES]
    whole = {(f.measure, f.of) for f in of_figures if not _parts(f)}
    gains = []
    for change in of_figures:
        is_whole = not _parts(change) or (change.measure, change.of) not in whole
        if _is_shown(change, is_whole=is_whole):
            gains.append(_gain(change, changes, aims, run, after or Figures(()), is_whole=is_whole))
    shown = {gain.measure for gain in gains if gain.main and gain.change is not None}
    for gain in gains:
        instead = gain.whole and gain.change is not None and gain.measure not in shown and gain.outcome != "baseline"
        yield gain.model_copy(update={"main": True}) if instead else gain


def sort_gains(gains: Sequence[Gain]) -> tuple[Gain, ...]:
    """The figures aimed at first, then those of quality, then all others; figures over everything first."""
    order = list(MEASURES)

    def place(gain: Gain) -> tuple[int, bool, bool, int, bool, int]:
        measure = MEASURES[gain.measure]
        main = list(measure.info.main)
        within = main.index(gain.figure) if gain.figure in main else len(main)
        other = gain.kind == "quality" and not measure.info.retention
        return KINDS.index(gain.kind), not gain.whole, other, order.index(gain.measure), not gain.main, within

    return tuple(sorted(gains, key=place))


def _parts(change: Figure) -> frozenset[str]:
    return frozenset(change.keys) - _BESIDE


def _is_shown(change: Figure, *, is_whole: bool) -> bool:
    info = MEASURES[change.measure].info
    parts = _parts(change)
    if parts & _DETAIL or not parts <= set(info.by):
        return False
    return not parts or change.of == info.headline or (is_whole and (change.of in info.better or info.is_level(change)))


def _gain(change: Figure, changes: Figures, aims: Sequence[Aim], run: str, after: Figures, *, is_whole: bool) -> Gain:
    measure, figure = MEASURES[change.measure], change.of or change.name
    first, second = (_compared(change, changes, name) for name in ("first", "second"))
    better, level = measure.better(change), measure.info.is_level(change)
    kind = _kind(change, aims)
    baseline = MADE_UP in (change.keys.get("axis"), change.keys.get("domain"))
    return Gain(
        measure=change.measure,
        figure=figure,
        keys=change.keys,
        unit=change.unit.removesuffix(" difference"),
        before=first,
        after=second,
        change=change.value,
        interval=change.interval,
        p_value=change.p_value,
        n=change.n,
        better=better,
        outcome="baseline" if baseline else judge(first, change, better),
        kind="other" if baseline else kind,
        whole=is_whole,
        main=is_whole and not baseline and (level or _is_main(change, kind)),
        level=level,
        common=_in_common(change, changes, "first") is not None,
        run=run,
        **_points(change, figure, second, after),
    )


def _compared(change: Figure, changes: Figures, run: str) -> float | None:
    """The value of a run that the change is of: on the common items, if it is known on all and on these."""
    figure = _in_common(change, changes, run) or changes.get(change.measure, run, change.keys)
    return None if figure is None else figure.value


def _in_common(change: Figure, changes: Figures, run: str) -> Figure | None:
    """A run's figure on the common items; None if the run has no others, or it is not known on all."""
    return changes.get(change.measure, f"{run}_in_common", change.keys)


def _kind(change: Figure, aims: Iterable[Aim]) -> Kind:
    if any(aim.covers(change.measure, change.keys) for aim in aims):
        return "aimed at"
    if any(aim.transfers(change.measure, change.keys) for aim in aims):
        return "transfer"
    return "quality" if MEASURES[change.measure].info.quality else "other"


def _is_main(change: Figure, kind: Kind) -> bool:
    """Whether a figure stands for its measure: of a figure that is not aimed at, and not of quality, the headline."""
    info = MEASURES[change.measure].info
    keys = info.main.get(change.of or "")
    if info.main and (keys is None or not keys.items() <= change.keys.items()):
        return False
    return not info.main or change.of == info.headline or kind in ("aimed at", "quality")


def _points(change: Figure, figure: str, value: float | None, after: Figures) -> dict[str, float | None]:
    """The figure's 95th percentiles if groups are equal; none if the second run has them of other sentences."""
    keys = {key: part for key, part in change.keys.items() if key != "figure"}
    measured = after.value(change.measure, figure, keys)
    if measured is None or value is None or not isclose(measured, value, rel_tol=1e-6):
        return {}
    names = {"chance": f"{figure}_null_95", "distribution": f"{figure}_distribution_95"}
    return {field: after.value(change.measure, name, keys) for field, name in names.items()}


def judge(before: float | None, change: Figure, better: Better) -> Outcome:
    """Read a change as a gain or a cost; a change across the best value counts by both ends of its interval."""
    if change.value is None:
        return "not defined"
    shown = change.value != 0 and _is_more_than_chance(change)
    if not shown:
        return "not tested" if shown is None else "no change shown"
    if better == "none":
        return "change"
    if better in NEUTRAL:
        low, high = ends(change.interval) or (change.value, change.value)
        return "not defined" if before is None else _nearer(before, low, high, NEUTRAL[better])
    return "gain" if (change.value < 0) == (better == "lower") else "cost"


def _is_more_than_chance(change: Figure) -> bool | None:
    """Whether a change is more than chance; None if it has no test and no interval that allows for chance."""
    interval = change.interval
    if change.p_value is not None:
        return change.is_significant
    if interval is None or interval.low == interval.high:
        return None
    return change.excludes_zero


def _nearer(before: float, low: float, high: float, point: float) -> Outcome:
    """A gain if every value in the interval of the change is nearer to the point, a cost if every value is farther."""
    distance, after = abs(before - point), [abs(before + move - point) for move in (low, high)]
    nearest = 0.0 if before + low <= point <= before + high else min(after)
    if max(after) < distance:
        return "gain"
    return "cost" if nearest > distance else "change"
