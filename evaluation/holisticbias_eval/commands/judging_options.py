"""Options of commands that judge responses: whose, by which classifiers, and what these read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

import click

from holisticbias_eval.commands.option_groups import option_group

if TYPE_CHECKING:
    from holisticbias_eval.readers.judging import JudgingOptions

FOUND: Literal["found"] = "found"


class JudgingArguments(TypedDict):
    """The values of the options."""

    responses: Path | None
    classifier: tuple[str, ...]
    censor: bool
    clusters: str | None
    classifier_api_base: str | None
    phrases: str
    corpus: Path | None


judging_options = option_group(
    "Judging responses",
    click.option(
        "--responses",
        type=click.Path(path_type=Path),
        help="Judge these responses instead of asking a model: .csv, .jsonl or .parquet with the columns axis, "
        "template, descriptor and response, as `holisticbias generate` writes them; for measures of texts about groups "
        "with group and text, or group, prompt and response. --model then only names the model.",
    ),
    click.option(
        "--classifier",
        metavar="NAMES|FILES",
        multiple=True,
        help="Classifiers of responses, separated by commas or each with its own --classifier; see `holisticbias "
        "classifiers`. Default: go-emotions for styles, toxicity for offensiveness and toxicity, regard for regard; "
        "for styles and offensiveness of the embedded responder its own.",
    ),
    click.option(
        "--censor/--no-censor",
        default=True,
        show_default=True,
        help="Replace mentions of the descriptor before a response is classified.",
    ),
    click.option(
        "--clusters",
        metavar="NAME|FILE|found",
        help="Clusters of styles: a file of evaluation/clusters/, a YAML map from cluster to styles, or found in the "
        "responses. Default: the classifier's.",
    ),
    click.option(
        "--phrases",
        metavar="NAME|FILE",
        default="holisticbias",
        show_default=True,
        help="List of phrases to look for in responses: a file of evaluation/phrases/, or one in the same form.",
    ),
    click.option(
        "--corpus",
        type=click.Path(path_type=Path),
        help="Text file, such as training data, to count descriptors in: shows their frequency against their styles.",
    ),
    click.option(
        "--classifier-api-base", metavar="URL", help="Address of the server of a classifier that asks a chat model."
    ),
)


def read_judging(given: JudgingArguments, device: str, store: Path | None) -> JudgingOptions:
    """The options of judging; ``store`` is the folder of labels."""
    from holisticbias_eval.readers.card import CLUSTERS
    from holisticbias_eval.readers.judging import JudgingOptions

    names = tuple(name.strip() for names in given["classifier"] for name in names.split(",") if name.strip())
    named = given["clusters"]
    clusters = FOUND if named == FOUND else CLUSTERS.read(named).clusters if named else None
    base, phrases, corpus = given["classifier_api_base"], given["phrases"], given["corpus"]
    return JudgingOptions(names, given["censor"], device, store, clusters, base, phrases, corpus)
