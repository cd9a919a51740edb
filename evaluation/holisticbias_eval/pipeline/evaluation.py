"""One evaluation from end to end: from a release and a model to the folder of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.output import new_folder, refuse_target
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.likelihood.engines import EngineOptions
from holisticbias_eval.likelihood.plan import Plan, count_work, estimate_seconds
from holisticbias_eval.likelihood.scorer import InputCounts, Probe, Work, score_spans
from holisticbias_eval.likelihood.stored import StoredScorer
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, prepare_jobs
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.sentences import RELEASE_SENTENCES
from holisticbias_eval.report.report import Report
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.report.write import write_report
from holisticbias_eval.results.replacement import may_replace
from holisticbias_eval.results.run import REPORT, MaskedInputs, Result, Run, write_run
from holisticbias_eval.results.signature import with_probe

Runs = Sequence[tuple[tuple[str, ...], Path | None]]
"""The measures of each run, and its folder; None is the default folder."""

_TRIED = 4096


def runs_of(measures: Sequence[str] | None, out: Path | None) -> Runs:
    """Group measures into runs: measures with the same prompts share a run and its scores.

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
    options: EngineOptions | None = None,
    store: Path | None = None,
    context: Context | None = None,
    *,
    display: Display,
    overwrite: bool = False,
) -> Iterator[tuple[Path, Run, Report]]:
    """Score, measure and report; yield each run's folder as it is written, the run, and its report.

    The default ``model`` is the embedded model; for ``release`` see
    ``jobs.find_release``; ``store`` is the folder that keeps scores between runs.
    A run's folder is written whole or not at all. A folder that holds another
    run is refused before anything is scored, unless ``overwrite``.
    """
    jobs = prepare_jobs(model, release, [measures for measures, _ in runs], options, store, context, display)
    folders = [out or Path("runs") / job.name for job, (_, out) in zip(jobs, runs, strict=True)]
    allowed = [partial(may_replace, signature=job.signature, overwrite=overwrite) for job in jobs]
    for folder, may in zip(folders, allowed, strict=True):
        refuse_target(folder, may)
    for job, folder, may in zip(jobs, folders, allowed, strict=True):
        with new_folder(folder, may) as made, _kept_if_interrupted(job.stored):
            run = _run(job, display)
            with display.step("Writing the report"):
                write_run(run, made)
                report = run_report(run)
                write_report(report, "html", None, made / REPORT)
        yield folder, run, report


def dry_run(
    model: str | None,
    release: str | None,
    measures: Sequence[tuple[str, ...]],
    options: EngineOptions | None = None,
    store: Path | None = None,
    context: Context | None = None,
    *,
    display: Display,
) -> Iterator[Plan]:
    """Yield for each run how much there is to score and how long it would take; nothing is written.

    The arguments are those of ``evaluate``. Raises ``EvaluationError`` if the
    engine cannot count its work.
    """
    for job in prepare_jobs(model, release, measures, options, store, context, display):
        with display.step("Finding the texts that are not scored yet"):
            blocks = job.stored.blocks(job.distinct) if job.stored else [job.distinct]
        missing = sum(map(len, blocks))
        if blocks:
            _probe(job, display)
        with display.progress("Counting tokens", missing) as counted:
            works = count_work(job.scorer, blocks, counted)
        with display.step("Timing a few texts"):
            seconds = estimate_seconds(job.engine, blocks, works)
        work = Work(sum(w.tokens for w in works), sum(w.forward for w in works))
        yield Plan(len(job.distinct), missing, work, seconds)


@contextmanager
def _kept_if_interrupted(stored: StoredScorer | None) -> Iterator[None]:
    """Add the number of kept scores to an interruption."""
    try:
        yield
    except KeyboardInterrupt as error:
        kept = "no scores are kept with --no-store; the same command starts from the beginning"
        if stored:
            kept = f"{stored.kept}; run the same command again to continue"
        raise KeyboardInterrupt(kept) from error


def _run(job: Job, display: Display) -> Run:
    """Score and measure."""
    probe = _probe(job, display)
    before = job.scorer.input_counts()
    scores = _score(job, display)
    with display.step("Measuring"):
        measured = [MEASURES[name].figures(scores, SETTINGS) for name in job.signature.measures]
    for note in (note for found in measured for note in found.notes):
        display.notice(note)
    result = Result(
        signature=with_probe(job.signature, probe),
        figures=tuple(figure for found in measured for figure in found.figures),
        masked_inputs=_masked_inputs(before, job.scorer.input_counts(), display),
    )
    return Run(result, scores, {name: table for found in measured for name, table in found.tables.items()})


def _probe(job: Job, display: Display) -> Probe | None:
    """Measure the error of the scores before any text is scored or read from the store.

    The tested texts are of all lengths. They include the longest in characters,
    which are most likely the longest in tokens, because a block with longer texts
    would be tested again.
    """
    with display.step("Preparing to score"):
        together = job.asked.together
        order = np.argsort(np.fromiter(map(len, together.text), np.int64), kind="stable")
        spread = order[np.linspace(0, len(order) - 1, _TRIED).astype(np.int64)]
        return job.scorer.probe(together.take(np.unique(np.concatenate((spread, order[-_TRIED:])))))


def _score(job: Job, display: Display) -> pa.Table:
    with display.progress(f"Scoring with {job.scorer.identity.name}", len(job.distinct)) as scored:
        return job.asked.answer(score_spans(job.distinct, job.scorer, scored).take(job.rows))


def _masked_inputs(before: InputCounts | None, after: InputCounts | None, display: Display) -> MaskedInputs | None:
    """The masked inputs of this run, which it also prints; None if this process ran no masked input."""
    if before is None or after is None or before == after:
        return None
    asked, run = after.asked - before.asked, after.run - before.run
    display.notice(f"{run:,} distinct masked inputs answered for {asked:,} masked tokens")
    return MaskedInputs(asked=asked, run=run)
