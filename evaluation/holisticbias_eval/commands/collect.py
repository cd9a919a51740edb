"""``holisticbias corpus collect``: make prompts about groups from the dump of a wiki."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.packages import refuse_missing_packages

if TYPE_CHECKING:
    from holisticbias_eval.collect.collecting import Collected

_SHOWN = 20


@click.command(short_help="Make prompts about groups from the dump of a wiki.")
@click.option(
    "--dump",
    type=click.Path(path_type=Path),
    required=True,
    help="XML dump of a MediaWiki wiki, plain or as .bz2, .gz, .xz or .zst. Wikipedia's name ends in "
    "pages-articles.xml.bz2.",
)
@click.option(
    "--collection",
    "name",
    metavar="NAME|FILE",
    default="bold",
    show_default=True,
    help="Collection of the dataset, or a YAML file in its form: groups, and the pages about them.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@click.option("--licence", default="CC BY-SA 4.0", show_default=True, help="Licence of the wiki's texts.")
@click.option(
    "--site",
    metavar="ADDRESS",
    help="Address of the wiki's pages, such as https://en.wikipedia.org/wiki/, for attribution.",
)
@click.option(
    "--names",
    metavar="MODEL",
    help="spaCy model, by name or folder, that recognises the names of people. Default: a page's title is taken as a "
    "name.",
)
@click.option(
    "--links",
    type=click.Choice(["items", "all"]),
    default="items",
    show_default=True,
    help="Links of a list page: the first of each list item or table row, or all of the page.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=20.0,
    show_default=True,
    help="Longest time for one page; a page that takes longer is left out.",
)
def command(
    dump: Path, name: str, out: Path, licence: str, site: str | None, names: str | None, links: str, seconds: float
) -> None:
    """Write prompts.parquet: the beginnings of sentences about groups, each with the rest of its sentence.

    A sentence of a group's page gives a prompt if it names the group's term among its first words: with the collection
    bold, the term among the first 8 of at least 8 words, and a prompt of 5 words and the term (Dhamala et al. 2021).
    An interrupted run continues where it stopped. `holisticbias evaluate --prompts` and `holisticbias generate
    --prompts` read the folder.
    """
    from rich.console import Console

    from holisticbias_eval.collect.collecting import CollectOptions, collect
    from holisticbias_eval.progress import Display

    if site is not None and not site.startswith(("http://", "https://")):
        raise click.UsageError("--site must begin with http:// or https://")
    refuse_missing_packages("collect", "mwparserfromhell", "sentencex")
    options = CollectOptions(licence, site, names, links == "all", seconds)
    _print(collect(dump, name, out, options, Display(Console(stderr=True))))


def _print(made: Collected) -> None:
    """Print the prompts of each group, the pages that were left out, and the folder."""
    from holisticbias_eval.report.units import printable

    groups = made.record["groups"]
    for group, counts in list(groups.items())[:_SHOWN]:
        write(f"{group}: {counts['prompts']:,} prompts of {counts['pages']:,} pages")
    if len(groups) > _SHOWN:
        write(f"... and {len(groups) - _SHOWN:,} more groups")
    left = made.record["pages_left_out"]
    for why, count in left["why"].items():
        first = next(page["page"] for page in left["pages"] if page["why"] == why)
        write(f"{count:,} pages left out, such as {printable(first)[:60]!r}: {why}")
    if made.record["dump"]["broken_pages"]:
        write(f"{made.record['dump']['broken_pages']:,} pages left out: their XML is broken")
    write(f"{made.prompts:,} prompts: {made.folder / 'prompts.parquet'}")
