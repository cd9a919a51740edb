"""One evaluation from end to end: from a release and a model to the folder of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from holisticbias.output import new_folder, refuse_target
from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.likelihood.engines import EngineOptions
from holisticbias_eval.likelihood.plan import Plan
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.pipeline.answering import AnsweringOptions, prepare_answering
from holisticbias_eval.pipeline.continuing import prepare_continuing
from holisticbias_eval.pipeline.jobs import Job, find_release
from holisticbias_eval.pipeline.pair_scoring import PairOptions, prepare_pairs
from holisticbias_eval.pipeline.retention import MEASURED, RetainOptions, prepare_retention
from holisticbias_eval.pipeline.scoring import ScoringJob, prepare_scoring
from holisticbias_eval.pipeline.test_set_scoring import TestSetOptions, prepare_test_set
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.collections import COLLECTION_PROMPTS
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.pairs import PairPrompts
from holisticbias_eval.prompts.prompts import ScoredPrompts
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.prompts.test_sets import TEST_SETS, TextPrompts
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.replacement import may_replace
from holisticbias_eval.results.run import REPORT, Run, write_run

Runs = Sequence[tuple[tuple[str, ...], Path | None]]
"""The measures of each run, and its folder; None is the default folder."""


def runs_of(measures: Sequence[str] | None, out: Path | None) -> Runs:
    """Group measures into runs: measures with the same prompts share a run and its answers.

    None means all measures of the release's own sentences. Runs whose measures
    do not support all kinds of models come first. If there are several runs, each has a
    folder in ``out`` named after its measure, or after its prompts if it has
    several measures. Raises ``EvaluationError`` if a measure is unknown.
    """
    if measures is None:
        measures = [name for name, measure in MEASURES.items() if measure.prompts is RELEASE_SENTENCES]
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise EvaluationError(f"there is no measure {unknown[0]!r}; available: {', '.join(MEASURES)}")
    groups: dict[str, list[str]] = {}
    for name in (name for name in MEASURES if name in measures):
        groups.setdefault(MEASURES[name].prompts.name, []).append(name)
    ordered = sorted(groups.items(), key=lambda group: min(len(MEASURES[name].needs.models) for name in group[1]))
    several = len(ordered) > 1
    folders = [names[0] if len(names) == 1 else prompts for prompts, names in ordered]
    return tuple(
        (tuple(names), out / folder if out and several else out)
        for (_, names), folder in zip(ordered, folders, strict=True)
    )


def is_scored(measures: Sequence[str]) -> bool:
    """Whether measures that share a run need likelihoods, not responses."""
    prompts = MEASURES[measures[0]].prompts
    return isinstance(prompts, ScoredPrompts | PairPrompts | TextPrompts) or is_retained(measures)


def is_paired(measures: Sequence[str]) -> bool:
    """Whether measures that share a run need pairs of sentences from a file."""
    return isinstance(MEASURES[measures[0]].prompts, PairPrompts)


def is_of_test_set(measures: Sequence[str]) -> bool:
    """Whether measures that share a run need sentences of a test set."""
    return MEASURES[measures[0]].prompts is TEST_SETS


def is_retained(measures: Sequence[str]) -> bool:
    """Whether measures that share a run are of a text, of dialogues or of a command that the user names."""
    return measures[0] in MEASURED


def is_continued(measures: Sequence[str]) -> bool:
    """Whether measures that share a run are of texts about groups."""
    return MEASURES[measures[0]].prompts is COLLECTION_PROMPTS


def evaluate(
    model: str | None,
    release: str | None,
    runs: Runs,
    options: EngineOptions | None = None,
    store: Path | None = None,
    context: Context | None = None,
    *,
    answering: AnsweringOptions | None = None,
    pairs: PairOptions | None = None,
    test_set: TestSetOptions | None = None,
    retain: RetainOptions | None = None,
    display: Display,
    overwrite: bool = False,
) -> Iterator[tuple[Path, Run, Report]]:
    """Ask, measure and report; yield each run's folder as it is written, the run, and its report.

    The default ``model`` is an embedded model; for ``release`` see
    ``jobs.find_release``; ``store`` is the folder that keeps scores between runs,
    ``answering`` are the options of measures of responses, ``pairs`` of measures of pairs, ``test_set`` of measures of
    sentences about groups, ``retain`` of measures of what a mitigation may cost; the last three need no release.
    A run's folder is written whole or not at all. A folder that holds another
    run is refused before anything is asked, unless ``overwrite``.
    """
    paired = [measures for measures, _ in runs if is_paired(measures)]
    grouped = [measures for measures, _ in runs if is_of_test_set(measures)]
    retained = [measures for measures, _ in runs if is_retained(measures)]
    files = (*paired, *grouped, *retained)
    scored = [measures for measures, _ in runs if is_scored(measures) and measures not in files]
    continued = [measures for measures, _ in runs if is_continued(measures)]
    answered = [measures for measures, _ in runs if not is_scored(measures) and measures not in continued]
    asking = answering or AnsweringOptions()
    made: list[Job] = []
    if paired:
        made += prepare_pairs(model, paired, _given(pairs), options, store, display)
    if grouped:
        made += prepare_test_set(model, grouped, test_set, options, store, context, display)
    made += prepare_retention(model, retained, retain or RetainOptions(), options, store, display)
    if scored or answered:
        opened = _opened(release, display)
    if scored:
        made += prepare_scoring(model, opened, scored, options, store, context, display)
    if answered:
        made += prepare_answering(model, opened, answered, asking, display)
    made += [prepare_continuing(model, release, measures, asking, display) for measures in continued]
    jobs = [next(job for job in made if job.signature.measures == measures) for measures, _ in runs]
    folders = [out or Path("runs") / job.name for job, (_, out) in zip(jobs, runs, strict=True)]
    allowed = [partial(may_replace, signature=job.signature, overwrite=overwrite) for job in jobs]
    for folder, may in zip(folders, allowed, strict=True):
        refuse_target(folder, may)
    for job, folder, may in zip(jobs, folders, allowed, strict=True):
        with new_folder(folder, may) as unfinished, _kept_if_interrupted(job):
            run = job.run(display)
            with display.step("Writing the report"):
                write_run(run, unfinished)
                report = run_report(run)
                write_report(report, "html", None, unfinished / REPORT)
        yield folder, run, report


def dry_run(
    model: str | None,
    release: str | None,
    measures: Sequence[tuple[str, ...]],
    options: EngineOptions | None = None,
    store: Path | None = None,
    context: Context | None = None,
    *,
    pairs: PairOptions | None = None,
    test_set: TestSetOptions | None = None,
    retain: RetainOptions | None = None,
    display: Display,
) -> Iterator[Plan]:
    """Yield for each run how much there is to score and how long it would take; nothing is written.

    The arguments are those of ``evaluate``. Raises ``EvaluationError`` if the
    engine cannot count its work, and for measures of responses.
    """
    for names in measures:
        if not is_scored(names):
            raise EvaluationError(f"--dry-run is for measures of likelihoods, not for {names[0]}: try it with --limit")
    paired = [names for names in measures if is_paired(names)]
    grouped = [names for names in measures if is_of_test_set(names)]
    retained = [names for names in measures if is_retained(names)]
    scored = [names for names in measures if names not in (*paired, *grouped, *retained)]
    jobs: list[Job] = prepare_pairs(model, paired, _given(pairs), options, store, display) if paired else []
    if grouped:
        jobs += prepare_test_set(model, grouped, test_set, options, store, context, display)
    jobs += prepare_retention(model, retained, retain or RetainOptions(), options, store, display)
    if scored:
        jobs += prepare_scoring(model, _opened(release, display), scored, options, store, context, display)
    for job in jobs:
        if not isinstance(job, ScoringJob):
            raise EvaluationError("--dry-run cannot count this work: it is for measures of likelihoods")
        yield job.plan(display)


def _opened(release: str | None, display: Display) -> Release:
    with display.step(f"Opening release {release}" if release else "Opening the newest release"):
        return find_release(release)


def _given(pairs: PairOptions | None) -> PairOptions:
    if pairs is None:
        raise EvaluationError("stereotype_score needs pairs of sentences: name their file or folder with --pairs")
    return pairs


@contextmanager
def _kept_if_interrupted(job: Job) -> Iterator[None]:
    """Add to an interruption what the store holds so far."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(job.kept) from error
