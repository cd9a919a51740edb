"""``holisticbias show``: print a term in every template."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options


@click.command(short_help="Print a term in every template.")
@click.argument("term")
@click.option("--version", help="Version to show; by default the newest, published or in preparation.")
@click.option("--noun", help="Noun to show the term with; by default 'person', else the first that goes with it.")
@options.source
def command(term: str, version: str | None, noun: str | None, source: Path | None) -> None:
    """Print TERM in every template.

    TERM is a text or an id; it is shown in singular and plural, with and without a noun.
    """
    from holisticbias.contribute.readings import find_readings, render_reading
    from holisticbias.rules.validate import load_catalog

    readings = find_readings(load_catalog(source), term, version, noun)
    click.echo("\n\n".join(map(render_reading, readings)))
