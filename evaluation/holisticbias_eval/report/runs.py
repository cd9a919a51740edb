"""Reports of runs, of two runs or several models side by side, and of a user's table of scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.report import signature as in_words
from holisticbias_eval.report.gain_words import BEFORE_AFTER, Labels
from holisticbias_eval.report.gains import MITIGATED, SIDES, gains_chapter
from holisticbias_eval.report.report import Chapter, Report, said_by
from holisticbias_eval.results import run_sets
from holisticbias_eval.results.compare import ComparedRuns
from holisticbias_eval.results.gains import Aim, find_gains, sort_gains
from holisticbias_eval.results.run import Run
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.settings import listed
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.units import show

_FACTS = {"task": "Task", "classifier_model": "Model", "licence": "Licence", "source": "Source", "limits": "Limits"}
"""What is said of a classifier, in this order, by the name of its property."""


def classifier_cards(classifiers: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The title of each classifier, and its task, model, licence, source and limits as far as they are known.

    ``classifiers`` has the properties of each by its id, as in a run's signature.
    """
    for name, about in classifiers.items():
        facts = (f"{said}: {about[fact].strip().rstrip('.')}." for fact, said in _FACTS.items() if about.get(fact))
        yield f"Classifier: {about.get('title') or name}", " ".join(facts)


_LEAST_NATS = 0.0005
"""A smaller difference would be shown as 0."""
NO_VERDICT = "The figures do not say which differences harm: people judge that."
Opened = tuple[str, str, tuple[Section, ...]]
"""The name of a run, a measure of it, and the sections of the measure."""


def run_report(run: Run) -> Report:
    """The report of a run: a chapter for each of its measures, in the order of ``MEASURES``."""
    signature = run.result.signature
    view = _view(run)
    measures = [measure for name, measure in MEASURES.items() if name in signature.measures]
    subjects = " and ".join(dict.fromkeys(TASKS[measure.task].subject for measure in measures))
    return Report(
        title=in_words.run_title(signature),
        chapters=tuple(Chapter(measure.info, partial(measure.sections, view)) for measure in measures),
        signature=tuple(in_words.signature_rows(signature)),
        classifiers=tuple(classifier_cards(signature.classifiers)),
        measured=(
            *((f"{signature.sentences_scored:,} {subjects}.",) if subjects else ()),
            *in_words.terms_measured(signature),
            *in_words.unknown_measures(signature),
        ),
        notes=in_words.signature_notes(signature),
    )


def measurement_report(measure: str, scores: str, view: View, further: tuple[Section, ...]) -> Report:
    """The report of a measure of a table of scores, which has this name."""
    found = MEASURES[measure]
    chapter = Chapter(found.info, (*found.sections(view), *further))
    return Report(title=f"{found.info.title} of {scores}", chapters=(chapter,))


def comparison_report(
    compared: ComparedRuns,
    first: Run,
    second: Run,
    aims: Sequence[Aim] = (),
    titles: Mapping[str, str] | None = None,
) -> Report:
    """The report of two runs side by side, whose answers have the labels.

    If the models differ, gains and costs come first, the figures that are aimed at before all others. ``titles`` are
    those of specifications that are not known otherwise.
    """
    changes, view = Figures(compared.figures), _view(second, first)
    chapters = [Chapter(MEASURES[name].info, sections) for _, name, sections in _sections("", changes, view)]
    gains = sort_gains(tuple(find_gains(changes, aims, after=view.figures)))
    if "model" in compared.differs and gains:
        labels = Labels(aims, titles)
        labels.add(view.labels)
        chapters.insert(0, gains_chapter({"B": gains}, labels, {"B": aims}))
    run = run_sets.NamedComparison(name="", compared=compared)
    model = run_sets.ComparedModel(name="B", gains=gains, runs=(run,), aims=tuple(aims))
    sets = run_sets.ComparedSets(before="A", aims=tuple(aims), models=(model,))
    return _report(sets, "Two runs side by side", chapters, map(in_words.run_title, (compared.first, compared.second)))


def sets_report(
    sets: Sequence[run_sets.RunSet], aims: Sequence[Aim], step: Callable[[str], None]
) -> tuple[run_sets.ComparedSets, Report]:
    """Compare the first set of runs with every other, and report it; see ``compare_sets``.

    With one other model every measure's own sections follow; with several, what measures show of all models together.
    """
    several = len(sets) > 2
    labels = Labels(run_sets.aims_of(sets, aims), run_sets.titles_of(sets))
    opened: list[Opened] = []
    beside: dict[str, dict[str, Figures]] = {}

    def use(run: str, model: str, compared: ComparedRuns, first: Run, second: Run) -> None:
        view, changes = _view(second, first), Figures(compared.figures)
        labels.add(view.labels)
        if several:
            beside.setdefault(run, {})[model] = changes
        else:
            opened.extend(_sections(run, changes, view))

    compared = run_sets.compare_sets(sets, aims, step, use)
    mitigated = compared.before == run_sets.BEFORE
    if several:
        sides = BEFORE_AFTER if mitigated else (compared.before, "This model")
        title = "Models before and after mitigation" if mitigated else "Models side by side"
    else:
        sides = MITIGATED if mitigated else SIDES
        title = sets[1].title if mitigated else "Two models side by side"
    opened += [
        (run, name, made)
        for run, found in beside.items()
        for name, m in MEASURES.items()
        if (made := m.side_by_side(found, sides[0]))
    ]
    models = {model.name: model.gains for model in compared.models}
    aimed = {model.name: model.aims for model in compared.models}
    gains = gains_chapter(models, labels, aimed, sides, _validation(sets))
    names = (run_sets.BEFORE, run_sets.AFTER) if sides == MITIGATED else (compared.before, *models)
    return compared, _report(compared, title, (gains, *_chapters(opened)), names)


