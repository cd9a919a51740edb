"""Perplexities of the same sentences about several groups: F and pairwise t (Zhao et al. 2024)."""

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa

from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.info import Info, Needs
from holisticbias_eval.measures.measure import Measure, Measured, MeasureSettings, View
from holisticbias_eval.measures.perplexities import figures as perplexity
from holisticbias_eval.measures.perplexities.changes import FIGURE, perplexity_changes
from holisticbias_eval.measures.perplexities.dimensions import (
    NAME,
    SCALES,
    WITH_HELD_OUT,
    cut,
    describe_table,
    read_dimensions,
    said_dimension,
)
from holisticbias_eval.measures.perplexities.sections import DIMENSION, SCALE, pair_label, perplexity_sections
from holisticbias_eval.sections.blocks import Estimate, Forest, Section
from holisticbias_eval.sections.tables import Cell, ColumnOf, Paragraph, Table, table_of
from holisticbias_eval.statistics.groups.items import DRAWS
from holisticbias_eval.statistics.groups.pairs import PERMUTATIONS
from holisticbias_eval.units import interval_words, show

_NOTE = (
    "t is of the first group minus the second, unpaired, on the sentences that both runs have; p is corrected over the "
    "pairs of a dimension (Holm)."
)
_PUBLISHED = ", on perplexities as published"
_SCALES = {"log": "t of every pair of groups", "perplexity": f"t of every pair of groups{_PUBLISHED}"}


_Pair = tuple[tuple[str, str, float | None, int], dict[str, Figure]]
"""A pair of groups in a dimension with the t and the number of perplexities of the first model, and the t by model."""


def pair_sections(models: Mapping[str, Figures], first: str) -> Iterator[Section]:
    """The t of every pair in the first model and in others; ``models`` are their changes, by the heading of each."""
    tables = tuple(table for scale in _SCALES if (table := _table(models, first, scale)).rows)
    if tables:
        yield Section("group-perplexity-pairs", _SCALES["log"], tables[:1])
    if tables[1:]:
        yield Section("group-perplexity-pairs-perplexity", _SCALES["perplexity"], tables[1:], detail=True)


def _table(models: Mapping[str, Figures], first: str, scale: str) -> Table:
    """One row per pair; a model whose first value differs was compared on other sentences, and has another row."""
    rows: dict[tuple[str, str, float | None, int], dict[str, Figure]] = {}
    for model, changes in models.items():
        held = held_out(changes)
        for one in changes.by(NAME, "first", "dimension", "scale", FIGURE, "test", "first", "second"):
            other = changes.get(NAME, "second", one.keys)
            if (one.keys["scale"], one.keys["test"]) == (scale, "unpaired") and other is not None:
                name, apart = said_dimension(one.keys["dimension"]), held.get(one.keys["dimension"], frozenset())
                label = f"{pair_label(one)}{_remark([one.keys[side] in apart for side in ('first', 'second')])}"
                rows.setdefault((label, name, one.value, one.n), {"": one})[model] = other

    def of(model: str, attribute: str) -> Callable[[_Pair], Cell]:
        return lambda pair: getattr(pair[1].get(model), attribute, None)

    headings = [("first", "", first), *((f"model_{i}", model, model) for i, model in enumerate(models, 1))]
    columns: tuple[ColumnOf[_Pair], ...] = (
        ColumnOf("pair", "Pair", lambda pair: pair[0][0]),
        ColumnOf("dimension", "Dimension", lambda pair: pair[0][1]),
        *(ColumnOf(key, f"t, {name}", of(model, "value"), perplexity.T) for key, model, name in headings),
        *(ColumnOf(f"{key}_p", f"p, {name}", of(model, "p_value"), "p_value") for key, model, name in headings),
        ColumnOf("perplexities", "Perplexities of both", lambda pair: pair[0][3], "count", base=True),
    )
    name = f"group-perplexity-changes-t{_suffix(scale)}"
    return table_of(name, _SCALES[scale], columns, rows.items(), _NOTE, drop_empty=True)


def _suffix(scale: str) -> str:
    return "" if scale == "log" else f"-{scale}"


