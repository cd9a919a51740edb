"""Gains and costs in words: the names of figures, the aim, the costs, and the number of tests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from holisticbias.terminal import first_and_more
from holisticbias_eval.figures import SIGNIFICANCE
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.groups.figures import said
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.perplexities.dimensions import said_dimension
from holisticbias_eval.results.gains import Aim, Gain, Outcome
from holisticbias_eval.sections.tables import Paragraph, ends
from holisticbias_eval.settings import listed
from holisticbias_eval.stereotypes.specifications import found_specifications, short_titles
from holisticbias_eval.units import show, title

Models = Mapping[str, Sequence[Gain]]
"""The gains and costs of each model, by its name."""
BEFORE_AFTER = ("Before", "After")
"""The headings of the values before and after several mitigations; of one, and of two models, they have letters."""
_SPECIFICATIONS = ("dimension", "specification")
_TESTED: Mapping[Outcome, tuple[str, str]] = {
    "gain": ("gain", "gains"),
    "cost": ("cost", "costs"),
    "change": ("change without a direction", "changes without a direction"),
    "no change shown": ("no change shown", "no change shown"),
}
_OUTCOMES: Mapping[Outcome, tuple[str, str]] = {
    **_TESTED,
    "not tested": ("not tested", "not tested"),
    "not defined": ("not defined", "not defined"),
}
_MOST = 5
LARGE = 3
"""Models whose findings are shown large, before the tables; those of more would fill the screen."""


@dataclass(frozen=True, slots=True)
class NamedGain:
    """A change with the name of its figure, and the model that it is of."""

    model: str
    figure: str
    gain: Gain


class Labels:
    """Names of figures: axes and domains by the label that a release has for them, specifications by their titles.

    A specification that alone is aimed at is left out of the names: ``aim`` says what it is.
    """

    def __init__(self, aims: Sequence[Aim] = (), titles: Mapping[str, str] | None = None) -> None:
        self._labels: dict[str, str] = {}
        self._own = dict(titles or {})
        ids = {aim.keys[key] for aim in aims for key in _SPECIFICATIONS if key in aim.keys}
        self._aimed = ids.pop() if len(ids) == 1 else None

    def add(self, labels: Mapping[str, str]) -> None:
        """Add labels of axes and domains."""
        self._labels.update(labels)

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
        if key in ("axis", "domain"):
            return self._labels.get(value) or title(value)
        if key in ("class", "method"):
            return said(value)
        return said_dimension(value, self._brief) if key in _SPECIFICATIONS else value

    @cached_property
    def _titles(self) -> dict[str, str]:
        """The title of each specification: those of the records, of the dataset and of the calibration models."""
        return {**{name: known.text for name, known in found_specifications().items()}, **self._own}

    @cached_property
    def _brief(self) -> dict[str, str]:
        return {**short_titles(self._titles), **({self._aimed: ""} if self._aimed else {})}


def usual_keys(info: Info) -> dict[str, str]:
    """The keys that a measure's main figures have, such as one of several scales, which names leave out."""
    return {key: value for keys in info.main.values() for key, value in keys.items()}


def findings(
    models: Models, rows: Sequence[NamedGain], aims: Mapping[str, Sequence[Aim]], sides: tuple[str, str]
) -> Iterator[Paragraph]:
    """Describe each model in a paragraph, and count the tests; an aim without a figure is named.

    ``sides`` are the headings of both values: of several models, the second is that of each model.
    """
    for model, gains in models.items():
        for aim in aims.get(model, ()):
            if not any(aim.covers(g.measure, g.keys) for g in gains):
                keys = "".join(f", {key} {value}" for key, value in aim.keys.items())
                yield Paragraph(f"{model}: {aim.measure}{keys} is aimed at, and has no figure in both runs.", "caveat")
    for model in dict.fromkeys(row.model for row in rows):
        start = f"{model}: " if len(models) > 1 else ""
        headings = sides if len(models) == 1 or sides == BEFORE_AFTER else (sides[0], model)
        said = " ".join(_of_model([row for row in rows if row.model == model], headings))
        yield Paragraph(f"{start}{said}", "finding" if len(models) <= LARGE else "text")
    yield Paragraph(" ".join(_notes([row.gain for row in rows if row.gain.main])), "note")


