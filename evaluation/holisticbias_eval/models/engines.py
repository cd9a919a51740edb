"""Start a model where its settings say: in this process, behind a server or on a Ray cluster; and keep its answers."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.frame import choose_control
from holisticbias_eval.models.generation.requests import Generator, PromptRequests, Responses
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.masked import MaskedScorer, OneMaskScorer
from holisticbias_eval.models.likelihood.opening import AUTO, LEFT_OUT, Opening, find_opening
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores, no_scores, refuse_non_numbers
from holisticbias_eval.models.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.loading.load import LoadedModel, ModelSource, find_kind, load_kind
from holisticbias_eval.models.loading.source import one_gguf_parse
from holisticbias_eval.models.model import Kind, PairScorer
from holisticbias_eval.models.ray import RayGenerator, RayScorer
from holisticbias_eval.models.server.chooser import ChatChooser
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.server.scorer import ApiScorer
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.shards import ShardStore, fingerprint
from holisticbias_eval.progress import Notice, Progress


def start_scorer(source: ModelSource, notice: Notice, settings: ModelSettings | None = None) -> Scorer:
    """Start a model that scores: a folder, a GGUF file, a Hub repository, or a loaded model with its tokenizer.

    By default it is the embedded model; for a server ``source`` is its name for the model.

    Raises ``EvaluationError`` if the settings do not fit the engine, and ``ModelError`` if the model cannot be loaded
    or the settings do not fit its kind.
    """
    settings = settings or ModelSettings()
    if settings.engine == "api":
        return ApiScorer(*server_of(source, settings), notice, settings)
    if settings.engine == "ray":
        here = _in_a_replica(source, settings)
        return RayScorer(lambda said: start_scorer(source, said, here), settings, notice)
    kind, loaded = load_here(source, settings, lambda kind: _refuse_misfit(kind, settings))
    if kind == "masked":
        return MaskedScorer(loaded, notice, settings.pll or "original")
    if kind == "seq2seq":
        return Seq2SeqScorer(loaded, notice)
    opening = find_opening(loaded.tokenizer, settings.first_token, settings.chat)
    return CausalScorer(loaded, notice, dtype=settings.dtype, opening=opening)


def load_here(
    source: ModelSource, settings: ModelSettings, refuse: Callable[[Kind], object] = lambda _: None
) -> tuple[Kind, LoadedModel]:
    """Load a model in this process, and say of which kind it is; ``refuse`` raises for a kind before it is loaded."""
    with one_gguf_parse(source):
        kind = find_kind(source, settings.kind)
        refuse(kind)
        return kind, load_kind(source, kind, settings.device)


def start_chooser(source: ModelSource, notice: Notice, settings: ModelSettings) -> Scorer | PairScorer:
    """Start a chat model that chooses one of two sentences, in this process or behind a server.

    Raises ``EvaluationError`` if the model has no chat template, and for engines that cannot choose.
    """
    if settings.engine == "api":
        return ChatChooser(*server_of(source, settings), settings)
    if settings.engine != "local":
        raise EvaluationError(f"--mode choice needs the local or the api engine, not {settings.engine}")
    _, loaded = load_here(source, settings, _refuse_choosing)
    if not getattr(loaded.tokenizer, "chat_template", None):
        raise ModelError(f"{loaded.identity.name}: its tokenizer has no chat template: leave --mode choice out")
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(chat="on"), "causal")
    about = {"first_token": "counted, given the chat template", "chat": conversation.frame.without_persona}
    scorer = CausalScorer(loaded, notice, dtype=settings.dtype, opening=Opening(settings=about))
    scorer.control_tokens = conversation.encoder.spelt
    return scorer


def _refuse_choosing(kind: Kind) -> None:
    if kind != "causal":
        raise EvaluationError("--mode choice needs a causal model with a chat template")


def start_published(source: ModelSource, notice: Notice, settings: ModelSettings) -> Scorer | PairScorer:
    """Start a model for the published formulas of pairs, which leave out the first token.

    Raises ``EvaluationError`` for a kind of model that they are not for.
    """
    kind = "causal" if settings.engine == "api" else find_kind(source, settings.kind)
    if kind == "masked" and settings.engine == "local":
        _refuse_misfit(kind, settings)
        return OneMaskScorer(load_kind(source, kind, settings.device), notice)
    if kind != "causal":
        raise EvaluationError("--mode published needs a causal model, or a masked model with --engine local")
    return start_scorer(source, notice, settings.model_copy(update={"first_token": LEFT_OUT}))


def _refuse_misfit(kind: Kind, settings: ModelSettings) -> None:
    """Raise ``ModelError`` if settings do not fit the kind of a model that scores."""
    if kind != "causal" and settings.dtype != "float32":
        raise ModelError(f"--dtype {settings.dtype} is for causal models; score this {kind} model in float32")
    if kind != "causal" and (settings.first_token != AUTO or settings.chat is not None):
        raise ModelError(f"--first-token and --chat are for causal models; this is a {kind} model")
    if kind != "masked" and settings.pll is not None:
        raise ModelError(f"--pll is for masked models; this is a {kind} model")


def start_generator(
    source: ModelSource,
    notice: Notice,
    decoding: Decoding,
    seed: int,
    conversation: ConversationOptions | None = None,
    settings: ModelSettings | None = None,
    response_format: Mapping[str, Any] | None = None,
) -> Generator:
    """Start a model that answers prompts, by default the embedded responder; see ``start_scorer``.

    Decoding, seed and conversation are those of all its answers, because a server is asked first which of them it
    takes. ``response_format`` is asked of servers that take it, as for JSON of a known schema.
    """
    settings, conversation = settings or ModelSettings(), conversation or ConversationOptions()
    if settings.engine == "api":
        name, base = server_of(source, settings)
        return ApiGenerator(name, base, notice, decoding, seed, conversation, settings, response_format)
    if settings.engine == "ray":
        here = _in_a_replica(source, settings)
        return RayGenerator(
            lambda said: start_generator(source, said, decoding, seed, conversation, here), settings, notice
        )
    from holisticbias_eval.models.generation.local import LocalGenerator

    source = RESPONDER if source is None else source
    with one_gguf_parse(source):
        kind = find_kind(source, settings.kind)
        if kind == "masked":
            raise ModelError("a masked model cannot answer prompts: choose a causal or an encoder-decoder model")
        loaded = load_kind(source, kind, settings.device)
        if settings.dtype != "float32":
            identity = loaded.identity.model_copy(update={"dtype": settings.dtype})
            loaded = replace(loaded, model=loaded.load(settings.dtype).to(loaded.model.device), identity=identity)
        control = choose_control(loaded.identity.name, conversation.control, notice)
        text = find_conversation(loaded.tokenizer, conversation.model_copy(update={"control": control}), kind)
        return LocalGenerator(loaded, kind, notice, decoding, seed, text, settings.batch)


def server_of(source: ModelSource, settings: ModelSettings) -> tuple[str, str]:
    """The name of a model behind a server and the server's address; raises ``EvaluationError`` if one is missing."""
    if settings.api_base is None:
        raise EvaluationError("--engine api needs --api-base, the address of the server")
    if not isinstance(source, str):
        raise EvaluationError("--engine api needs --model, the server's name for the model")
    return source, settings.api_base


