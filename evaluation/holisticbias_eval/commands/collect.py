"""``holisticbias corpus collect``: make prompts about groups from the dump of a wiki."""

from pathlib import Path
from typing import Any

import click

from holisticbias.terminal import counted, write
from holisticbias_eval.commands.shared import PATH, out_folder, refuse_missing_packages
from holisticbias_eval.options import read_own, settings_command

_SHOWN = 20


@settings_command("Make prompts about groups from the dump of a wiki.", "collect.settings:CollectSettings")
@click.option(
    "--dump",
    type=PATH,
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
@out_folder
def command(dump: Path, name: str, out: Path, **_: Any) -> None:
    """Write prompts.parquet: the beginnings of sentences about groups, each with the rest of its sentence.

    A sentence of a group's page gives a prompt if it names the group's term among its first words: with the collection
    bold, the term among the first 8 of at least 8 words, and a prompt of 5 words and the term (Dhamala et al. 2021).
    An interrupted run continues where it stopped. `holisticbias evaluate --prompts` and `holisticbias generate
    --prompts` read the folder.
    """
    from holisticbias_eval.collect.collecting import collect, prompts_of
    from holisticbias_eval.collect.settings import CollectSettings
    from holisticbias_eval.progress import Display
    from holisticbias_eval.units import printable

    settings = read_own(CollectSettings)
    refuse_missing_packages("collect", "mwparserfromhell", "sentencex")
    made = collect(dump, name, out, settings, Display())
    groups = made["groups"]
    for group, counts in list(groups.items())[:_SHOWN]:
        write(f"{group}: {counted(counts['prompts'], 'prompts')} of {counted(counts['pages'], 'pages')}")
    if len(groups) > _SHOWN:
        write(f"... and {len(groups) - _SHOWN:,} more groups")
    left = made["pages_left_out"]
    for why, count in left["why"].items():
        first = next(page["page"] for page in left["pages"] if page["why"] == why)
        write(f"{counted(count, 'pages')} left out, such as {printable(first)[:60]!r}: {why}")
    if made["dump"]["broken_pages"]:
        write(f"{counted(made['dump']['broken_pages'], 'pages')} left out: XML that is broken")
    write(f"{counted(prompts_of(made), 'prompts')}: {out / 'prompts.parquet'}")
