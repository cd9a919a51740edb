"""``holisticbias measures``: what each measure measures."""

from __future__ import annotations

import click


@click.command()
def command() -> None:
    """Explain each measure: what it measures, and its source.

    Also which direction is good, or that none is.
    """
    from holisticbias_eval.measures import MEASURES

    for measure in MEASURES.values():
        click.echo(f"{measure.name}: {measure.title}")
        for label, text in (
            ("measures", measure.summary),
            ("on", measure.models),
            ("beside it", measure.beside),
            ("direction", measure.direction),
            ("limits", measure.limits),
            ("source", measure.source),
        ):
            click.echo(click.wrap_text(f"{label}: {text}", 100, initial_indent="  ", subsequent_indent="    "))
        click.echo()
