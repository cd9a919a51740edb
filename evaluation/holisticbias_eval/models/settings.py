"""The settings with which a model runs: its kind, its precision, where it runs, and what it reads before a text."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from holisticbias_eval.models.model import Kind
from holisticbias_eval.settings import Condition, Keeping, Settings, Use, is_one_of, setting

DAY = 86_400
LOADED = Condition("with --engine local or ray", is_one_of("engine", "local", "ray", default="local"))
API = Condition("with --engine api", is_one_of("engine", "api"))
RAY = Condition("with --engine ray", is_one_of("engine", "ray"))
_WEIGHTS, _CLUSTER = ("kind", "dtype", "device"), ("ray_address", "replicas")


class ServerSettings(Settings):
    """Settings of every request to a server."""

    group = "The model"

    api_base: str | None = setting(
        None,
        "Address of the server, such as http://localhost:8000/v1. If the server needs a key, set "
        "$HOLISTICBIAS_API_KEY.",
        metavar="URL",
    )
    api_concurrency: int = setting(8, "Number of requests at once.", ge=1)
    api_rate: int = setting(0, "Most requests per minute; 0 means no limit.", ge=0)
    api_budget: int = setting(0, "Most requests in total; 0 means no limit.", ge=0)
    api_retries: int = setting(5, "How often a request is tried again.", ge=0)
    api_timeout: float = setting(120.0, "Longest time for one try of a request, in seconds.", gt=0, le=DAY)
    api_wait: float = setting(
        60.0,
        "Longest wait before a request is tried again, whatever the server asks for, in seconds.",
        ge=0,
        le=DAY,
    )
    api_largest: int = setting(64, "Longest answer of the server, in megabytes after decompression.", ge=1)


_ENGINE = ("engine", *_WEIGHTS, *ServerSettings.model_fields, *_CLUSTER)


class ModelSettings(ServerSettings):
    """Settings of a model, which are options of all commands that run one.

    ``kind``, ``dtype``, ``device`` and ``batch`` are for models that this package loads, settings named ``api_...`` for
    servers, ``ray_address`` and ``replicas`` for Ray; ``first_token``, ``chat`` and ``pll`` are for scores.
    """

    kind: Literal["auto", Kind] = setting("auto", "Kind of model; auto reads the model's configuration.")
    dtype: Literal["float32", "bfloat16"] = setting(
        "float32",
        "Precision. bfloat16 is faster, with errors up to a nat per sentence; the error of scores is "
        "measured and reported.",
    )
    device: str = setting("auto", "torch device, such as cpu or cuda:1.")
    batch: int | None = setting(
        None,
        "Responses made at once; they do not depend on it. Default: as many as fit.",
        ge=1,
        metavar="N",
    )
    engine: Literal["local", "api", "ray"] = setting(
        "local",
        "Where the model runs: in this process, behind an OpenAI-compatible server such as `vllm serve`, "
        "or on a Ray cluster.",
    )
    api_endpoint: Literal["chat", "completions"] = setting(
        "chat", "What the server is asked for: an answer in a chat, or the continuation of a text."
    )
    api_batch: int = setting(16, "Prompts of one request, where a server scores several.", ge=1)
    ray_address: str | None = setting(
        None,
        "Ray cluster to join. Default: start one on this machine.",
        metavar="ADDRESS",
    )
    replicas: int = setting(
        0,
        "Replicas on the Ray cluster. Default: one per GPU; without GPUs, one fewer than the CPUs.",
        ge=0,
    )
    first_token: str = setting(
        "auto",
        "The token before each text, on which its first token is conditioned, for causal models. auto: "
        "the token that the tokenizer prepends, or else the token that separated documents in pretraining, and never "
        "one of chat turns. published: only what the tokenizer prepends, as in perplexities published for GPT-2, which "
        "leave out the first token. none: the first token is not scored.",
        metavar="auto|published|none|TOKEN",
    )
    chat: Literal["user", "assistant"] | None = setting(
        None,
        "For scores, a role: each text is scored as the beginning of this role's turn in the model's "
        "chat template, which is not scored.",
    )
    pll: Literal["original", "within_word_l2r"] | None = setting(
        None, "Variant of the pseudo-log-likelihood, for masked models. Default: original."
    )

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = {
        **dict.fromkeys((*_WEIGHTS, "batch", "chat", "pll"), (LOADED,)),
        **dict.fromkeys((*ServerSettings.model_fields, "api_endpoint", "api_batch"), (API,)),
        **dict.fromkeys(_CLUSTER, (RAY,)),
    }


def keeping_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of what is kept."""
    return Keeping.uses(*conditions, fields=("no_store", "store"))


def engine_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of the engines."""
    return (*ModelSettings.uses(*conditions, fields=_ENGINE), *keeping_uses(*conditions))


def scoring_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of a model that scores."""
    return (*engine_uses(), *ModelSettings.uses(*conditions, fields=("api_batch", "first_token", "chat", "pll")))


def responding_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of a model that responds."""
    return (*engine_uses(*conditions), *ModelSettings.uses(*conditions, fields=("api_endpoint", "batch")))
