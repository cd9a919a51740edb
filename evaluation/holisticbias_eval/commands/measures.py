"""``holisticbias measures``: explain each measure."""

from __future__ import annotations

import click

from holisticbias.terminal import write


@click.command()
def command() -> None:
    """Explain each measure: what it measures, how to read its values, its limits and its source."""
    from holisticbias_eval.measures import MEASURES

    for name, measure in MEASURES.items():
        info = measure.info
        write(f"{name}: {info.title}")
        for label, text in (
            ("measures", info.summary),
            ("needs", str(measure.needs)),
            ("direction", info.direction),
            ("limits", info.limits),
            ("source", info.source),
        ):
            write(click.wrap_text(f"{label}: {text}", 100, initial_indent="  ", subsequent_indent="    "))
        write()
