"""Start the engine that scores: this process, a server, or a Ray cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.local import ScoringOptions, load_scorer
from holisticbias_eval.models.likelihood.ray_engine import RayScorer
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.server.http import ApiOptions
from holisticbias_eval.models.server.scorer import ApiScorer
from holisticbias_eval.progress import Notice


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The engine, its scoring options, and the options that only some engines have."""

    engine: str = "local"
    scoring: ScoringOptions = field(default_factory=ScoringOptions)
    api_base: str | None = None
    api: ApiOptions = field(default_factory=ApiOptions)
    ray_address: str | None = None
    replicas: int = 0


def start_engine(model: str | None, notice: Notice, options: EngineOptions | None = None) -> Scorer:
    """Start the scorer of a model; raises ``EvaluationError`` if the options do not fit the engine."""
    options = options or EngineOptions()
    if options.engine == "api":
        if options.scoring.chat is not None:
            raise EvaluationError("--chat cannot be used with the api engine: the server makes the tokens")
        if model is None or options.api_base is None:
            raise EvaluationError("the api engine needs --api-base, and --model with the server's name for the model")
        return ApiScorer(model, options.api_base, notice, options.api, options.scoring.first_token)
    if options.engine == "ray":
        return RayScorer(model, options.scoring, notice, options.ray_address, options.replicas)
    return load_scorer(model, notice, options.scoring)
