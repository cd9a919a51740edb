"""``holisticbias show``: how a term reads."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options


@click.command(short_help="Print how a term reads in every template.")
@click.argument("term")
@click.option("--version", help="Version to show; by default the newest, in preparation or not.")
@click.option("--noun", help="Noun to show it with; by default 'person', or the first that goes with the term.")
@options.source
def command(term: str, version: str | None, noun: str | None, source: Path | None) -> None:
    """Print how a TERM reads in every template.

    TERM is its text or its id; it is shown singular and plural, with and without a noun.
    """
    from holisticbias.contribute.readings import find_readings, render_reading
    from holisticbias.rules.validate import load_catalog

    readings = find_readings(load_catalog(source), term, version, noun)
    click.echo("\n\n".join(map(render_reading, readings)))