def _in_a_replica(source: ModelSource, settings: ModelSettings) -> ModelSettings:
    """The settings of each replica on a cluster."""
    if isinstance(source, tuple):
        raise EvaluationError("a model that is already loaded runs in this process: leave --engine ray out")
    return settings.model_copy(update={"engine": "local"})


Answers = tuple[int, Sequence[tuple[str, pa.DataType]], Sequence[tuple[str, pa.DataType]]]
_IDENTIFYING = {"weights_sha256", "revision", "dtype"}

M = TypeVar("M", Scorer, Generator)


def stored(model: M, folder: Path | None, notice: Notice) -> M:
    """The model with a store in ``folder``: it answers only what the store does not hold, and stores each block.

    Its answers are the same, and so is all else that it says of itself. Without a folder it is the model itself.
    """
    if folder is None:
        return model
    store = store_of(model, folder, notice)
    return _StoredScorer(model, store) if isinstance(model, Scorer) else _StoredGenerator(model, store)


def _answers_of(model: Scorer | Generator | PairScorer) -> Answers:
    """The version of a computation, with which all is answered again, the fields of its keys, and of its answers."""
    if isinstance(model, PairScorer):
        keys = [(name, pa.large_string()) for name in model.keys]
        return 1, keys, [("first", pa.float64()), ("second", pa.float64())]
    if isinstance(model, Scorer):
        return 2, Spans.FIELDS, Scores.FIELDS
    return 1, PromptRequests.FIELDS, Responses.FIELDS


