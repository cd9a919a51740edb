"""``holisticbias pseudonym``: issue a pseudonym to a new reviewer."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write


@click.command()
@options.source
def command(source: Path | None) -> None:
    """Print a pseudonym that no reviewer has, for a new reviewer.

    It is random, and nothing is recorded: who it belongs to stays between the
    reviewer and the maintainer who issues it. See docs/reviewing.md.
    """
    from holisticbias.contribute.judging import new_pseudonym
    from holisticbias.rules.validate import load_catalog

    write(new_pseudonym(load_catalog(source)))
