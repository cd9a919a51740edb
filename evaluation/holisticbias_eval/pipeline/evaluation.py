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

from holisticbias import build_release, open_release
from holisticbias.output import new_folder, refuse_target
from holisticbias.release.release import Release
from holisticbias.rules.validate import load_catalog
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.likelihood import scorer as scoring
from holisticbias_eval.likelihood.api import ApiScorer
from holisticbias_eval.likelihood.causal import CausalScorer
from holisticbias_eval.likelihood.engines import EngineOptions, start_engine
from holisticbias_eval.likelihood.masked import MaskedScorer
from holisticbias_eval.likelihood.plan import Plan, count_work, estimate_seconds
from holisticbias_eval.likelihood.ray_engine import RayScorer
from holisticbias_eval.measures import MEASURES, PSEUDO_LIKELIHOOD_BIAS
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias
from holisticbias_eval.measures.trust.trust import measure_trust
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.progress import notice, progress, step
from holisticbias_eval.prompts.contexts import Context
from holisticbias_eval.prompts.questions import Asked, ask
from holisticbias_eval.prompts.seat import gendered_sentences
from holisticbias_eval.report.page import write_page
from holisticbias_eval.results.differences import may_replace
from holisticbias_eval.results.run import (
    MaskedInputs,
    ReleaseSignature,
    Result,
    Run,
    Signature,
    Skipped,
    likelihood_bias_result,
    sign,
    with_probe,
    write_run,
)
from holisticbias_eval.store.store import API_BLOCK, BLOCK, ScoreStore, StoredScorer

Runs = Sequence[tuple[tuple[str, ...], Path | None]]  # measures, and the folder

GENDERED = "a descriptor that goes with some nouns alone"
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_TRIED = 4096


@dataclass(frozen=True, slots=True)
class Storage:
    """Where scores are kept between runs; without a ``folder`` they are not."""

    folder: Path | None = None


def runs_of(measures: Sequence[str], out: Path | None) -> Runs:
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


@dataclass(frozen=True, slots=True)
class _Job:
    """A run to make: a release, what is asked of which scorer, and what will be on record of it."""

    release: Release
    scorer: scoring.Scorer
    asked: Asked
    signature: Signature


def evaluate(
    model: str | None,
    release: Path | None,
    runs: Runs,
    options: EngineOptions | None = None,
    storage: Storage | None = None,
    context: Context | None = None,
    *,
    overwrite: bool = False,
) -> Iterator[tuple[Path, Run]]:
    """Score, measure and report; yields each folder when it is written, and what it holds.

    ``release`` is a folder or the number of a version, which is compiled from the
    terms; by default it is the newest published version. A folder appears when its
    run is done, or not at all; scores are kept as they come. A folder of another
    run is refused before anything is scored, unless ``overwrite``.
    """
    jobs = _prepare(model, release, [measures for measures, _ in runs], options, context)
    folders = [out or Path("runs") / _run_name(job) for job, (_, out) in zip(jobs, runs, strict=True)]
    allowed = [partial(may_replace, signature=job.signature, overwrite=overwrite) for job in jobs]
    for folder, may in zip(folders, allowed, strict=True):
        refuse_target(folder, may)
    for job, folder, may in zip(jobs, folders, allowed, strict=True):
        scorer = _stored(job, storage)
        with new_folder(folder, may) as made, _kept_if_interrupted(scorer):
            run = _run(job, scorer)
            with step("Writing the report"):
                write_run(run, made)
                write_page(run, made)
        yield folder, run


def dry_run(
    model: str | None,
    release: Path | None,
    measures: Sequence[tuple[str, ...]],
    options: EngineOptions | None = None,
    storage: Storage | None = None,
    context: Context | None = None,
) -> Iterator[Plan]:
    """Yield what the run of each measure would have to score, and how long that would take; nothing is written."""
    for job in _prepare(model, release, measures, options, context):
        if not isinstance(job.scorer, scoring.Measurable):
            raise EvaluationError("a dry run is for the local engine: it scores a few sentences to time them")
        with step("Finding the texts that are not scored yet"):
            distinct, _ = scoring.unique_spans(job.asked.together)
            stored = _stored(job, storage)
            blocks = stored.blocks(distinct) if isinstance(stored, StoredScorer) else [distinct]
        missing = sum(map(len, blocks))
        if blocks:
            _probe(job)
        with progress("Counting tokens", missing) as counted:
            works = count_work(job.scorer, blocks, counted)
        with step("Timing a few texts"):
            seconds = estimate_seconds(job.scorer, blocks, works)
        work = scoring.Work(sum(w.tokens for w in works), sum(w.forward for w in works))
        yield Plan(len(distinct), missing, work, seconds)


