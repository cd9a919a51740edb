"""The report of models side by side, each with several runs: gains and costs, then every measure's own sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.report.gain_tables import Further
from holisticbias_eval.report.gain_words import BEFORE_AFTER, Labels
from holisticbias_eval.report.gains import SIDES, gains_chapter
from holisticbias_eval.report.report import Chapter, Report, said_by
from holisticbias_eval.report.runs import NO_VERDICT
from holisticbias_eval.report.signature import set_signatures
from holisticbias_eval.results.compare_sets import (
    ComparedModel,
    ComparedSets,
    NamedComparison,
    Opened,
    aims_of,
    compare_sets,
)
from holisticbias_eval.results.gains import Aim
from holisticbias_eval.results.run_sets import BEFORE, RunSet
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.sections import Block, Section


def sets_report(
    sets: Sequence[RunSet], aims: Sequence[Aim], step: Callable[[str], None]
) -> tuple[ComparedSets, Report]:
    """Compare the first set of runs with every other, and report it; see ``compare_sets``.

    With one other model every measure's own sections follow; with several, what measures show of all models together.
    """
    chosen = aims_of(sets, aims)
    labels = Labels(chosen, {name: text for found in sets for name, text in found.recorded.titles.items()})
    opened: list[tuple[str, str, tuple[Section, ...]]] = []
    beside: dict[str, dict[str, Figures]] = {}

    def use(found: Opened) -> None:
        view = View(Figures(found.second.result.figures), found.second.answers)
        labels.add(view.labels)
        changes = Figures(found.compared.figures)
        if len(sets) > 2:
            beside.setdefault(found.name, {})[found.model] = changes
        else:
            names = dict.fromkeys(figure.measure for figure in changes)
            opened.extend((found.name, name, MEASURES[name].compared_sections(changes, view)) for name in names)

    compared = compare_sets(sets, aims, step, use)
    first = compared.before if len(sets) > 2 else SIDES[0]
    sides = BEFORE_AFTER if compared.before == BEFORE else (first, SIDES[1])
    opened.extend(_side_by_side(beside, sides[0]))
    models = {model.name: model.gains for model in compared.models}
    own = {model.name: model.aims for model in compared.models}
    gains = gains_chapter(models, labels, own, sides, tuple(_validation(sets)))
    names = (compared.before, *(model.name for model in compared.models))
    return compared, Report(
        title="Models side by side" if len(sets) > 2 else "Two models side by side",
        chapters=(gains, *_chapters(opened)),
        signature=set_signatures(_signatures(compared)),
        measured=tuple(_measured(compared)),
        notes=tuple(_notes(compared)),
        runs=names,
    )


def _validation(sets: Sequence[RunSet]) -> Iterator[Further]:
    """The validation perplexity of every model that has a record, if all were trained from one model."""
    found = {one.name: one.recorded.validation for one in sets[1:]}
    before = {first for first, _ in found.values() if first is not None}
    if len(before) == 1:
        after = {name: own for name, (_, own) in found.items()}
        yield Further("Perplexity of validation texts", "perplexity", before.pop(), after)


def _side_by_side(
    runs: Mapping[str, Mapping[str, Figures]], first: str
) -> Iterator[tuple[str, str, tuple[Section, ...]]]:
    """For each run and measure, the sections on all models together."""
    for run, changes in runs.items():
        for name, measure in MEASURES.items():
            yield run, name, measure.side_by_side(changes, first)


def _chapters(opened: Sequence[tuple[str, str, tuple[Section, ...]]]) -> Iterator[Chapter]:
    """One chapter for each measure, in the order of ``MEASURES``; sections of several runs have the run's name."""
    for name, measure in MEASURES.items():
        own = [(run, sections) for run, found, sections in opened if found == name]
        several = len(own) > 1
        made = [_named(section, run) if several else section for run, sections in own for section in sections]
        if made:
            yield Chapter(measure.info, tuple(made))


def _named(section: Section, run: str) -> Section:
    """A section and its parts under names that no other run has."""

    def block(one: Block) -> Block:
        return one if isinstance(one, Paragraph) else replace(one, name=f"{one.name}-{run}")

    blocks = tuple(map(block, section.blocks))
    return replace(section, name=f"{section.name}-{run}", title=f"{section.title}: {run}", blocks=blocks)


def _measured(compared: ComparedSets) -> Iterator[str]:
    several = len(compared.models) > 1
    shared = "in common" if several else "in both"
    lines = ((model.name, _counts(run, shared)) for model in compared.models for run in model.runs)
    for line, models in said_by(lines).items():
        yield line if len(models) == len(compared.models) else f"{', '.join(models)}: {line}"
    if several:
        yield "For the sections of each measure compare two models."
    yield NO_VERDICT


def _counts(run: NamedComparison, shared: str) -> str:
    counts, named = run.compared.sentences, f"{_in_words(run.name)}: " if run.name else ""
    others = {"changed": counts.changed, "gone": counts.gone, "added": counts.added}
    differ = ", ".join(f"{count:,} {what}" for what, count in others.items())
    return f"{named}{counts.common:,} {counts.what} {shared}{f'; {differ}' if any(others.values()) else ''}."


def _in_words(run: str) -> str:
    """A run that is named after its measure by the measure's title."""
    return MEASURES[run].info.title if run in MEASURES else run


def _notes(compared: ComparedSets) -> Iterator[str]:
    several = len(compared.models) > 1
    said = said_by((model.name, line) for model in compared.models for line in _model_differences(model))
    yield from (f"{', '.join(names)}: {line}" if several else line for line, names in said.items())
    runs = [run.compared for model in compared.models for run in model.runs]
    notes = (signature.model.note for run in runs for signature in (run.first, run.second))
    yield from dict.fromkeys(filter(None, notes))


def _model_differences(model: ComparedModel) -> Iterator[str]:
    """Name the runs and measures of a model that are not compared, and the settings that differ."""
    if model.unmatched:
        yield f"Runs without a counterpart: {', '.join(model.unmatched)}."
    yield from (f"Not compared: {reason}." for reason in model.failed)
    for run in model.runs:
        yield from (f"{line}." for line in run.compared.left_out)
        settings = [*run.compared.settings_that_differ]
        differs = ["release" if "release" in run.compared.differs else "", *settings]
        named = ", ".join(name.replace("_", " ") for name in differs if name)
        if named:
            yield f"Besides the model, settings of {_in_words(run.name) or 'the run'} differ: {named}."


def _signatures(compared: ComparedSets) -> list[tuple[str, list[Signature | None]]]:
    """For each run by name, the signature of the first model and of every other."""
    found: dict[str, list[Signature | None]] = {}
    for place, model in enumerate(compared.models, 1):
        for run in model.runs:
            own = found.setdefault(run.name or "the run", [None] * (1 + len(compared.models)))
            own[0], own[place] = run.compared.first, run.compared.second
    return list(found.items())
