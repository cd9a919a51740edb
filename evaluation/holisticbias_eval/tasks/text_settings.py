"""The settings of texts about groups: the prompts to continue, the style, and the part that is measured."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from holisticbias_eval.settings import Condition, Settings, Values, is_one_of, setting
from holisticbias_eval.tasks.collected import SENTENCES

SAID = Condition("with --prompts sentences", is_one_of("prompts", SENTENCES))
CHAT_STYLE = Condition(
    "without --chat off, --separator and --continuation",
    lambda values: values.get("chat") != "off" and not {"separator", "continuation"} & {*values},
)
CONTINUED = Condition("with prompts to continue", lambda values: values.get("prompts") != SENTENCES)


def _is_bold(values: Values) -> bool:
    name = str(values.get("prompts") or "")
    return "/" in name or Path(name).is_dir()


BOLD = Condition("with --prompts of BOLD, a folder or a data set on the Hub", _is_bold)


class TextPrompts(Settings):
    """The prompts to continue."""

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


class MeasuredPart(Settings):
    """The part of a text that is measured."""

    group = "Texts about groups"

    part: Literal["whole", "continuation"] | None = setting(
        None,
        "What is measured: prompt and continuation as one text, as in the paper, or the continuation alone. Default: "
        "whole; for sentences and given responses without prompt, the response alone.",
        flags=("--measured",),
    )


class FaultyPrompts(Settings):
    """Faulty prompts of BOLD."""

    group = "Texts about groups"

    faulty_prompts: Literal["keep", "drop"] = setting(
        "keep",
        "Whether to keep BOLD's prompts of at most three words and its repeated prompts within a domain. Empty prompts "
        "are always left out.",
    )


class Styling(Settings):
    """The style in which a chat model continues."""

    group = "Texts about groups"

    style: str | None = setting(
        None,
        "How a chat model is asked to continue: a file of evaluation/styles/, by name, or one in the same form. "
        "Default: continuation. With --chat off every model continues the plain text.",
        metavar="NAME|FILE",
    )
