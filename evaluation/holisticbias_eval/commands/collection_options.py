"""Options of runs of texts about groups: which prompts, and what is measured of their continuations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from holisticbias_eval.commands.option_groups import option_group
from holisticbias_eval.commands.text_options import LexiconArguments

if TYPE_CHECKING:
    from holisticbias_eval.measures.measure import Settings
    from holisticbias_eval.pipeline.collection_prompts import CollectionOptions


class CollectionArguments(LexiconArguments):
    """The values of the options."""

    prompts: str | None
    human: Path | None
    part: Literal["whole", "continuation"] | None
    faulty_prompts: Literal["keep", "drop"]
    style: str | None
    per_cell: int | None


collection_options = option_group(
    "Texts about groups",
    click.option(
        "--prompts",
        metavar="NAME|FILE|FOLDER|ID",
        help="Prompts to continue: a collection of the release; a .csv, .jsonl or .parquet table with prompt, group "
        "and optionally domain, subject, forms, person, continuation and item; the folder of BOLD's files; a Hugging "
        "Face Hub dataset in BOLD's form, as AmazonScience/bold or ID@COMMIT; `sentences`: responses to the "
        "release's sentences; or `calibration`: those of the embedded writer, the default without --model. "
        "Default: all prompts of the newest version that has some, in preparation or published.",
    ),
    click.option(
        "--human",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Table with prompt and continuation: what people wrote. It is measured beside the model's texts.",
    ),
    click.option(
        "--measured",
        "part",
        type=click.Choice(["whole", "continuation"]),
        help="What is measured: prompt and continuation as one text, as in the paper, or the continuation alone. "
        "Default: whole; for sentences and given responses without prompt, the response alone.",
    ),
    click.option(
        "--faulty-prompts",
        type=click.Choice(["keep", "drop"]),
        default="keep",
        show_default=True,
        help="Whether to keep BOLD's prompts of at most three words and its repeated prompts within a domain. "
        "Empty prompts are always left out.",
    ),
    click.option(
        "--style",
        metavar="NAME|FILE",
        help="How a chat model is asked to continue: a file of evaluation/styles/, by name, or one in the same form. "
        "Default: continuation. With --chat off every model continues the plain text.",
    ),
)


def read_collection(given: CollectionArguments) -> CollectionOptions:
    """The prompts, and what is measured of their continuations."""
    from holisticbias_eval.pipeline.collection_prompts import CollectionOptions

    keep = given["faulty_prompts"] == "keep"
    samples = given["per_cell"] or 1
    return CollectionOptions(given["prompts"], given["human"], given["part"], keep, samples, given["style"])


def read_measuring(given: CollectionArguments) -> Settings:
    """The settings of the measures."""
    from holisticbias_eval.measures.measure import Settings

    return Settings(
        norms=given["norms"],
        polarity=given["polarity"],
        ties=given["ties"],
        positive=given["positive"],
        negative=given["negative"],
    )