def _prepare(
    model: str | None,
    release: Path | None,
    measures: Sequence[tuple[str, ...]],
    options: EngineOptions | None,
    context: Context | None,
) -> list[_Job]:
    """Open the release and start the engine, once for all measures; refused if they do not fit each other."""
    with step(f"Opening release {release}" if release else "Opening the newest release"):
        opened = _open(release)
    with step(f"Loading model {model or EMBEDDED_MODEL}"):
        scorer = start_engine(model, notice, options)
    if (PSEUDO_LIKELIHOOD_BIAS,) in measures and scorer.settings.get("scorer") != "masked":
        raise EvaluationError(f"{PSEUDO_LIKELIHOOD_BIAS} needs a masked model, which {scorer.identity.name} is not")
    with step("Selecting sentences"):
        return [_job(opened, scorer, names, context or Context()) for names in measures]


def _job(release: Release, scorer: scoring.Scorer, measures: tuple[str, ...], context: Context) -> _Job:
    joined = scorer.settings.get("scorer") != "seq2seq"
    told = {} if context.told is None else {"context": context.told}
    asked = ask(release, measures, partial(context.draw, joined=joined))
    skipped = _skipped(release.sentences, measures)
    signature = sign(
        ReleaseSignature(version=release.version, subset=release.manifest.subset, digest=release.digest),
        scorer.identity,
        {**scorer.settings, **told},
        measures,
        scored=len(asked.spans),
        available=len(asked.spans) + sum(s.sentences for s in skipped),
        skipped=skipped,
    )
    return _Job(release, scorer, asked, signature)


def _open(release: Path | None) -> Release:
    """The release in a folder; the version of this number, or else the newest published, compiled from the terms."""
    if release is None:
        return build_release(load_catalog())
    if _VERSION.fullmatch(str(release)) and not release.exists():
        return build_release(load_catalog(), str(release))
    return open_release(release)


def _stored(job: _Job, storage: Storage | None) -> scoring.Scorer:
    scorer = job.scorer
    if storage is None or storage.folder is None:
        return scorer
    store = ScoreStore(storage.folder, scorer, job.release.digest, notice)
    if isinstance(scorer, RayScorer):
        return StoredScorer(scorer, store, scorer.score_blocks)
    return StoredScorer(scorer, store, block=API_BLOCK if isinstance(scorer, ApiScorer) else BLOCK)


@contextmanager
def _kept_if_interrupted(scorer: scoring.Scorer) -> Iterator[None]:
    """Let an interruption say how many scores are kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        kept = "no scores are kept without a store (--no-store): the same command starts over"
        if isinstance(scorer, StoredScorer):
            kept = f"{scorer.kept}; the same command goes on from there"
        raise KeyboardInterrupt(kept) from error


def _run(job: _Job, scorer: scoring.Scorer) -> Run:
    """Score and measure."""
    probe = _probe(job)
    before = job.scorer.inputs if isinstance(job.scorer, MaskedScorer) else (0, 0)
    scores = _score(job.asked, scorer)
    with step("Measuring"):
        bias = likelihood_bias_result(measure_likelihood_bias(scores))
        trust, pairs = measure_trust(scores)
    result = Result(
        signature=with_probe(job.signature, probe),
        likelihood_bias=bias,
        trust=trust,
        masked_inputs=_masked_inputs(job.scorer, before),
    )
    return Run(result, scores, pairs)


def _probe(job: _Job) -> scoring.Probe | None:
    """Test how exact the scores are, before any text is scored or read.

    The texts tried are spread over all lengths. The longest in characters are among
    them, and so most likely the longest in tokens: a block of texts that are longer
    than those tried would be tested again.
    """
    if not isinstance(job.scorer, CausalScorer | RayScorer) or not len(job.asked.spans):
        return None
    with step("Testing how exactly the model is scored"):
        together = job.asked.together
        order = np.argsort(np.fromiter(map(len, together.text), np.int64), kind="stable")
        spread = order[np.linspace(0, len(order) - 1, _TRIED).astype(np.int64)]
        return job.scorer.probe(together.take(np.unique(np.concatenate((spread, order[-_TRIED:])))))


def _score(asked: Asked, scorer: scoring.Scorer) -> pa.Table:
    distinct, rows = scoring.unique_spans(asked.together)
    with progress(f"Scoring with {scorer.identity.name}", len(distinct)) as scored:
        return asked.answer(scoring.score_spans(distinct, scorer, scored).take(rows))


def _masked_inputs(scorer: scoring.Scorer, before: tuple[int, int]) -> MaskedInputs | None:
    """The masked inputs since ``before``, and a line that says how many they were."""
    if not isinstance(scorer, MaskedScorer) or scorer.inputs == before:
        return None
    asked, run = (now - then for now, then in zip(scorer.inputs, before, strict=True))
    notice(f"{run:,} distinct masked inputs answered for {asked:,} masked tokens")
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


def _run_name(job: _Job) -> str:
    """The default name of a run's folder, which tells parts of a release and measures apart."""
    named = [_file_name(job.scorer.identity.name), "on", job.release.version]
    if job.release.manifest.part:
        named.append(_file_name(job.release.manifest.part))
    if PSEUDO_LIKELIHOOD_BIAS in job.signature.measures:
        named.append(PSEUDO_LIKELIHOOD_BIAS)
    return "-".join(named)


def _file_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name if Path(name).exists() else name).strip("-.") or "model"
