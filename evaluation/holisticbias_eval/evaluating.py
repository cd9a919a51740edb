"""One evaluation from end to end: prepare the run of each task, ask, read, measure, report, and write its folder."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from holisticbias.output import new_folder, refuse_target
from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError, PassingError, SelectionError
from holisticbias_eval.measures import MEASURES, find_measure
from holisticbias_eval.models.loading.load import ModelSource
from holisticbias_eval.models.machine import machine, package_versions
from holisticbias_eval.models.trial import Plan
from holisticbias_eval.progress import Display
from holisticbias_eval.records import named_paths
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.results.recipes import RecipeBase, recipe_model
from holisticbias_eval.results.run import REPORT, Result, Run, may_replace, write_run
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import Use, Values, refuse_unused
from holisticbias_eval.tasks import TASKS
from holisticbias_eval.tasks.sources import ReleaseSource, TaskRequests, TaskSource
from holisticbias_eval.tasks.task import Given, Task, TaskReading

_SHORTER = {"small", "where", "limit"}


@dataclass(frozen=True, slots=True)
class _Asking:
    """A task before a model is loaded: its source, what reads its answers, and the parameters of its measures."""

    task: Task
    given: Given
    source: TaskSource
    reading: TaskReading
    measuring: dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run before anything is asked; ``signature`` is complete but for what asking finds out.

    ``name`` is the default name of its folder.
    """

    task: Task
    given: Given
    name: str
    requests: TaskRequests
    reading: TaskReading
    signature: Signature

    def run(self) -> Run:
        """Ask, read the answers, measure, and show the notes; raises ``SelectionError`` without answers."""
        display = self.given.display
        answered = self.requests.answer(display)
        table = self.reading.read(answered.table, display)
        if not table.num_rows:
            raise SelectionError("there is nothing to measure: no row of answers is left")
        with display.step("Measuring"):
            measured = [MEASURES[name].figures(table, self.reading.measuring) for name in self.given.measures]
        for note in (note for found in measured for note in found.notes):
            display.notice(note)
        figures = tuple(figure for found in measured for figure in found.figures)
        beside, details = self.reading.beside(table, figures, display)
        truth = self.task.beside(table, self.signature, self.given)
        result = Result(
            signature=self.signature.model_copy(update=answered.signed),
            figures=(*figures, *beside, *truth),
            masked_inputs=answered.masked_inputs,
        )
        tables = {name: found for one in measured for name, found in one.tables.items()}
        return Run(result, table, {**tables, **details})


def uses_of(measure: str) -> tuple[Use, ...]:
    """The settings that a measure, its task and its engines use."""
    found = MEASURES[measure]
    return (*TASKS[found.task].uses, *found.uses, *found.reading)


def used_names(measures: Sequence[str]) -> frozenset[str]:
    """The names of the settings that some measures use."""
    return frozenset(name for measure in measures for use in uses_of(measure) for name in use.names)


def all_uses() -> Mapping[str, Sequence[Use]]:
    """The settings that each measure uses."""
    return {name: uses_of(name) for name in MEASURES}


def __getattr__(name: str) -> type[RecipeBase]:
    """Make the form of the recipes of evaluations when it is asked for: it has all settings of all measures."""
    if name == "Recipe":
        return recipe_model(all_uses())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def choose_measures(measures: Sequence[str] | None, values: Values) -> tuple[str, ...]:
    """The measures that are named, or those of the sources that are named, or all of a release's own sentences.

    Raises ``EvaluationError`` for an unknown measure, and if no measure is named.
    """
    if measures is not None and not measures:
        raise EvaluationError("--measures names no measure: leave it out, or name one of `holisticbias measures`")
    if measures is None:
        named = {name for name, task in TASKS.items() if task.is_named(values)} or {"sentences"}
        measures = [name for name, measure in MEASURES.items() if measure.task in named]
    chosen = {find_measure(name).info.name for name in measures}
    return tuple(name for name in MEASURES if name in chosen)


def by_task(measures: Sequence[str]) -> list[tuple[str, ...]]:
    """Group measures by task; measures that do not support all kinds of models come first."""
    groups: dict[str, list[str]] = {}
    for name in measures:
        groups.setdefault(MEASURES[name].task, []).append(name)
    ordered = sorted(groups.values(), key=lambda group: min(len(MEASURES[name].needs.models) for name in group))
    return [tuple(names) for names in ordered]


def prepare(
    model: ModelSource, release: ReleaseSource, measures: Sequence[str], values: Values, display: Display
) -> Iterator[Prepared]:
    """Prepare the run of each task.

    Raises ``EvaluationError`` if a file is missing, a model does not fit a measure, or a setting has no effect.
    """
    for asking, started in _started(model, release, measures, values, display):
        yield _prepared(asking, started)


def _started(
    model: ModelSource,
    release: ReleaseSource,
    measures: Sequence[str],
    values: Values,
    display: Display,
    *,
    trial: bool = False,
) -> Iterator[tuple[_Asking, Any]]:
    """Each task before its model is asked, and the model; tasks share a model if they use it in the same way.

    Raises ``EvaluationError`` if a file is missing, a model does not fit a measure, or a setting has no effect; what
    does not depend on the model is refused before one is loaded.
    """
    refuse_unused(values, all_uses(), measures, release)
    _refuse_unasked(values, measures)
    asked: list[_Asking] = []
    opened: dict[tuple[str | None, bool], Release] = {}
    for names in by_task(measures):
        task = TASKS[MEASURES[names[0]].task]
        given = Given(model, release, values, names, display, opened, trial)
        source = task.source(given)
        reading = task.reading(source, given)
        measuring = {name: dict(MEASURES[name].signature(reading.measuring)) for name in names}
        asked.append(_Asking(task, given, source, reading, measuring))
    models: dict[tuple[Any, ...], Any] = {}
    for one in asked:
        key = (type(one.task).model, one.given.named(one.source))
        if key not in models:
            models[key] = one.task.model(one.source, one.given)
        _refuse_kind(one.given.measures, models[key])
        yield one, models[key]


