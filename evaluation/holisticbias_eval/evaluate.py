"""One evaluation from end to end: a release and a model in, a run's folder out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from holisticbias.output import new_folder
from holisticbias.release import Release, build_release, open_release
from holisticbias.validate import load_catalog
from holisticbias_eval import scoring
from holisticbias_eval.asked import Asked, ask
from holisticbias_eval.context import Context
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES, PSEUDO_LIKELIHOOD_BIAS
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.measures.trust import measure_trust
from holisticbias_eval.models.api import ApiScorer
from holisticbias_eval.models.causal import CausalScorer
from holisticbias_eval.models.engines import EngineOptions, start_engine
from holisticbias_eval.models.masked import MaskedScorer
from holisticbias_eval.models.ray_engine import RayScorer
from holisticbias_eval.plan import Plan, plan
from holisticbias_eval.report.page import write_page
from holisticbias_eval.run import (
    MaskedInputs,
    ReleaseSignature,
    Result,
    Run,
    Skipped,
    is_run,
    likelihood_bias_result,
    sign,
    write_run,
)
from holisticbias_eval.seat import gendered_sentences
from holisticbias_eval.store import API_BLOCK, BLOCK, ScoreStore, StoredScorer

GENDERED = "a descriptor that goes with some nouns alone"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_TRIED = 128


@dataclass(frozen=True, slots=True)
class Storage:
    """Where scores are kept between runs; without a ``folder`` they are not."""

    folder: Path | None = None


def runs_of(measures: Sequence[str], out: Path | None) -> tuple[tuple[tuple[str, ...], Path | None], ...]:
    """The runs that measures take, each with its measures and its folder.

    Pseudo-log-likelihood bias is over other sentences and has a run of its own; it
    comes first, because it alone refuses models. Where there are several runs each
    has a folder in ``out``, named after its measure. Raises ``EvaluationError``
    where there is no such measure.
    """
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise EvaluationError(f"there is no measure {unknown[0]!r}; there are: {', '.join(MEASURES)}")
    names = sorted(dict.fromkeys(measures), key=lambda name: name != PSEUDO_LIKELIHOOD_BIAS)
    several = len(names) > 1
    return tuple(((name,), out / name if out and several else out) for name in names)


def evaluate(
    model: str | None,
    release: Path | None,
    measures: tuple[str, ...],
    out: Path | None,
    options: EngineOptions | None = None,
    storage: Storage | None = None,
    context: Context | None = None,
) -> tuple[Path, Run]:
    """Score, measure and report; the folder written, and what it holds.

    A version's number in the place of a folder is compiled from the terms, and so
    is the newest published version where no release is given. The folder appears
    when all is done, or not at all; scores are kept as they come.
    """
    opened, scorer, asked, settings = _prepare(model, release, measures, options, context)
    folder = out or Path("runs") / _run_name(scorer.identity.name, opened.version, measures)
    with new_folder(folder, is_run) as made:
        probe = _probe(scorer, asked)
        scores = _score(asked, _stored(scorer, opened, storage))
        run = _measure(opened, scorer, measures, settings, scores, probe)
        write_run(run, made)
        write_page(run, made)
    return folder, run


def dry_run(
    model: str | None,
    release: Path | None,
    measures: tuple[str, ...],
    options: EngineOptions | None = None,
    storage: Storage | None = None,
    context: Context | None = None,
) -> Plan:
    """What an evaluation would have to score, and how long it would take; nothing is written."""
    opened, scorer, asked, _ = _prepare(model, release, measures, options, context)
    stored = _stored(scorer, opened, storage)
    spans, _ = scoring.unique_spans(asked.together)
    return plan(scorer, len(spans), stored.blocks(spans) if isinstance(stored, StoredScorer) else [spans])


def _prepare(
    model: str | None,
    release: Path | None,
    measures: tuple[str, ...],
    options: EngineOptions | None,
    context: Context | None,
) -> tuple[Release, scoring.Scorer, Asked, dict[str, str]]:
    """The release, the scorer, what it is asked, and the settings for the record; refused where they do not fit."""
    opened = _open(release)
    scorer = start_engine(model, _notice, options)
    if PSEUDO_LIKELIHOOD_BIAS in measures and scorer.settings.get("scorer") != "masked":
        raise EvaluationError(f"{PSEUDO_LIKELIHOOD_BIAS} needs a masked model, which {scorer.identity.name} is not")
    context = context or Context()
    joined = scorer.settings.get("scorer") != "seq2seq"
    told = {} if context.told is None else {"context": context.told}
    asked = ask(opened, measures, partial(context.draw, joined=joined))
    return opened, scorer, asked, {**scorer.settings, **told}


def _open(release: Path | None) -> Release:
    """The release in a folder; the version of this number, or else the newest published, compiled from the terms."""
    if release is None:
        return build_release(load_catalog())
    if _VERSION.fullmatch(str(release)) and not release.exists():
        return build_release(load_catalog(), str(release))
    return open_release(release)


def _stored(scorer: scoring.Scorer, release: Release, storage: Storage | None) -> scoring.Scorer:
    if storage is None or storage.folder is None:
        return scorer
    store = ScoreStore(storage.folder, scorer, release.digest, _notice)
    if isinstance(scorer, RayScorer):
        return StoredScorer(scorer, store, scorer.score_blocks)
    return StoredScorer(scorer, store, block=API_BLOCK if isinstance(scorer, ApiScorer) else BLOCK)


def _score(asked: Asked, scorer: scoring.Scorer) -> pa.Table:
    distinct, rows = scoring.unique_spans(asked.together)
    with _progress(len(distinct), scorer) as progress:
        return asked.answer(scoring.score_spans(distinct, scorer, progress).take(rows))


def _probe(scorer: scoring.Scorer, asked: Asked) -> scoring.Probe | None:
    """How exact the scores are, tried on short to long texts before any is scored or read."""
    if not isinstance(scorer, CausalScorer | RayScorer) or not len(asked.spans):
        return None
    order = np.argsort(np.fromiter(map(len, asked.together.text), np.int64), kind="stable")
    return scorer.probe(asked.together.take(order[np.linspace(0, len(order) - 1, _TRIED).astype(np.int64)]))


def _measure(
    release: Release,
    scorer: scoring.Scorer,
    measures: tuple[str, ...],
    settings: dict[str, str],
    scores: pa.Table,
    probe: scoring.Probe | None,
) -> Run:
    skipped = _skipped(release.sentences, measures)
    signature = sign(
        ReleaseSignature(version=release.version, subset=release.manifest.subset, digest=release.digest),
        scorer.identity,
        settings,
        measures,
        scored=scores.num_rows,
        available=scores.num_rows + sum(s.sentences for s in skipped),
        skipped=skipped,
        probe=probe,
    )
    bias = likelihood_bias_result(measure_likelihood_bias(scores))
    trust, pairs = measure_trust(scores)
    result = Result(signature=signature, likelihood_bias=bias, trust=trust, masked_inputs=_masked_inputs(scorer))
    return Run(result, scores, pairs)


def _masked_inputs(scorer: scoring.Scorer) -> MaskedInputs | None:
    if not isinstance(scorer, MaskedScorer) or not scorer.inputs[0]:
        return None
    asked, run = scorer.inputs
    _notice(f"{run:,} distinct masked inputs answered for {asked:,} masked tokens")
    return MaskedInputs(asked=asked, run=run)


def _skipped(sentences: pa.Table, measures: tuple[str, ...]) -> tuple[Skipped, ...]:
    """The sentences that the measures are not over, by reason."""
    if measures == (PSEUDO_LIKELIHOOD_BIAS,):
        count = gendered_sentences(sentences)
        return (Skipped(reason=GENDERED, sentences=count),) if count else ()
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    gendered = pc.not_equal(pc.fill_null(sentences["descriptor_gender"].cast(pa.string()), "any"), "any")
    with_noun = pc.is_in(kinds, pa.array(["descriptor_noun", "noun_descriptor"]))
    reasons = {
        "no noun: a descriptor alone gives one sentence a template": pc.is_in(
            kinds, pa.array(["descriptor", "fixed_phrase"])
        ),
        "no descriptor: control sentences": pc.equal(kinds, "noun"),
        GENDERED: pc.and_(with_noun, gendered),
    }
    counts = {reason: pc.sum(mask.cast(pa.int64())).as_py() or 0 for reason, mask in reasons.items()}
    return tuple(Skipped(reason=reason, sentences=count) for reason, count in counts.items() if count)


@contextmanager
def _progress(total: int, scorer: scoring.Scorer) -> Iterator[scoring.Progress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(f"Scoring with {scorer.identity.name}", total=total, rate="")

        def advance(done: int) -> None:
            bar.advance(task, done)
            speed = bar.tasks[task].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


def _notice(message: str) -> None:
    Console(stderr=True).print(message, highlight=False, markup=False, soft_wrap=True)


def _run_name(model: str, version: str, measures: tuple[str, ...]) -> str:
    measure = f"-{PSEUDO_LIKELIHOOD_BIAS}" if PSEUDO_LIKELIHOOD_BIAS in measures else ""
    return f"{_file_name(model)}-on-{version}{measure}"


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