def held_out(changes: Figures) -> Mapping[str, frozenset[str]]:
    """For each dimension with held-out groups, the groups that the same dimension without them lacks."""
    groups: dict[str, set[str]] = {}
    for figure in changes:
        if figure.measure == NAME and "first" in figure.keys:
            groups.setdefault(figure.keys["dimension"], set()).update((figure.keys["first"], figure.keys["second"]))
    bases = {name: name.removesuffix(WITH_HELD_OUT) for name in groups if name.endswith(WITH_HELD_OUT)}
    return {name: frozenset(groups[name] - groups[base]) for name, base in bases.items() if base in groups}


def _remark(held: list[bool]) -> str:
    return ", both held out" if all(held) else ", one held out" if any(held) else ""


MOST = 40
READING = Paragraph(
    "Both runs are measured on the sentences that both have, with the same text and a perplexity in each. Intervals of "
    "a change draw sentences with their values in all groups and both runs. A lower F can also come from a larger "
    "spread of sentences, and every group's mean can rise: read the means beside it.",
    "note",
)
_WHAT = {"f": "F", "eta_squared": "Partial eta²", "mean_abs_t": "Mean |t|", "mean": "Mean of all groups"}


def _words(changes: Figures, found: list[Figure]) -> Iterator[str]:
    for change in (f for f in found if not f.keys.get(FIGURE) and f.keys["scale"] == "log"):
        name = said_dimension(change.keys["dimension"])
        if change.value is None:
            yield f"{name}: the change of F is not defined."
            continue
        first, second = (show(changes.value(NAME, side, change.keys) or 0.0, "F") for side in ("first", "second"))
        said = f"{name}: F of log-perplexity is {first} in A and {second} in B, on {change.n:,} perplexities"
        if change.interval is None:
            yield f"{said}."
            continue
        interval = interval_words(change.interval, change.unit, ", {}")
        said += f" (change {show(change.value, change.unit)}{interval})."
        cost = changes.get(NAME, "change", {**change.keys, FIGURE: "mean"})
        if cost is not None and cost.value is not None and cost.interval is not None:
            size = show(cost.value, cost.unit)
            said += f" Mean log-perplexity changes by {size}{interval_words(cost.interval, cost.unit)}."
        yield said


def _chart(found: list[Figure]) -> Forest:
    """The change of each group's mean log-perplexity: a cost if all rise."""
    means = [f for f in found if f.keys.get(FIGURE) == "mean" and f.keys["scale"] == "log" and "group" in f.keys]
    estimates = tuple(
        Estimate(cut(f.keys["group"]), f.value, f.interval, f.excludes_zero, said_dimension(f.keys["dimension"]))
        for f in means[:MOST]
    )
    title = "Change of each group's mean log-perplexity from A to B"
    unit, marks = "nats per token", ("0: no change", "filled: does not include 0")
    return Forest("group-perplexity-changes", title, f"{unit} difference", estimates, unit, marks=marks)


def _tables(changes: Figures, found: list[Figure], scale: str) -> Iterator[Table]:
    """A table for each unit."""
    kinds = {
        "f": ("Change of F", perplexity.F), "mean_abs_t": ("Change of the mean of |t|", perplexity.MEAN_T),
        "eta_squared": ("Change of partial eta²", "share"), "log": ("Change of mean log-perplexity", "nats per token"),
        "perplexity": ("Change of mean perplexity", "perplexity"),
    }  # fmt: skip
    for kind, (caption, unit) in kinds.items():
        own = [f for f in found if f.keys["scale"] == scale and kind == (scale if f.of == "mean" else f.of)]
        columns: col.FigureColumns = (
            DIMENSION,
            SCALE,
            ColumnOf("what", "Of", _what),
            *col.changes(changes, unit),
            col.n("perplexities", "Perplexities in both"),
        )
        if own:
            published = _PUBLISHED if scale == "perplexity" != kind else ""
            name = f"group-perplexity-changes-{kind.replace('_', '-')}{_suffix(scale)}"
            yield table_of(name, f"{caption}{published}", columns, own, drop_empty=True)


def _what(change: Figure) -> str:
    what = cut(change.keys["group"]) if "group" in change.keys else _WHAT[change.of or "f"]
    return f"{what}, {change.keys['test']}" if "test" in change.keys else what