def _of_model(rows: Sequence[NamedGain], sides: tuple[str, str]) -> Iterator[str]:
    """The aim, then the costs, then the numbers of gains, costs and others."""
    main = [row for row in rows if row.gain.main]
    aimed = next((row for row in main if row.gain.kind == "aimed at"), None)
    if aimed is not None:
        yield _aimed(aimed, sides)
    rest = [row for row in main if row is not aimed]
    costs = sorted((row for row in rest if row.gain.outcome == "cost"), key=lambda row: not row.gain.level)
    if costs:
        said = [f"{row.figure} {_both(row.gain, sides)}" for row in costs]
        yield f"Costs: {first_and_more(said, _MOST, '; ')}."
    hidden = [row.figure for row in rows if row.gain.outcome == "cost" and not row.gain.main]
    if rest and not costs:
        yield "No cost shown among the main figures." if hidden else "No cost shown."
    if hidden:
        yield f"Costs among all figures below: {first_and_more(hidden, 2, '; ')}."
    if rest:
        yield f"{'Other f' if aimed else 'F'}igures: {counted([row.gain for row in rest])}."


def _aimed(row: NamedGain, sides: tuple[str, str]) -> str:
    """The figure that is aimed at, its outcome, and its 95th percentiles if the groups do not differ."""
    gain, apart = row.gain, f"{row.gain.unit} difference"
    interval = ""
    if gain.interval is not None:
        interval = f" (change {show(gain.change, apart)}, 95% interval {show(ends(gain.interval), apart)})"
    outcome = f"a {gain.outcome}" if gain.is_shown else gain.outcome
    values = {f"{gain.unit} distribution": gain.distribution, "groups permuted within sentences": gain.chance}
    listed = ", ".join(f"{_alone(gain, value)} ({how})" for how, value in values.items() if value is not None)
    points = f"; 95th percentile if the groups do not differ: {listed}" if listed else ""
    return f"{row.figure} {_both(gain, sides)}: {outcome}{interval}{points}."


def _both(gain: Gain, sides: tuple[str, str]) -> str:
    first, second = (_alone(gain, value) for value in (gain.before, gain.after))
    if sides == BEFORE_AFTER:
        return f"{first} before, {second} after"
    return f"{first} in {sides[0]}, {second} in {sides[1]}"


def _alone(gain: Gain, value: float | None) -> str:
    """A value without a unit that its name already has."""
    return show(value, gain.unit).removesuffix(f" {gain.unit}")


def counted(gains: Sequence[Gain]) -> str:
    """The number of gains, costs, changes and others, in words."""
    counts = ((sum(g.outcome == outcome for g in gains), words) for outcome, words in _OUTCOMES.items())
    return ", ".join(f"{count:,} {words[count > 1]}" for count, words in counts if count)


def _notes(shown: Sequence[Gain]) -> Iterator[str]:
    """The keys that names leave out, what is of shared sentences, and how many changes chance alone would show."""
    for measure in dict.fromkeys(g.measure for g in shown):
        info = MEASURES[measure].info
        usual = ", ".join(f"{key} {value}" for key, value in usual_keys(info).items())
        if usual:
            yield f"{info.title}: {usual}, unless a name says otherwise."
    common = dict.fromkeys(MEASURES[g.measure].info.title for g in shown if g.common)
    if common:
        yield f"{listed(list(common))}: on the sentences that both runs have."
    yield "A gain is a change in a figure's direction, a cost the opposite; both are only as large as the table says."
    tested = sum(g.outcome in _TESTED and (g.p_value is not None or g.interval is not None) for g in shown)
    if tested:
        yield (
            f"{tested:,} change{' was' if tested == 1 else 's were'} tested at p < {SIGNIFICANCE:g}: about "
            f"{SIGNIFICANCE * tested:.1f} would be shown if nothing had changed."
        )