def store_of(model: Scorer | Generator | PairScorer, folder: Path, notice: Notice) -> ShardStore:
    """The store of a model's answers, in a subfolder named after their fingerprint."""
    _, keys, values = _answers_of(model)
    about = {"model": json.dumps(model.identity.model_dump()), "settings": json.dumps(dict(model.settings))}
    names = tuple(name for name, _ in keys)
    return ShardStore(folder / answers_fingerprint(model), pa.schema([*keys, *values]), names, about, notice)


def answers_fingerprint(model: Scorer | Generator | PairScorer) -> str:
    """The fingerprint of a model's answers.

    It covers the weights' digest, the revision and the dtype of the model, and its settings; the model's name only if
    there are no weights to digest.
    """
    identity = model.identity
    about = {key: value for key, value in identity.model_dump().items() if key in _IDENTIFYING}
    if identity.weights_sha256 is None:
        about["name"] = identity.name
    all_about = {"version": _answers_of(model)[0], "model": about, "settings": dict(model.settings)}
    if isinstance(model, PairScorer):  # whose stores were always named in this way
        about["weights"] = about.pop("weights_sha256")
        all_about["keys"] = [*model.keys]
    return fingerprint(all_about)


def _earlier(store: ShardStore, answers: str) -> str:
    """The answers of earlier runs, in words; empty if there are none."""
    return f"{answers} of earlier runs are kept in {store.folder}" if store.folder.is_dir() else ""


class _StoredScorer(Scorer):
    """Scores only the spans that a store does not hold, block by block, and stores each block as it is done."""

    def __init__(self, scorer: Scorer, store: ShardStore) -> None:
        scored = scorer.first_token_scored
        super().__init__(scorer.identity, scorer.kind, scorer.settings, first_token_scored=scored)
        self._scorer, self._store, self.kept = scorer, store, _earlier(store, "scores")
        vars(self).update({name: getattr(scorer, name) for name in ("windows", "work", "probe", "input_counts")})

    def blocks(self, distinct: Spans) -> list[Ints]:
        """The rows that the store lacks, in the blocks in which they are scored; shared prefixes are together."""
        return self._blocks(distinct, self._store.lacking(distinct))

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Read the scores of distinct spans, and score the missing ones."""
        scores = no_scores(len(spans))

        def missing(rows: Ints) -> Iterator[tuple[Ints, pa.Table]]:
            for places, made in self._scorer.score_blocks(spans, self._blocks(spans, rows), progress):
                refuse_non_numbers(spans, made, places)
                yield places, made.table()

        def count(kept: int) -> None:
            self.kept = f"{kept:,} of {len(spans):,} scores are kept in {self._store.folder}" if kept else ""

        for places, rows in self._store.answers(spans, missing, progress, count):
            scores.put(places, Scores.of(rows))
        return scores

    def _blocks(self, distinct: Spans, rows: Ints) -> list[Ints]:
        ordered = rows[(distinct if len(rows) == len(distinct) else distinct.take(rows)).order()]
        size = self._scorer.block_size
        return [ordered[start : start + size] for start in range(0, len(ordered), size)]


class _StoredGenerator(Generator):
    """Makes only the responses that a store does not hold, and stores each batch as it is done."""

    def __init__(self, generator: Generator, store: ShardStore) -> None:
        super().__init__(generator.identity, generator.kind, generator.settings, keeps_blank=generator.keeps_blank)
        self._generator, self._store = generator, store
        self.kept = _earlier(store, "responses")
        vars(self).update({name: getattr(generator, name) for name in ("probe", "vectors", "attempt")})

    def lacking(self, requests: PromptRequests) -> Ints:
        """The rows that the store lacks."""
        return self._store.lacking(requests)

    def generate(self, requests: PromptRequests, progress: Progress) -> Iterator[tuple[Ints, Responses]]:
        """Read the responses to distinct requests that are stored, then make and store the others."""

        def missing(rows: Ints) -> Iterator[tuple[Ints, pa.Table]]:
            for places, responses in self._generator.generate(requests.take(rows), progress):
                yield rows[places], responses.table()

        def count(kept: int) -> None:
            self.kept = f"{kept:,} of {len(requests):,} responses are kept in {self._store.folder}" if kept else ""

        for places, rows in self._store.answers(requests, missing, progress, count):
            yield places, Responses.of(rows)
