"""Gains and costs in words: the names of figures, the aim, the costs, and the number of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from holisticbias_eval.blocks import Paragraph, Role
from holisticbias_eval.errors import SpecificationError
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import title
from holisticbias_eval.report.units import show
from holisticbias_eval.results.gains import WITH_HELD_OUT, Aim, Gain, Outcome
from holisticbias_eval.stereotypes.specifications import known_specifications

_SPECIFICATIONS = ("dimension", "specification")
_LONG = 40


class Labels:
    """Names of figures: axes by the label that a release has for them, specifications by their titles.

    A specification that alone is aimed at is left out of the names: ``aim`` says what it is.
    """

    def __init__(self, aims: Sequence[Aim] = (), titles: Mapping[str, str] | None = None) -> None:
        self._axes: dict[str, str] = {}
        self._own = dict(titles or {})
        ids = {aim.keys[key] for aim in aims for key in _SPECIFICATIONS if key in aim.keys}
        self._aimed = ids.pop() if len(ids) == 1 else None

    def add(self, labels: Mapping[str, str]) -> None:
        """Add labels of axes."""
        self._axes.update(labels)

    @property
    def aim(self) -> str:
        """The title of the specification that is aimed at, with its id; empty if there is none or there are several."""
        if self._aimed is None:
            return ""
        found = self._titles.get(self._aimed)
        return f"{found} ({self._aimed})" if found else self._aimed

    def figure(self, gain: Gain) -> str:
        """The figure in words, and what it is of."""
        info = MEASURES[gain.measure].info
        alone = info.title if gain.figure == info.headline else f"{info.title}: {title(gain.figure)}"
        usual = {**usual_keys(info), **(info.levels.get(gain.figure, {}) if gain.level else {})}
        keys = sorted(gain.keys.items(), key=lambda item: item[0] in _SPECIFICATIONS)
        of = [self._value(key, value) for key, value in keys if key != "figure" and value and usual.get(key) != value]
        return ", ".join([info.names.get(gain.figure, alone), *filter(None, of)])

    def _value(self, key: str, value: str) -> str:
        if key == "axis":
            return self._axes.get(value) or title(value)
        return self._specification(value) if key in _SPECIFICATIONS else value

    def _specification(self, name: str) -> str:
        whole, bracket, groups = name.partition(" (")
        own = whole.removesuffix(WITH_HELD_OUT)
        held = f"{WITH_HELD_OUT.strip() if own != whole else ''} {bracket.strip()}{groups}".strip()
        called = "" if own == self._aimed else self._brief.get(own, own)
        return f"{called} {held}".strip()

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The title of each specification: those of the records, of the dataset and of the calibration models."""
        try:
            known = {found.id: found.text for found in known_specifications()}
        except SpecificationError:
            known = {}
        return {**known, **self._own}

    @cached_property
    def _brief(self) -> dict[str, str]:
        """The beginning of each long title up to a comma, if no other title has the same."""
        parts = {name: text.partition(", ")[0] if len(text) > _LONG else text for name, text in self._titles.items()}
        found = list(parts.values())
        return {name: part if found.count(part) == 1 else self._titles[name] for name, part in parts.items()}


def usual_keys(info: Info) -> dict[str, str]:
    """The keys that a measure's main figures have, such as one of several scales, which names leave out."""
    return {key: value for keys in info.main.values() for key, value in keys.items()}


Models = Mapping[str, Sequence[Gain]]
"""The gains and costs of each model, by its name."""
Naming = Callable[[Gain], str]
_TESTED: tuple[Outcome, ...] = ("gain", "cost", "change", "no change shown")
BEFORE_AFTER = ("Before", "After")
"""The headings of the values of one model before and after a mitigation; of two models they are their letters."""
_MOST = 5
_LARGE = 3
"""Models whose findings are shown large; those of more would fill the screen."""


def findings(
    models: Models, aims: Mapping[str, Sequence[Aim]], aimed: str, name: Naming, sides: tuple[str, str]
) -> Iterator[Paragraph]:
    """Name the aim, describe each model in a paragraph, and count the tests; an aim without a figure is named.

    ``sides`` are the headings of both values: of several models, the second is that of each model.
    """
    if aimed:
        yield Paragraph(f"Aimed at: {aimed}.")
    yield from _missed(models, aims)
    for model, gains in ((model, own) for model, own in models.items() if own):
        before = f"{model}: " if len(models) > 1 else ""
        role: Role = "finding" if len(models) <= _LARGE else "text"
        own = _Findings(name, sides if len(models) == 1 or sides == BEFORE_AFTER else (sides[0], model))
        yield Paragraph(f"{before}{' '.join(own.of_model(gains))}", role)
    yield Paragraph(" ".join(_notes(models)), "note")


