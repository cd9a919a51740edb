"""``holisticbias show``: print an entry as it reads in sentences."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write


@click.command(short_help="Print a term in every template, or another entry.")
@click.argument("entry")
@click.option("--version", help="Version to show; by default the newest, published or in preparation.")
@click.option("--noun", help="Noun to show a term with; by default 'person', else the first that goes with it.")
@options.source
def command(entry: str, version: str | None, noun: str | None, source: Path | None) -> None:
    """Print a term in every template, a group with its pages, a prompt or a specification.

    ENTRY is a text or an id. A term is shown in singular and plural, with and without a noun; a specification with its
    slots side by side and its templates filled in.
    """
    from holisticbias.contribute.readings import show_entries
    from holisticbias.rules.validate import load_catalog

    write(show_entries(load_catalog(source), entry, version, noun))
