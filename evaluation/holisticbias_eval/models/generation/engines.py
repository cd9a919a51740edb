"""Start the engine that answers prompts: this process, a server, or a Ray cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.local import GenerationOptions, load_generator
from holisticbias_eval.models.generation.ray_engine import RayGenerator
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.server.chat import Endpoint
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.server.http import ApiOptions
from holisticbias_eval.progress import Notice

EngineName = Literal["local", "api", "ray"]


@dataclass(frozen=True, slots=True)
class GenerationEngine:
    """The engine, the options of models that this package loads, and the options that only some engines have.

    ``response_format`` is asked of servers that take it, as for JSON of a known schema.
    """

    engine: EngineName = "local"
    generation: GenerationOptions = field(default_factory=GenerationOptions)
    api_base: str | None = None
    api_endpoint: Endpoint = "chat"
    api: ApiOptions = field(default_factory=ApiOptions)
    response_format: Mapping[str, Any] | None = None
    ray_address: str | None = None
    replicas: int = 0


def start_generator(
    model: str | None,
    notice: Notice,
    decoding: Decoding,
    seed: int,
    conversation: ConversationOptions | None = None,
    options: GenerationEngine | None = None,
) -> Generator:
    """Start the generator of a model; raises ``EvaluationError`` if the options do not fit the engine."""
    options = options or GenerationEngine()
    if options.engine == "api":
        if model is None or options.api_base is None:
            raise EvaluationError("the api engine needs --api-base, and --model with the server's name for the model")
        return ApiGenerator(
            model,
            options.api_base,
            notice,
            decoding,
            seed,
            conversation,
            options.api,
            options.api_endpoint,
            options.response_format,
        )
    if options.engine == "ray":
        address, replicas = options.ray_address, options.replicas
        return RayGenerator(model, notice, decoding, seed, conversation, options.generation, address, replicas)
    return load_generator(model, notice, decoding, seed, conversation, options.generation)
