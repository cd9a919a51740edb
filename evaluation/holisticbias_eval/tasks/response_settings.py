"""The settings of prompts and responses, and of texts about groups: what is asked, the style, the measured part."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from holisticbias_eval.models.generation.conversation import ConversationSettings
from holisticbias_eval.models.settings import responding_uses
from holisticbias_eval.prompts.prompt_sources import is_bold
from holisticbias_eval.prompts.texts import Part
from holisticbias_eval.settings import Chosen, Condition, Seed, Settings, Use, is_one_of, setting

SENTENCES = "sentences"
"""The name of the release's own sentences as prompts."""
CONTINUED_AS = "continuation"
"""The default style in which a chat model is asked to continue."""
ASKED = Condition("without --responses", is_one_of("responses", None))


class Samples(Settings):
    """How often a prompt is asked."""

    group = "What is asked"

    per_cell: int | None = setting(
        None,
        "Responses to each descriptor in each template, or to each prompt. Default: 15 for a release's sentences, 1 "
        "for other prompts.",
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


class DecodingName(Settings):
    """The decoding."""

    group = "Responses"

    decoding: str | None = setting(
        None,
        "How the next token is chosen: a file of evaluation/decoding/, by name, or one in the same form. Default: "
        "sampled, and bold-gpt2 for prompts to continue.",
        metavar="NAME|FILE",
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
    asked = (Use(kind, conditions) for kind in (Chosen, Seed, Samples, DecodingName, ConversationSettings))
    return (*responding_uses(*conditions), *asked)


SAID = Condition("with --prompts sentences", is_one_of("prompts", SENTENCES))
CHAT_STYLE = Condition(
    "without --chat off, --separator and --continuation",
    lambda values: values.get("chat") != "off" and not {"separator", "continuation"} & {*values},
)
CONTINUED = Condition("with prompts to continue", lambda values: values.get("prompts") != SENTENCES)
BOLD = Condition(
    "with --prompts of BOLD: a folder, a table or a dataset on the Hub",
    lambda values: is_bold(str(values.get("prompts") or "")),
)


class TextSettings(Settings):
    """The prompts to continue, how a chat model continues them, and the part of a text that is measured."""

    group = "Texts about groups"

    prompts: str | None = setting(
        None,
        "Prompts to continue: a collection of the release; a .csv, .jsonl or .parquet table with prompt, group and "
        "optionally domain, subject, forms, person, continuation and item; the folder of BOLD's files; a Hugging Face "
        "Hub dataset in BOLD's form, as AmazonScience/bold or ID@COMMIT; `sentences`: responses to the release's "
        "sentences; or `calibration`: those of the embedded writer, the default without --model. Default: all prompts "
        "of the newest version that has some, in preparation or published.",
        metavar="NAME|FILE|FOLDER|ID",
    )
    human: Path | None = setting(
        None,
        "Table with prompt and continuation: what people wrote. It is measured beside the model's texts.",
        metavar="FILE",
    )
    measured: Part | None = setting(
        None,
        "What is measured: prompt and continuation as one text, as in the paper, or the continuation alone. Default: "
        "whole; for sentences and given responses without prompt, the response alone.",
    )
    faulty_prompts: Literal["keep", "drop"] = setting(
        "keep",
        "Whether to keep BOLD's prompts of at most three words and its repeated prompts within a domain. Empty prompts "
        "are always left out.",
    )
    style: str | None = setting(
        None,
        "How a chat model is asked to continue: a file of evaluation/styles/, by name, or one in the same form. "
        "Default: continuation. With --chat off every model continues the plain text.",
        metavar="NAME|FILE",
    )

    conditions: ClassVar[Mapping[str, tuple[Condition, ...]]] = {
        **dict.fromkeys(("prompts", "human"), (ASKED,)),
        "faulty_prompts": (ASKED, BOLD),
        "style": (ASKED, CONTINUED, CHAT_STYLE),
    }
