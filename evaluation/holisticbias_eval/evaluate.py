"""One evaluation from end to end: a release and a model in, a run's folder out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from holisticbias.grammar import PLURAL_SLOT
from holisticbias.output import new_folder
from holisticbias.release import Release, build_release, open_release
from holisticbias.validate import load_catalog
from holisticbias_eval import scoring
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES, PSEUDO_LIKELIHOOD_BIAS
from holisticbias_eval.measures.likelihood_bias import measure_likelihood_bias, select_sentences
from holisticbias_eval.measures.trust import measure_trust
from holisticbias_eval.models.api import ApiScorer
from holisticbias_eval.models.engines import EngineOptions, start_engine
from holisticbias_eval.models.ray_engine import RayScorer
from holisticbias_eval.plan import Plan, plan
from holisticbias_eval.report.page import write_page
from holisticbias_eval.run import (
    OPTIONAL_COLUMNS,
    SENTENCE_COLUMNS,
    ReleaseSignature,
    Result,
    Run,
    Skipped,
    is_run,
    likelihood_bias_result,
    sign,
    write_run,
)
from holisticbias_eval.seat import seat_sentences
from holisticbias_eval.store import API_BLOCK, BLOCK, ScoreStore, StoredScorer

_VERSION = re.compile(r"\d+\.\d+\.\d+")


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

    A version's number in the place of a folder is compiled from the terms, and so
    is the newest version where no release is given. The
    folder appears when all is done, or not at all; scores are kept as they come.
    """
    unknown = [name for name in measures if name not in MEASURES]
    if unknown:
        raise EvaluationError(f"there is no measure {unknown[0]!r}; there are: {', '.join(MEASURES)}")
    if PSEUDO_LIKELIHOOD_BIAS in measures and len(measures) > 1:
        raise EvaluationError(f"{PSEUDO_LIKELIHOOD_BIAS} is over other sentences: measure it in a run of its own")
    opened = _open(release)
    scorer = start_engine(model, _notice, options)
    if PSEUDO_LIKELIHOOD_BIAS in measures and scorer.settings.get("scorer") != "masked":
        raise EvaluationError(f"{PSEUDO_LIKELIHOOD_BIAS} needs a masked model, which {scorer.identity.name} is not")
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
    selected = select_sentences(opened.sentences)
    texts = [*selected["text"].to_pylist(), *_phrases(selected).to_pylist()]
    spans, _ = scoring.unique_spans(scoring.whole(texts))
    return plan(scorer, len(spans), stored.missing(spans) if isinstance(stored, StoredScorer) else spans)


def _open(release: Path | None) -> Release:
    """The release in a folder; the version of this number, or else the newest, compiled from the terms."""
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


def _measure(release: Release, scorer: scoring.Scorer, measures: tuple[str, ...]) -> Run:
    seat = measures == (PSEUDO_LIKELIHOOD_BIAS,)
    scores = _score_seat(release, scorer) if seat else _score_dialogue(release, scorer)
    signature = sign(
        ReleaseSignature(version=release.version, subset=release.manifest.subset, digest=release.digest),
        scorer,
        measures,
        scored=scores.num_rows,
        available=release.sentences.num_rows,
        skipped=_skipped(release.sentences),
    )
    bias = likelihood_bias_result(measure_likelihood_bias(scores))
    trust, pairs = measure_trust(scores)
    return Run(Result(signature=signature, likelihood_bias=bias, trust=trust), scores, pairs)


def _score_dialogue(release: Release, scorer: scoring.Scorer) -> pa.Table:
    """The release's own sentences, and beside each the nats of its phrase alone."""
    selected = _with_stances(select_sentences(release.sentences), release.tables["templates"])
    selected = _with_axis_labels(selected, release.tables["descriptors"])
    phrases = _phrases(selected)
    with _progress(selected, phrases, scorer) as progress:
        columns = [*SENTENCE_COLUMNS, *(c for c in OPTIONAL_COLUMNS if c in selected.column_names)]
        scores = scoring.score_sentences(selected.select(columns), scorer, progress)
        return scores.append_column("phrase_nll", _phrase_nll(phrases, scorer, progress))


