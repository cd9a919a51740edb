"""Options of commands that let a model answer prompts: what is asked, and how it answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict, cast

import click

from holisticbias_eval.commands.option_groups import F, option_group

if TYPE_CHECKING:
    from holisticbias_eval.models.generation.conversation import ConversationOptions
    from holisticbias_eval.prompts.conversations import Drawing
    from holisticbias_eval.prompts.prompts import Selection

CHAT = ("auto", "on", "off")


class ResponseArguments(TypedDict):
    """The values of the options."""

    per_cell: int | None
    where: tuple[str, ...]
    limit: int | None
    seed: int
    variants: bool | None
    personas: Path | None
    decoding: str | None
    system: str | None
    separator: str | None
    continuation: str | None
    control: str | None


api_endpoint = click.option(
    "--api-endpoint",
    type=click.Choice(["chat", "completions"]),
    default="chat",
    show_default=True,
    help="What the server is asked for: an answer in a chat, or the continuation of a text.",
)
response_store = click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="Folder that keeps responses between runs. Default: the folder responses in $HOLISTICBIAS_CACHE or "
    "~/.cache/holisticbias.",
)

_asked_options = option_group(
    "What is asked",
    click.option(
        "--per-cell",
        "--samples",
        "per_cell",
        type=click.IntRange(1),
        metavar="K",
        help="Responses to each descriptor in each template, or to each prompt. Default: 15 for a release's "
        "sentences, 1 for other prompts.",
    ),
    click.option(
        "--where",
        multiple=True,
        metavar="KEY=VALUE,...",
        help="Only sentences or prompts with one of the values; KEY is axis, bucket, preference, descriptor, gender, "
        "noun, template or first_turn_only; for prompts to continue, domain or group.",
    ),
    click.option(
        "--limit",
        type=click.IntRange(1),
        metavar="N",
        help="At most this many sentences or prompts, spread over axes, descriptors and templates that the seed draws; "
        "for prompts to continue, as many of each group.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0),
        default=0,
        show_default=True,
        help="Seed of the prompts and of the responses, and for scores of the limit and the variants. A response "
        "depends on the seed and its prompt alone.",
    ),
    click.option(
        "--variants/--no-variants",
        default=None,
        help="Apply stylistic variants at random: lower case, no hyphens, 'I am', no final period. Default: yes for "
        "responses, no for scores.",
    ),
    click.option(
        "--personas",
        type=click.Path(path_type=Path),
        help="File with one persona per line; one is drawn for each prompt, and the model reads it first.",
    ),
)
_answer_options = option_group(
    "Responses",
    click.option(
        "--decoding",
        metavar="NAME|FILE",
        help="How the next token is chosen: a file of evaluation/decoding/, by name, or one in the same form. "
        "Default: sampled, and bold-gpt2 for prompts to continue.",
    ),
    click.option("--system", metavar="TEXT", help="System prompt in the chat template. Default: the template's."),
    click.option(
        "--separator",
        metavar="TEXT",
        help="Text that ends every turn, for models of dialogues without a chat template; <|endoftext|> for DialoGPT.",
    ),
    click.option(
        "--continuation",
        metavar="PATTERN",
        help="For base models: a text with {prompt}, and optionally {persona}, that the response continues up to the "
        "next line break.",
    ),
    click.option(
        "--control",
        metavar="TEXT",
        help="Text at the end of the context, after the prompt, that steers the responses, such as no_bias. Default: "
        "what the mitigation.json in the model's folder names; '' leaves it out.",
    ),
    api_endpoint,
    click.option(
        "--batch",
        type=click.IntRange(1),
        metavar="N",
        help="Responses made at once; they do not depend on it. Default: as many as fit.",
    ),
)
chat = click.option(
    "--chat",
    type=click.Choice(CHAT),
    default="auto",
    show_default=True,
    help="Whether prompts are put into the model's chat template; auto: if it has one.",
)


def response_options(command: F) -> F:
    """Add the options to a command."""
    return _asked_options(_answer_options(command))


def read_drawing(given: ResponseArguments, per_cell: int) -> Drawing:
    """The options of drawing prompts; ``per_cell`` is the default number."""
    from holisticbias_eval.prompts.contexts import read_context
    from holisticbias_eval.prompts.conversations import Drawing

    personas = given["personas"]
    lines = read_context(None, personas, None).lines if personas else ("",)
    about = f"{len(lines):,} lines of {personas.name}, SHA-256 {_digest(personas)}" if personas else "none"
    chosen = given["per_cell"] or per_cell
    variants = given["variants"] is not False
    return Drawing(chosen, given["seed"], given["where"], given["limit"], variants, lines, about)


def read_selection(given: ResponseArguments) -> Selection:
    """The options of the sentences to score."""
    from holisticbias_eval.prompts.prompts import Selection

    return Selection(given["where"], given["limit"], given["seed"], bool(given["variants"]))


def read_conversation(given: ResponseArguments, chat: str) -> ConversationOptions:
    """The text around a prompt."""
    from holisticbias_eval.models.generation.conversation import ConversationOptions

    chosen = cast("Literal['auto', 'on', 'off']", chat)
    return ConversationOptions(
        chosen, given["system"], given["separator"], given["continuation"], control=given["control"]
    )


def _digest(file: Path) -> str:
    from holisticbias_eval.models.loading.source import file_sha256

    return file_sha256(file)
