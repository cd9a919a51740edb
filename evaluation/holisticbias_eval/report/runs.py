"""Reports of runs, of two runs side by side, and of a user's table of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import View
from holisticbias_eval.report.gain_words import Labels
from holisticbias_eval.report.gains import gains_chapter
from holisticbias_eval.report.report import Chapter, Report, said_by
from holisticbias_eval.report.signature import (
    both_signatures,
    run_title,
    signature_notes,
    signature_rows,
    terms_measured,
)
from holisticbias_eval.results.compare import ComparedRuns
from holisticbias_eval.results.gains import Aim, find_gains, sort_gains
from holisticbias_eval.results.run import Run
from holisticbias_eval.sections import Section
from holisticbias_eval.tasks import TASKS

_FACTS = {"task": "Task", "classifier_model": "Model", "licence": "Licence", "source": "Source", "limits": "Limits"}
"""What is said of a classifier, in this order, by the name of its property."""


def classifier_cards(classifiers: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """The title of each classifier, and its task, model, licence, source and limits as far as they are known.

    ``classifiers`` has the properties of each by its id, as in a run's signature.
    """
    for name, about in classifiers.items():
        facts = (f"{said}: {about[fact].strip().rstrip('.')}." for fact, said in _FACTS.items() if about.get(fact))
        yield f"Classifier: {about.get('title') or name}", " ".join(facts)


NO_VERDICT = "The figures do not say which differences harm: people judge that."


def run_report(run: Run) -> Report:
    """The report of a run: a chapter for each of its measures, in the order of ``MEASURES``."""
    signature = run.result.signature
    view = View(Figures(run.result.figures), run.answers)
    measures = [measure for name, measure in MEASURES.items() if name in signature.measures]
    subjects = dict.fromkeys(TASKS[measure.task].subject for measure in measures)
    return Report(
        title=run_title(signature),
        chapters=tuple(Chapter(measure.info, partial(measure.sections, view)) for measure in measures),
        signature=tuple(signature_rows(signature)),
        classifiers=tuple(classifier_cards(signature.classifiers)),
        measured=(f"{signature.sentences_scored:,} {' and '.join(subjects)}.", *terms_measured(signature)),
        notes=signature_notes(signature),
        preferences="pair_id" not in run.answers.column_names,
    )


def comparison_report(compared: ComparedRuns, second: Run, aims: Sequence[Aim] = ()) -> Report:
    """The report of two runs side by side; ``second`` gives the labels.

    If the models differ, gains and costs come first, the figures that are aimed at before all others.
    """
    figures = Figures(compared.figures)
    view = View(Figures(second.result.figures), second.answers)
    names = dict.fromkeys(figure.measure for figure in figures)
    sections = {name: MEASURES[name].compared_sections(figures, view) for name in names}
    counts = compared.sentences
    chapters = [Chapter(MEASURES[name].info, found) for name, found in sections.items()]
    gains = sort_gains(tuple(find_gains(figures, aims, after=view.figures)))
    if "model" in compared.differs and gains:
        labels = Labels(aims)
        labels.add(view.labels)
        chapters.insert(0, gains_chapter({"B": gains}, labels, {"B": aims}))
    return Report(
        title="Two runs side by side",
        chapters=tuple(chapters),
        signature=both_signatures(compared.first, compared.second),
        measured=(
            f"{counts.common:,} {counts.what} in both; {counts.changed:,} changed, {counts.gone:,} gone, "
            f"{counts.added:,} added.",
            *_what_differs(compared),
            NO_VERDICT,
        ),
        notes=tuple(_notes(compared)),
        runs=(run_title(compared.first), run_title(compared.second)),
    )


def _notes(compared: ComparedRuns) -> Iterator[str]:
    """The measures that are left out, and the notes of both runs, each once."""
    yield from (f"{line}." for line in compared.left_out)
    both = (("A", compared.first), ("B", compared.second))
    notes = said_by((run, note) for run, signature in both for note in signature_notes(signature))
    yield from (f"{' and '.join(runs)}: {note}" for note, runs in notes.items())


def _what_differs(compared: ComparedRuns) -> Iterator[str]:
    settings = ", ".join(name.replace("_", " ") for name in compared.settings_that_differ)
    how = "scoring" if compared.sentences.what == "sentences" else "settings"
    prompts = compared.second.release.what if compared.second.release.prompts is not None else "release"
    words = {"scoring": f"{how} ({settings})", "release": prompts}
    named = [words.get(name, name) for name in compared.differs]
    yield f"What differs: {', '.join(named) or 'nothing'}."
    nats = compared.sentences.nats
    if nats is not None and not {"model", "scoring"}.isdisjoint(compared.differs):
        yield (
            f"B finds the common sentences {'less' if nats > 0 else 'more'} likely than A does, "
            f"by {abs(nats):.2f} nats per sentence on average."
        )


def measurement_report(measure: str, scores: str, view: View, further: tuple[Section, ...] = ()) -> Report:
    """The report of a measure of a table of scores, which has this name."""
    found = MEASURES[measure]
    chapter = Chapter(found.info, (*found.sections(view), *further))
    return Report(title=f"{found.info.title} of {scores}", chapters=(chapter,))
