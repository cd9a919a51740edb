"""Options of commands that run a model: its kind, its precision, and where it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from holisticbias_eval.commands.option_groups import option_group

if TYPE_CHECKING:
    from holisticbias_eval.models.settings import ModelSettings

ROLES = ("user", "assistant")
MODEL_HELP = "Language model: a folder, a GGUF file or a Hugging Face Hub repository."
RELEASE_HELP = (
    "A release folder, a version to compile from the terms, or a version of a Hugging Face Hub dataset. "
    "Default: the newest published version; 1.0.0 for the embedded model and the embedded responder, which were "
    "trained on its words."
)


def read_model(given: Mapping[str, Any]) -> ModelSettings:
    """The settings of the model, from the values of all options; ``--chat`` only if it is a role."""
    from holisticbias_eval.models.settings import ModelSettings

    known = {name: given[name] for name in ModelSettings.model_fields if given.get(name) is not None}
    if known.get("chat") not in ROLES:
        known.pop("chat", None)
    return ModelSettings.model_validate(known)


first_token_option = click.option(
    "--first-token",
    metavar="auto|published|none|TOKEN",
    default="auto",
    show_default=True,
    help="The token before each text, on which its first token is conditioned, for causal models. auto: the token that "
    "the tokenizer prepends, or else the token that separated documents in pretraining, and never one of chat turns. "
    "published: only what the tokenizer prepends, as in perplexities published for GPT-2, which leave out the first "
    "token. none: the first token is not scored.",
)
"""The option ``--first-token`` of commands that score texts."""

engine_options = option_group(
    "The model",
    click.option(
        "--kind",
        type=click.Choice(["auto", "causal", "masked", "seq2seq"]),
        default="auto",
        show_default=True,
        help="Kind of model; auto reads the model's configuration.",
    ),
    click.option(
        "--dtype",
        type=click.Choice(["float32", "bfloat16"]),
        default="float32",
        show_default=True,
        help="Precision. bfloat16 is faster, with errors up to a nat per sentence; the error of scores is measured "
        "and reported.",
    ),
    click.option("--device", default="auto", show_default=True, help="torch device, such as cpu or cuda:1."),
    click.option(
        "--engine",
        type=click.Choice(["local", "api", "ray"]),
        default="local",
        show_default=True,
        help="Where the model runs: in this process, behind an OpenAI-compatible server such as `vllm serve`, or on a "
        "Ray cluster.",
    ),
    click.option(
        "--api-base",
        metavar="URL",
        help="Address of the server, such as http://localhost:8000/v1. If the server needs a key, set "
        "$HOLISTICBIAS_API_KEY.",
    ),
    click.option(
        "--api-concurrency", type=click.IntRange(1), default=8, show_default=True, help="Number of requests at once."
    ),
    click.option("--api-rate", type=click.IntRange(0), default=0, help="Most requests per minute; 0 means no limit."),
    click.option("--api-budget", type=click.IntRange(0), default=0, help="Most requests in total; 0 means no limit."),
    click.option(
        "--api-timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=120.0,
        show_default=True,
        help="Longest time for one try of a request, in seconds.",
    ),
    click.option(
        "--api-wait",
        type=click.FloatRange(min=0),
        default=60.0,
        show_default=True,
        help="Longest wait before a request is tried again, whatever the server asks for, in seconds.",
    ),
    click.option(
        "--api-largest",
        type=click.IntRange(1),
        default=64,
        show_default=True,
        help="Longest answer of the server, in megabytes after decompression.",
    ),
    click.option("--ray-address", metavar="ADDRESS", help="Ray cluster to join. Default: start one on this machine."),
    click.option(
        "--replicas",
        type=click.IntRange(0),
        default=0,
        help="Replicas on the Ray cluster. Default: one per GPU; without GPUs, one fewer than the CPUs.",
    ),
)
