"""One evaluation from end to end: a release and a model in, a run's folder out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from holisticbias.output import new_folder
from holisticbias.release import Release, build_release, open_release
from holisticbias.validate import load_catalog
from holisticbias_eval import scoring
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias, select_sentences
from holisticbias_eval.measures.trust import measure_trust
from holisticbias_eval.models.api import ApiScorer
from holisticbias_eval.models.engines import EngineOptions, start_engine
from holisticbias_eval.models.ray_engine import RayScorer
from holisticbias_eval.plan import Plan, plan
from holisticbias_eval.report.page import write_page
from holisticbias_eval.run import (
    SENTENCE_COLUMNS,
    ReleaseSignature,
    Result,
    Run,
    is_run,
    likelihood_bias_result,
    sign,
    write_run,
)
from holisticbias_eval.store import API_BLOCK, BLOCK, ScoreStore, StoredScorer


@dataclass(frozen=True, slots=True)
class Storage:
    """Where scores are kept between runs; without a ``folder`` they are not."""

    folder: Path | None = None


def evaluate(
    model: str | None,
    release: Path | None,
    measures: tuple[str, ...],
    out: Path | None,
    options: EngineOptions | None = None,
    storage: Storage | None = None,
) -> tuple[Path, Run]:
    """Score, measure and report; the folder written, and what it holds.

    The newest version is compiled from the terms where no release is given. The
    folder appears when all is done, or not at all; scores are kept as they come.
    """
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise EvaluationError(f"there is no measure {unknown[0]!r}; there are: {', '.join(MEASURES)}")
    opened = _open(release)
    scorer = start_engine(model, _notice, options)
    folder = out or Path("runs") / f"{_file_name(scorer.identity.name)}-on-{opened.version}"
    with new_folder(folder, is_run) as made:
        run = _measure(opened, _stored(scorer, opened, storage), measures)
        write_run(run, made)
        write_page(run, made)
    return folder, run


def dry_run(
    model: str | None, release: Path | None, options: EngineOptions | None = None, storage: Storage | None = None
) -> Plan:
    """What an evaluation would have to score, and how long it would take; nothing is written."""
    opened = _open(release)
    scorer = start_engine(model, _notice, options)
    stored = _stored(scorer, opened, storage)
    spans, _ = scoring.unique_spans(scoring.whole(select_sentences(opened.sentences)["text"].to_pylist()))
    return plan(scorer, len(spans), stored.missing(spans) if isinstance(stored, StoredScorer) else spans)


def _open(release: Path | None) -> Release:
    return open_release(release) if release else build_release(load_catalog())


def _stored(scorer: scoring.Scorer, release: Release, storage: Storage | None) -> scoring.Scorer:
    if storage is None or storage.folder is None:
        return scorer
    store = ScoreStore(storage.folder, scorer, release.digest, _notice)
    if isinstance(scorer, RayScorer):
        return StoredScorer(scorer, store, scorer.score_blocks)
    return StoredScorer(scorer, store, block=API_BLOCK if isinstance(scorer, ApiScorer) else BLOCK)


def _measure(release: Release, scorer: scoring.Scorer, measures: tuple[str, ...]) -> Run:
    selected = select_sentences(release.sentences)
    with _progress(selected, scorer) as progress:
        scores = scoring.score_sentences(selected.select(list(SENTENCE_COLUMNS)), scorer, progress)
    signature = sign(
        ReleaseSignature(version=release.version, subset=release.manifest.subset, digest=release.digest),
        scorer,
        measures,
        scored=scores.num_rows,
        available=release.sentences.num_rows,
    )
    bias = likelihood_bias_result(measure_likelihood_bias(scores))
    return Run(Result(signature=signature, likelihood_bias=bias, trust=measure_trust(scores)), scores)


@contextmanager
def _progress(sentences: pa.Table, scorer: scoring.Scorer) -> Iterator[scoring.Progress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        total = len(sentences["text"].unique())
        task = bar.add_task(f"Scoring with {scorer.identity.name}", total=total, rate="")

        def advance(done: int) -> None:
            bar.advance(task, done)
            speed = bar.tasks[task].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


def _notice(message: str) -> None:
    Console(stderr=True).print(message, highlight=False, markup=False)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