def _score_seat(release: Release, scorer: scoring.Scorer) -> pa.Table:
    """The release's phrases in the templates of SEAT: the pseudo-log-likelihood of descriptor and noun.

    The value compared is that of the whole phrase, as in Smith et al. 2022,
    B.1: ``perplexity`` is exp of its nats, not divided by its tokens.
    """
    selected = _with_axis_labels(seat_sentences(release.sentences), release.tables["descriptors"])
    texts, phrases = selected["text"].to_pylist(), selected["phrase"].to_pylist()
    with _progress(selected, pa.chunked_array([], pa.string()), scorer) as progress:
        spans = scoring.parts(texts, phrases)
        scores = scoring.score_sentences(selected.select([*SENTENCE_COLUMNS, "axis_label"]), scorer, progress, spans)
    whole = pa.array(
        np.exp(np.where(scores["tokens"].to_numpy() > 0, scores["nll"].to_numpy(), np.nan)), from_pandas=True
    )
    return scores.set_column(scores.column_names.index("perplexity"), "perplexity", whole)


def _with_stances(sentences: pa.Table, templates: pa.Table) -> pa.Table:
    """The sentences with the template that theirs words in another way, where the release says so."""
    if "paraphrase_of" not in templates.column_names:
        return sentences
    places = pc.index_in(sentences["template_id"].cast(pa.string()), templates["template_id"].combine_chunks())
    return sentences.append_column("paraphrase_of", templates["paraphrase_of"].combine_chunks().take(places))


def _with_axis_labels(sentences: pa.Table, descriptors: pa.Table) -> pa.Table:
    """The sentences with their axis as the release words it."""
    axes = sentences["axis"].cast(pa.string()).dictionary_encode().unify_dictionaries().combine_chunks()
    places = pc.index_in(axes.dictionary, descriptors["axis"].cast(pa.string()).combine_chunks())
    labels = descriptors["axis_label"].cast(pa.string()).combine_chunks().take(places)
    return sentences.append_column("axis_label", pa.DictionaryArray.from_arrays(axes.indices, labels))


def _phrases(sentences: pa.Table) -> pa.ChunkedArray:
    """The noun phrase of each sentence, in the number that its template has."""
    plural = pc.match_substring(sentences["template"].cast(pa.string()), PLURAL_SLOT)
    singular, several = (sentences[n].cast(pa.string()) for n in ("noun_phrase", "plural_noun_phrase"))
    return pc.if_else(plural, several, singular)


def _phrase_nll(phrases: pa.ChunkedArray, scorer: scoring.Scorer, progress: scoring.Progress) -> pa.Array:
    """The nats of each phrase standing alone, missing where no token of it was scored."""
    alone = scoring.score_sentences(pa.table({"text": phrases}), scorer, progress)
    return pc.if_else(pc.greater(alone["tokens"], 0), alone["nll"], pa.scalar(None, pa.float64()))


def _skipped(sentences: pa.Table) -> tuple[Skipped, ...]:
    """The sentences that no measure here is over, by reason."""
    kinds = sentences["noun_phrase_type"].cast(pa.string())
    gendered = pc.not_equal(pc.fill_null(sentences["descriptor_gender"].cast(pa.string()), "any"), "any")
    with_noun = pc.is_in(kinds, pa.array(["descriptor_noun", "noun_descriptor"]))
    reasons = {
        "no noun: a descriptor alone gives one sentence a template": pc.is_in(
            kinds, pa.array(["descriptor", "fixed_phrase"])
        ),
        "no descriptor: control sentences": pc.equal(kinds, "noun"),
        "a descriptor that goes with some nouns alone": pc.and_(with_noun, gendered),
    }
    counts = {reason: pc.sum(mask.cast(pa.int64())).as_py() or 0 for reason, mask in reasons.items()}
    return tuple(Skipped(reason=reason, sentences=count) for reason, count in counts.items() if count)


@contextmanager
def _progress(sentences: pa.Table, phrases: pa.ChunkedArray, scorer: scoring.Scorer) -> Iterator[scoring.Progress]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    total = len(sentences["text"].unique()) + len(phrases.unique())
    with Progress(*columns, console=Console(stderr=True)) as bar:
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