class GroupPerplexity(Measure):
    """Whether a model finds the same sentences likelier about one group than about others."""

    info = Info(
        name=NAME,
        title="Perplexity by group",
        summary=(
            "F of a one-way analysis of variance of log-perplexities over groups, on sentences that differ in the "
            "group's term alone, and Student's t of every pair of groups; the same on perplexities, as published"
        ),
        direction=(
            "the larger F and the mean of |t|, the more the groups differ; F is compared with its value for permuted "
            "groups, because sentences differ more than groups do"
        ),
        limits=(
            "the group's term is part of the sentence, so a rare term raises perplexity without any stereotype; on "
            "perplexities one sentence can decide; F between groups ignores that sentences are shared (f_within does "
            "not); a small F can also come from few or very different sentences"
        ),
        source="Zhao et al. 2024, section 3; Barikeri et al. 2021",
        headline="f",
        by=("dimension", "scale"),
        beside=("eta_squared", "f_within"),
        better=dict.fromkeys(("f", "eta_squared", "mean_abs_t"), "lower"),
        names={
            "f": "F over groups",
            "eta_squared": "Eta squared over groups",
            "mean_abs_t": "Mean |t| of pairs of groups",
        },
        main={"f": {"scale": "log"}, "mean_abs_t": {"scale": "log", "test": "unpaired"}},
    )
    needs = Needs(
        "group_sentences",
        said="sentences about several groups scored by",
        compared="scoring",
        file=("test set", "its"),
    )
    task = "test_set"

    def signature(self, settings: MeasureSettings) -> Mapping[str, str]:
        """The seed, the resampling, the tests and their corrections."""
        return {
            "seed": str(settings.seed),
            "intervals": f"bootstrap of sentences with their values in all groups, {DRAWS:,} draws",
            "floors": f"groups permuted within sentences, up to {PERMUTATIONS:,} times",
            "tests": "one-way F; F with sentences as blocks; Student's t, unpaired and paired; Holm over pairs",
            "missing": "perplexities that are not above 0 or not finite",
        }

    def figures(self, answers: pa.Table, settings: MeasureSettings | None) -> Measured:
        """Compute the figures from ``dimension, group, sentence, perplexity``; see ``read_dimensions``."""
        dimensions = read_dimensions(answers)
        of_scales = (perplexity.ScaleFigures(one, scale, settings) for one in dimensions for scale in SCALES)
        found = (*(f for made in of_scales for f in made.figures()), *perplexity.whole_sentence_figures(answers))
        said = (*describe_table(dimensions, Figures(found)), *perplexity.describe_lengths(answers, Figures(found)))
        notes = tuple(f"Perplexity by group: {text}" for text in said)
        return Measured(found, notes=notes)

    def sections(self, view: View) -> tuple[Section, ...]:
        """Show the finding, the groups, all pairs, and the sentences that differ most."""
        return perplexity_sections(view)

    def compare(self, first: View, second: View) -> tuple[Figure, ...]:
        """Compute the change of f, eta squared, mean |t| and means on the sentences that both runs have."""
        return tuple(perplexity_changes(first, second, MeasureSettings()))

    def compared_sections(self, changes: Figures, view: View) -> tuple[Section, ...]:
        """Show the changes of each dimension in words and on the log scale; as details those of perplexities."""
        found = [f for f in changes if f.measure == NAME and f.name == "change" and f.of != "t"]
        said = tuple(Paragraph(text, "finding") for text in _words(changes, found))
        chart = _chart(found)
        name = f"{NAME}-changes".replace("_", "-")
        main, other = (tuple(_tables(changes, found, scale)) for scale in ("log", "perplexity"))
        sections = [
            Section(name, "Perplexity by group", (*said, *((chart,) if chart.estimates else ()), *main, READING))
        ]
        sections += pair_sections({"B": changes}, "A")
        if other:
            sections.append(Section(f"{name}-perplexity", "Changes on the scale of perplexities", other, detail=True))
        return tuple(sections)

    def side_by_side(self, changes: Mapping[str, Figures], first: str) -> tuple[Section, ...]:
        """Show the t of every pair of groups in all models."""
        return tuple(pair_sections(changes, first))

    def problems(self, figures: Figures) -> Iterator[str]:
        """Find an F below 0."""
        for figure in (f for name in ("f", "f_within") for f in figures.by(NAME, name, "dimension", "scale")):
            if figure.value is not None and figure.value < 0:
                yield f"{figure.keys}: {figure.name} is below 0"
