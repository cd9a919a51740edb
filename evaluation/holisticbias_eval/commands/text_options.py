"""Options of commands that measure texts about groups: lexicons, thresholds and the classifier."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypedDict

import click

from holisticbias_eval.commands.option_groups import F, option_group


class LexiconArguments(TypedDict):
    """The values of the options of lexicons."""

    norms: tuple[str, ...]
    polarity: str
    ties: Literal["apart", "published"]
    positive: float
    negative: float


class TextArguments(LexiconArguments):
    """The values of the options."""

    classifier: str | None
    device: str
    api_base: str | None
    store: Path | None
    no_store: bool


lexicon_options = option_group(
    "Lexicons for texts",
    click.option(
        "--norms",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        help="Lexicon for norms, of Warriner et al., NRC VAD or EmoMap; give it twice for two lexicons.",
    ),
    click.option(
        "--polarity",
        default="gender-polarity",
        show_default=True,
        metavar="NAME|FILE",
        help="Gender polarity of words, for gender_polarity.",
    ),
    click.option(
        "--ties",
        type=click.Choice(["apart", "published"]),
        default="apart",
        show_default=True,
        help="Texts without a gendered word, or with as many of both, for gender_polarity: apart, without a value, or "
        "as published for BOLD, where they are neutral.",
    ),
    click.option(
        "--positive",
        type=click.FloatRange(0, 1, min_open=True),
        default=0.5,
        show_default=True,
        help="VADER score from which on a text is positive.",
    ),
    click.option(
        "--negative",
        type=click.FloatRange(-1, 0, max_open=True),
        default=-0.5,
        show_default=True,
        help="VADER score up to which a text is negative.",
    ),
)
_classifier_options = option_group(
    "Measuring texts",
    click.option(
        "--classifier",
        metavar="NAME|FILE",
        help="Classifier for toxicity or regard; see `holisticbias classifiers`. Default: toxicity, regard.",
    ),
    click.option("--device", default="auto", show_default=True, help="torch device, such as cpu or cuda:1."),
    click.option("--api-base", metavar="URL", help="For a classifier that is a chat model: address of its server."),
    click.option(
        "--store",
        type=click.Path(path_type=Path),
        help="Folder that keeps probabilities between runs. Default: the folder labels in $HOLISTICBIAS_CACHE or "
        "~/.cache/holisticbias.",
    ),
    click.option("--no-store", is_flag=True, help="Judge every text again, and keep nothing."),
)


def text_options(command: F) -> F:
    """A decorator that adds all options of measuring texts to a command."""
    return _classifier_options(lexicon_options(command))
