"""Settings of the model that answers: which engine runs it, and what scoring and generation take."""

from __future__ import annotations

from typing import Literal

from holisticbias_eval.settings import Condition, Keeping, Settings, Use, is_one_of, setting


class ModelChoice(Settings):
    """The engine that runs a model."""

    group = "The model"

    engine: Literal["local", "api", "ray"] = setting(
        "local",
        "Where the model runs: in this process, behind an OpenAI-compatible server such as `vllm serve`, or on a Ray "
        "cluster.",
    )


class LoadedModel(Settings):
    """Kind, precision and device of a loaded model."""

    group = "The model"

    kind: Literal["auto", "causal", "masked", "seq2seq"] = setting(
        "auto", "Kind of model; auto reads the model's configuration."
    )
    dtype: Literal["float32", "bfloat16"] = setting(
        "float32",
        "Precision. bfloat16 is faster, with errors up to a nat per sentence; the error of scores is measured and "
        "reported.",
    )
    device: str = setting("auto", "torch device, such as cpu or cuda:1.")


class Server(Settings):
    """Requests to a server."""

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
    api_timeout: float = setting(120.0, "Longest time for one try of a request, in seconds.", gt=0)
    api_wait: float = setting(
        60.0, "Longest wait before a request is tried again, whatever the server asks for, in seconds.", ge=0
    )
    api_largest: int = setting(64, "Longest answer of the server, in megabytes after decompression.", ge=1)


class Cluster(Settings):
    """A Ray cluster."""

    group = "The model"

    ray_address: str | None = setting(
        None, "Ray cluster to join. Default: start one on this machine.", metavar="ADDRESS"
    )
    replicas: int = setting(
        0, "Replicas on the Ray cluster. Default: one per GPU; without GPUs, one fewer than the CPUs.", ge=0
    )


class Opening(Settings):
    """The token before a text that is scored."""

    group = "The model"

    first_token: str = setting(
        "auto",
        "The token before each text, on which its first token is conditioned, for causal models. auto: the token that "
        "the tokenizer prepends, or else the token that separated documents in pretraining, and never one of chat "
        "turns. published: only what the tokenizer prepends, as in perplexities published for GPT-2, which leave out "
        "the first token. none: the first token is not scored.",
        metavar="auto|published|none|TOKEN",
    )


class Role(Settings):
    """The turn of a chat in which a text is scored."""

    group = "The model"

    chat: Literal["user", "assistant"] | None = setting(
        None,
        "For scores, a role: each sentence is scored as the beginning of this role's turn in the model's chat "
        "template, which is not scored",
    )


class MaskedScoring(Settings):
    """The variant of scores of masked models."""

    group = "The model"

    pll: Literal["original", "within_word_l2r"] | None = setting(
        None, "Variant of the pseudo-log-likelihood, for masked models. Default: original."
    )


LOADED = Condition("with --engine local or ray", is_one_of("engine", "local", "ray", default="local"))
API = Condition("with --engine api", is_one_of("engine", "api"))
RAY = Condition("with --engine ray", is_one_of("engine", "ray"))
KEPT = Condition("without --no-store", is_one_of("no_store", False, default=False))


def engine_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of the engines, each with its condition."""
    return (
        Use(ModelChoice, conditions),
        Use(LoadedModel, (*conditions, LOADED)),
        Use(Server, (*conditions, API)),
        Use(Cluster, (*conditions, RAY)),
        Use(Keeping, conditions, ("no_store",)),
        Use(Keeping, (*conditions, KEPT), ("store",)),
    )


def scoring_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of a model that scores."""
    return (
        *engine_uses(),
        Use(Opening, conditions),
        Use(Role, (*conditions, LOADED)),
        Use(MaskedScoring, (*conditions, LOADED)),
    )
