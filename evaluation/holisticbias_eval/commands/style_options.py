"""Options of the mitigation methods that train on a model's own responses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holisticbias_eval.options import option_group

if TYPE_CHECKING:
    from holisticbias_eval.mitigation.responses import StyleOptions

style_options = option_group(
    "Responses, for style_equality and self_chat",
    click.option(
        "--responses",
        type=click.Path(path_type=Path),
        metavar="RUN",
        help="Folder of a run of generation_bias with the model's responses. Default: they are made now.",
    ),
    click.option(
        "--alpha",
        type=click.Choice(["0", "1", "2"]),
        default="0",
        show_default=True,
        help="Power of the length by which a bias value is divided.",
    ),
    click.option("--threshold", type=float, metavar="B", help="Bias value above which a response is tagged bias."),
    click.option(
        "--quantile",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="Threshold as a quantile of the bias values. Default: 0.8.",
    ),
    click.option("--per-cell", type=click.IntRange(1), metavar="K", help="Responses to each descriptor and template."),
    click.option(
        "--where",
        multiple=True,
        metavar="KEY=VALUE,...",
        help="Only prompts with one of the values, such as axis=nonce,age; see `holisticbias generate --help`.",
    ),
    click.option("--decoding", metavar="NAME|FILE", help="How the next token is chosen. Default: sampled."),
    click.option("--system", metavar="TEXT", help="System prompt in the chat template."),
    click.option("--separator", metavar="TEXT", help="Text that ends every turn; <|endoftext|> for DialoGPT."),
    click.option("--continuation", metavar="PATTERN", help="For base models: a text with {prompt} that is continued."),
    click.option("--classifier", "classifiers", multiple=True, metavar="NAME|FILE", help="Classifiers of responses."),
)


def read_style(given: dict[str, Any]) -> StyleOptions:
    """The options of responses and of tagging them."""
    from holisticbias_eval.mitigation.responses import StyleOptions
    from holisticbias_eval.mitigation.styles import StyleSettings

    if given["threshold"] is not None and given["quantile"] is not None:
        raise click.UsageError("--threshold and --quantile exclude each other: leave one out")
    quantile = StyleSettings().quantile if given["quantile"] is None else given["quantile"]
    names = ("per_cell", "where", "seed", "decoding", "system", "separator", "continuation")
    answering = {name: given[name] for name in names if given[name] not in (None, ())}
    if given["classifiers"]:
        answering["classifier"] = given["classifiers"]
    style = StyleSettings(int(given["alpha"]), given["threshold"], quantile)  # type: ignore[arg-type] # a choice
    return StyleOptions(given["release"], given["responses"], style, answering)
