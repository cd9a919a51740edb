"""Start a model where its settings say: in this process, behind a server, or on a Ray cluster."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.frame import choose_control
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.masked import MaskedScorer
from holisticbias_eval.models.likelihood.opening import AUTO, find_opening
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.loading.load import ModelSource, find_kind, load_kind
from holisticbias_eval.models.loading.source import one_gguf_parse
from holisticbias_eval.models.ray import RayGenerator, RayScorer
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.server.scorer import ApiScorer
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice


def start_scorer(source: ModelSource, notice: Notice, settings: ModelSettings | None = None) -> Scorer:
    """Start a model that scores: a folder, a GGUF file, a Hub repository, or a loaded model with its tokenizer.

    By default it is the embedded model; for a server ``source`` is its name for the model.

    Raises ``EvaluationError`` if the settings do not fit the engine, and ``ModelError`` if the model cannot be loaded
    or the settings do not fit its kind.
    """
    settings = settings or ModelSettings()
    if settings.engine == "api":
        if settings.chat is not None:
            raise EvaluationError("--chat cannot be used with the api engine: the server makes the tokens")
        return ApiScorer(*server_of(source, settings), notice, settings)
    if settings.engine == "ray":
        here = _in_a_replica(source, settings)
        return RayScorer(lambda said: start_scorer(source, said, here), settings, notice)
    with one_gguf_parse(source):
        kind = find_kind(source, settings.kind)
        if kind != "causal" and settings.dtype != "float32":
            raise ModelError(f"--dtype {settings.dtype} is for causal models; score this {kind} model in float32")
        if kind != "causal" and (settings.first_token != AUTO or settings.chat is not None):
            raise ModelError(f"--first-token and --chat are for causal models; this is a {kind} model")
        if kind != "masked" and settings.pll is not None:
            raise ModelError(f"--pll is for masked models; this is a {kind} model")
        loaded = load_kind(source, kind, settings.device)
        if kind == "masked":
            return MaskedScorer(loaded, notice, settings.pll or "original")
        if kind == "seq2seq":
            return Seq2SeqScorer(loaded, notice)
        opening = find_opening(loaded.tokenizer, settings.first_token, settings.chat)
        return CausalScorer(loaded, notice, dtype=settings.dtype, opening=opening)


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
        text = find_conversation(loaded.tokenizer, replace(conversation, control=control), kind)
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