def _missed(models: Models, aims: Mapping[str, Sequence[Aim]]) -> Iterator[Paragraph]:
    for model, gains in models.items():
        for aim in aims.get(model, ()):
            if not any(aim.covers(g.measure, g.keys) for g in gains):
                keys = "".join(f", {key} {value}" for key, value in aim.keys.items())
                yield Paragraph(f"{model}: {aim.measure}{keys} is aimed at, and has no figure in both runs.", "caveat")


@dataclass(frozen=True, slots=True)
class _Findings:
    """Sentences on the gains and costs of a model, with the names of figures and the headings of both values."""

    name: Naming
    sides: tuple[str, str]

    def of_model(self, gains: Sequence[Gain]) -> Iterator[str]:
        """The aim, then the costs, then the numbers of gains, costs and others."""
        aimed = next((g for g in gains if g.kind == "aimed at" and g.main), None)
        if aimed is not None:
            yield self._aimed(aimed)
        rest = [g for g in gains if g.main and g is not aimed]
        costs = sorted((g for g in rest if g.outcome == "cost"), key=lambda g: not g.level)
        listed = "; ".join(f"{self.name(g)} {self._both(g)}" for g in costs[:_MOST])
        more = f"; {len(costs) - _MOST:,} more" if len(costs) > _MOST else ""
        if costs:
            yield f"Costs: {listed}{more}."
        elif rest:
            yield "No cost shown."
        hidden = [self.name(g) for g in gains if g.outcome == "cost" and not g.main]
        if hidden:
            more = f" and {len(hidden) - 2:,} more" if len(hidden) > 2 else ""
            yield f"Costs among all figures below: {'; '.join(hidden[:2])}{more}."
        if rest:
            yield f"{'Other f' if aimed else 'F'}igures: {counted(rest)}."

    def _aimed(self, gain: Gain) -> str:
        interval = ""
        if gain.interval is not None:
            interval = f" (change {show(gain.change, _apart(gain))}, 95% interval {_ends(gain)})"
        outcome = f"a {gain.outcome}" if gain.outcome in ("gain", "cost", "change") else gain.outcome
        return f"{self.name(gain)} {self._both(gain)}: {outcome}{interval}{_points(gain)}."

    def _both(self, gain: Gain) -> str:
        first, second = (_alone(gain, value) for value in (gain.before, gain.after))
        if self.sides == BEFORE_AFTER:
            return f"{first} before, {second} after"
        return f"{first} in {self.sides[0]}, {second} in {self.sides[1]}"


def _points(gain: Gain) -> str:
    """The 95% points of the figure if groups do not differ, in words."""
    points = {f"{gain.unit} distribution": gain.distribution, "groups permuted within sentences": gain.chance}
    said = [f"{_alone(gain, value)} ({how})" for how, value in points.items() if value is not None]
    return f"; 95% point if the groups do not differ: {', '.join(said)}" if said else ""


def _alone(gain: Gain, value: float | None) -> str:
    """A value without a unit that its name already has."""
    return show(value, gain.unit).removesuffix(f" {gain.unit}")


def _apart(gain: Gain) -> str:
    return f"{gain.unit} difference"


def _ends(gain: Gain) -> str:
    return show((gain.interval.low, gain.interval.high), _apart(gain)) if gain.interval else ""


def counted(gains: Sequence[Gain]) -> str:
    """The number of gains, costs, changes and others, in words."""
    plural = {"gain": "gains", "cost": "costs", "change": "changes without a direction"}
    one = {"gain": "gain", "cost": "cost", "change": "change without a direction"}
    found = []
    for outcome in (*_TESTED, "not tested", "not defined"):
        count = sum(g.outcome == outcome for g in gains)
        if count:
            words = (one if count == 1 else plural).get(outcome, outcome)
            found.append(f"{count:,} {words}")
    return ", ".join(found)


def _notes(models: Models) -> Iterator[str]:
    """The keys that names leave out, and the number of changes that chance alone would show."""
    shown = [g for gains in models.values() for g in gains if g.main]
    for measure in dict.fromkeys(g.measure for g in shown):
        info = MEASURES[measure].info
        usual = ", ".join(f"{key} {value}" for key, value in usual_keys(info).items())
        if usual:
            yield f"{info.title}: {usual}, if a name does not say otherwise."
    yield "A gain is a change in a figure's direction, a cost the opposite; both are only as large as the table says."
    tested = sum(g.outcome in _TESTED for g in shown)
    if tested:
        yield (
            f"{tested:,} changes were tested at p < {SIGNIFICANCE:g}: about {SIGNIFICANCE * tested:.1f} of them would "
            "be shown if nothing had changed."
        )