def _report(compared: run_sets.ComparedSets, title: str, chapters: Iterable[Chapter], runs: Iterable[str]) -> Report:
    return Report(
        title=title,
        chapters=tuple(chapters),
        signature=tuple(in_words.signatures_side_by_side(_signatures(compared))),
        measured=tuple(_measured(compared)),
        notes=tuple(_notes(compared)),
        runs=tuple(runs),
    )


def _view(run: Run, first: Run | None = None) -> View:
    """The view of a run, with the labels of the first run if it is compared with that."""
    return View(Figures(run.result.figures), run.answers, others=first.answers if first else None)


def _sections(run: str, changes: Figures, view: View) -> Iterator[Opened]:
    """The sections of each measure of a comparison."""
    for name in dict.fromkeys(figure.measure for figure in changes):
        yield run, name, MEASURES[name].compared_sections(changes, view)


def _chapters(opened: Sequence[Opened]) -> Iterator[Chapter]:
    """One chapter for each measure, in the order of ``MEASURES``; sections of several runs have the run's name."""
    for name, measure in MEASURES.items():
        runs = [(run, sections) for run, found, sections in opened if found == name]
        several = len(runs) > 1
        made = [_named(section, run) if several else section for run, sections in runs for section in sections]
        if made:
            yield Chapter(measure.info, tuple(made))


def _named(section: Section, run: str) -> Section:
    """A section and its parts under names that no other run has."""
    blocks = (b if isinstance(b, Paragraph) else replace(b, name=f"{b.name}-{run}") for b in section.blocks)
    title = f"{section.title}: {_run_title(run)}"
    return replace(section, name=f"{section.name}-{run}", title=title, blocks=tuple(blocks))


def _validation(sets: Sequence[run_sets.RunSet]) -> dict[str, float | None]:
    """The validation perplexity of every model that has a record, if all were trained from one model."""
    values = {s.name: s.recorded.validation for s in sets[1:]}
    before = {first for first, _ in values.values() if first is not None}
    after = {name: second for name, (_, second) in values.items()}
    return {"": before.pop(), **after} if len(before) == 1 else {}


def _measured(compared: run_sets.ComparedSets) -> Iterator[str]:
    several = len(compared.models) > 1
    lines = (
        (model.name, line)
        for model in compared.models
        for run in model.runs
        for line in _of_run(run, compared.before, several=several)
    )
    for line, models in said_by(lines).items():
        yield line if len(models) == len(compared.models) else f"{', '.join(models)}: {line}"
    if several:
        yield "The sections of each measure are shown if two models are compared."
    yield NO_VERDICT


def _run_title(run: str) -> str:
    """The name of a run in words: a run that is named after its measure has the measure's title."""
    return MEASURES[run].info.title if run in MEASURES else run


def _of_run(run: run_sets.NamedComparison, first: str, *, several: bool) -> Iterator[str]:
    """The items that both runs have, and what else than the model of runs with names differs."""
    compared, counts = run.compared, run.compared.sentences
    start = f"{_run_title(run.name)}: " if run.name else ""
    shared = "in common" if several else "in both"
    yield (
        f"{start}{counts.common:,} {counts.what} {shared}; {counts.changed:,} changed, {counts.gone:,} gone, "
        f"{counts.added:,} added."
    )
    settings = ", ".join(compared.settings_that_differ).replace("_", " ")
    how = "scoring" if counts.what == "sentences" else "settings"
    prompts = compared.second.release.what if compared.second.release.prompts is not None else "release"
    words = {"scoring": f"{how} ({settings})", "release": prompts}
    if not run.name or compared.differs != ("model",):
        named = ", ".join(words.get(name, name) for name in compared.differs)
        yield f"{start}What differs: {named or 'nothing'}."
    nats = counts.nats or 0.0
    if abs(nats) >= _LEAST_NATS and not {"model", "scoring"}.isdisjoint(compared.differs):
        than = "than before" if first == run_sets.BEFORE else f"than in {first}"
        yield (
            f"{start}The common sentences are {'less' if nats > 0 else 'more'} likely "
            f"{than if several else 'in B than in A'}, by {show(abs(nats), 'nats per sentence')} nats per sentence on "
            "average."
        )


def _notes(compared: run_sets.ComparedSets) -> Iterator[str]:
    """The runs and measures that are not compared, and the notes of all runs, each once."""
    several = len(compared.models) > 1
    reasons = said_by((model.name, line) for model in compared.models for line in _not_compared(model))
    yield from (f"{', '.join(names)}: {line}" if several else line for line, names in reasons.items())
    signed = (
        (name, signature)
        for model in compared.models
        for run in model.runs
        for name, signature in ((compared.before, run.compared.first), (model.name, run.compared.second))
    )
    notes = said_by((name, note) for name, signature in signed for note in in_words.signature_notes(signature))
    yield from (f"{listed(list(dict.fromkeys(names)))}: {note}" for note, names in notes.items())


def _not_compared(model: run_sets.ComparedModel) -> Iterator[str]:
    if model.unmatched:
        yield f"Runs without a counterpart: {', '.join(model.unmatched)}."
    yield from (f"Not compared: {reason}." for reason in model.failed)
    yield from (f"{line}." for run in model.runs for line in run.compared.left_out)


def _signatures(compared: run_sets.ComparedSets) -> list[tuple[str, list[Signature | None]]]:
    """For each run by name, the signature of the first model and of every other."""
    rows: dict[str, list[Signature | None]] = {}
    for place, model in enumerate(compared.models, 1):
        for run in model.runs:
            row = rows.setdefault(_run_title(run.name) or "the run", [None] * (1 + len(compared.models)))
            row[0], row[place] = run.compared.first, run.compared.second
    return list(rows.items())