def _prepared(asking: _Asking, model: Any) -> Prepared:
    task, given, source = asking.task, asking.given, asking.source
    reading = asking.reading.start(given.display)
    requests = task.ask(source, model, given)
    about = {**model.settings, **source.about, **requests.settings, **reading.settings}
    skipped = (*source.skipped, *requests.skipped)
    settings: dict[str, Any] = {"scoring": about}
    if task.ability == "generate":
        settings = {"generation": about, "classifiers": reading.signed}
    signature = Signature(
        release=source.signature,
        model=model.identity,
        **settings,
        measures=given.measures,
        measuring=asking.measuring,
        sentences_scored=requests.count,
        sentences_available=requests.count + sum(one.sentences for one in skipped),
        skipped=skipped,
        terms=requests.terms,
        versions=package_versions(),
        machine=machine(),
    )
    name = source.run_name(model.identity, signature, task.name)
    # what is asked is in the requests: the release need not stay in memory
    given = replace(given, opened={})
    return Prepared(task, given, name, requests, reading, signature)


def _refuse_unasked(values: Values, measures: Sequence[str]) -> None:
    """Raise ``EvaluationError`` if a setting names a source of a task that no measure is of."""
    asked = {MEASURES[name].task for name in measures}
    for name, measure in MEASURES.items():
        if measure.task not in asked and TASKS[measure.task].is_named(values):
            raise EvaluationError(f"texts are given for {name}: add it to --measures, or leave them out")


def evaluations(
    model: ModelSource,
    release: ReleaseSource,
    measures: Sequence[str] | None,
    values: Values,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    display: Display,
) -> Iterator[tuple[Path, Run, Report]]:
    """Ask, measure and report; yield each run's folder as it is written, the run, and its report.

    If there are several runs, each has a folder in ``out`` named after its measure, or after its task if it has
    several measures. A run's folder is written whole or not at all. A folder that holds another run is refused before
    anything is asked, unless ``overwrite``.
    """
    from holisticbias_eval.report.write import write_report

    chosen = choose_measures(measures, values)
    made = list(prepare(model, release, chosen, values, display))
    folders = [_folder(one, out, several=len(made) > 1) for one in made]
    allowed = [partial(may_replace, signature=one.signature, overwrite=overwrite) for one in made]
    for folder, may in zip(folders, allowed, strict=True):
        refuse_target(folder, may, named_paths(values))
    for one, folder, may in zip(made, folders, allowed, strict=True):
        with new_folder(folder, may) as unfinished, kept_if_interrupted(one.requests):
            run = one.run()
            with display.step("Writing the report"):
                write_run(run, unfinished)
                report = run_report(run)
                write_report(report, "html", None, unfinished / REPORT)
        yield folder, run, report


def plans(
    model: ModelSource, release: ReleaseSource, measures: Sequence[str] | None, values: Values, display: Display
) -> Iterator[Plan]:
    """Yield for each run how much there is to ask and how long it would take; nothing is written.

    Raises ``EvaluationError`` if the engine cannot count its work, and for measures that are not of likelihoods or
    responses.
    """
    chosen = choose_measures(measures, values)
    for name in chosen:
        if TASKS[MEASURES[name].task].ability not in ("score", "generate"):
            raise EvaluationError(f"--dry-run is for measures of likelihoods and of responses, not for {name}")
    for asking, started in _started(model, release, chosen, values, display, trial=True):
        source, given = asking.source, asking.given
        shorter = used_names(given.measures) & _SHORTER - {*values}
        if source.release is not None and source.release.about.subset:
            shorter -= {"small"}
        yield replace(asking.task.ask(source, started, given).plan(display), shorter=tuple(sorted(shorter)))


def _refuse_kind(measures: Sequence[str], model: Any) -> None:
    """Raise ``EvaluationError`` if a measure does not support a kind of model; a model that is not known has none."""
    for name in measures:
        if model.kind and model.kind not in MEASURES[name].needs.models:
            wanted = " or ".join(MEASURES[name].needs.models)
            raise EvaluationError(f"{name} needs a {wanted} model; {model.identity.name} is a {model.kind} model")


def _folder(one: Prepared, out: Path | None, *, several: bool) -> Path:
    if out is None:
        return Path("runs") / one.name
    return folder_in(out, one.given.measures) if several else out


def folder_in(folder: Path, measures: Sequence[str]) -> Path:
    """The folder of one of several runs: named after its measure, or after its task if it has several."""
    return folder / (measures[0] if len(measures) == 1 else MEASURES[measures[0]].task)


@contextmanager
def kept_if_interrupted(requests: TaskRequests) -> Iterator[None]:
    """Add to an interruption or a passing error what the store holds so far, if it does not say what is kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(str(error) or requests.kept) from error
    except PassingError as error:
        if not requests.stored or " kept" in str(error):
            raise
        raise PassingError(f"{error}; {requests.kept}") from error
