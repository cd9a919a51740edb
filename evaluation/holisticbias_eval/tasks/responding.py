"""The settings of prompts and responses, and the model that responds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, RESPONDER
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.generation.frame import Style
from holisticbias_eval.models.generation.requests import Generator
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.models.settings import responding_uses
from holisticbias_eval.models.stored import stored
from holisticbias_eval.prompts.contexts import read_context
from holisticbias_eval.prompts.conversations import PER_CELL, PromptDrawing
from holisticbias_eval.settings import Chosen, Condition, Seed, Settings, Use, Variants, is_one_of, setting
from holisticbias_eval.tasks.task import Given

DECODING, CONTINUING = "sampled", "bold-gpt2"
"""The default decodings of answers, and of prompts that are continued."""
ASKED = Condition("without --responses", is_one_of("responses", None))


class Samples(Settings):
    """How often a prompt is asked."""

    group = "What is asked"

    per_cell: int | None = setting(
        None,
        "Responses to each descriptor in each template, or to each prompt. Default: 15 for a release's sentences, 1 "
        "for other prompts.",
        flags=("--per-cell", "--samples"),
        metavar="K",
        ge=1,
    )


class Personas(Settings):
    """Texts that a model reads before a prompt."""

    group = "What is asked"

    personas: Path | None = setting(
        None,
        "File with one persona per line; one is drawn for each prompt, and the model reads it first.",
        metavar="PATH",
    )


class Responding(Settings):
    """The decoding and the text around a prompt."""

    group = "Responses"

    decoding: str | None = setting(
        None,
        "How the next token is chosen: a file of evaluation/decoding/, by name, or one in the same form. Default: "
        "sampled, and bold-gpt2 for prompts to continue.",
        metavar="NAME|FILE",
    )
    system: str | None = setting(None, "System prompt in the chat template. Default: the template's.", metavar="TEXT")
    separator: str | None = setting(
        None,
        "Text that ends every turn, for models of dialogues without a chat template; <|endoftext|> for DialoGPT.",
        metavar="TEXT",
    )
    continuation: str | None = setting(
        None,
        "For base models: a text with {prompt}, and optionally {persona}, that the response continues up to the next "
        "line break.",
        metavar="PATTERN",
    )
    control: str | None = setting(
        None,
        "Text at the end of the context, after the prompt, that steers the responses, such as no_bias. Default: what "
        "the mitigation.json in the model's folder names; '' leaves it out.",
        metavar="TEXT",
    )
    chat: Literal["auto", "on", "off"] = setting(
        "auto", "for responses: whether prompts are put into the template; auto, the default: if there is one."
    )


class GivenResponses(Settings):
    """Responses of a file."""

    group = "Judging responses"

    responses: Path | None = setting(
        None,
        "Judge these responses instead of asking a model: .csv, .jsonl or .parquet with the columns axis, template, "
        "descriptor and response, as `holisticbias generate` writes them; for measures of texts about groups with "
        "group and text, or group, prompt and response. --model then only names the model.",
        metavar="PATH",
    )


def asking_uses(*conditions: Condition) -> tuple[Use, ...]:
    """The settings of prompts and of the model that responds to them."""
    asked = (Use(kind, conditions) for kind in (Chosen, Seed, Samples, Responding))
    return (*responding_uses(*conditions), *asked)


def start_responding(given: Given, decoding: str = DECODING, style: Style | None = None) -> Generator:
    """Start the engine that answers, by default the embedded responder, with its store if there is one."""
    responding = given.read(Responding)
    settings = given.running
    chosen = DECODINGS.read(responding.decoding or decoding)
    if given.model == EMBEDDED_MODEL:
        raise EvaluationError(f"the embedded model gives scores alone; the one for responses is --model {RESPONDER}")
    conversation = ConversationOptions(
        responding.chat, responding.system, responding.separator, responding.continuation, style, responding.control
    )
    wanted = given.model if settings.engine == "api" else given.model or RESPONDER
    with given.display.step(f"Loading model {given.model_name or wanted}"):
        seed = given.read(Seed).seed
        generator = start_generator(wanted, given.display.notice, chosen, seed, conversation, settings)
    folder = given.store("responses")
    return generator if folder is None else stored(generator, folder, given.display.notice)


def find_drawing(given: Given, per_cell: int = PER_CELL) -> PromptDrawing:
    """The options of drawing prompts; ``per_cell`` is the default number."""
    chosen, file = given.read(Chosen), given.read(Personas).personas
    lines = read_context(None, file, None).lines if file else ("",)
    about = f"{len(lines):,} lines of {file.name}, SHA-256 {file_sha256(file)}" if file else "none"
    number, seed = given.read(Samples).per_cell or per_cell, given.read(Seed).seed
    variants = given.read(Variants).variants is not False
    return PromptDrawing(number, seed, chosen.where, chosen.limit, variants, lines, about)
