"""One evaluation from end to end: from a release and a model to the folder of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.free_memory import free_memory
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.likelihood.plan import Plan
from holisticbias_eval.pipeline.jobs import Job
from holisticbias_eval.pipeline.preparing import Inputs, is_scored, prepare
from holisticbias_eval.pipeline.scoring import ScoringJob
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.replacement import may_replace
from holisticbias_eval.results.run import REPORT, Run, write_run

NOTHING = Inputs()
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


def evaluate(
    model: str | None,
    release: str | None,
    runs: Runs,
    given: Inputs = NOTHING,
    *,
    display: Display,
    overwrite: bool = False,
) -> Iterator[tuple[Path, Run, Report]]:
    """Ask, measure and report; yield each run's folder as it is written, the run, and its report.

    The default ``model`` is an embedded model; for ``release`` see ``jobs.find_release``.
    A run's folder is written whole or not at all. A folder that holds another
    run is refused before anything is asked, unless ``overwrite``.
    """
    jobs = prepare(model, release, [measures for measures, _ in runs], given, display)
    folders = [out or Path("runs") / job.name for job, (_, out) in zip(jobs, runs, strict=True)]
    allowed = [partial(may_replace, signature=job.signature, overwrite=overwrite) for job in jobs]
    for folder, may in zip(folders, allowed, strict=True):
        refuse_target(folder, may)
    for job, folder, may in zip(jobs, folders, allowed, strict=True):
        with new_folder(folder, may) as unfinished, _kept_if_interrupted(job):
            run = job.run(display)
            with display.step("Writing the report"):
                write_run(run, unfinished)
                free_memory()
                report = run_report(run)
                write_report(report, "html", None, unfinished / REPORT)
        yield folder, run, report


def dry_run(
    model: str | None, release: str | None, measures: Sequence[tuple[str, ...]], given: Inputs, display: Display
) -> Iterator[Plan]:
    """Yield for each run how much there is to score and how long it would take; nothing is written.

    The arguments are those of ``evaluate``. Raises ``EvaluationError`` if the
    engine cannot count its work, and for measures of responses.
    """
    for names in measures:
        if not is_scored(names):
            raise EvaluationError(f"--dry-run is for measures of likelihoods, not for {names[0]}: try it with --limit")
    for job in prepare(model, release, measures, given, display):
        if not isinstance(job, ScoringJob):
            raise EvaluationError("--dry-run cannot count this work: it is for measures of likelihoods")
        yield job.plan(display)


@contextmanager
def _kept_if_interrupted(job: Job) -> Iterator[None]:
    """Add to an interruption what the store holds so far."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(job.kept) from error
