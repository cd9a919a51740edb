"""``holisticbias answer``: answer an issue that fills in a form."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write_data


@click.command()
@click.argument("event", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--write",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Write the entry if the event is that a maintainer accepted it, and the pull request to this folder.",
)
@options.source
def command(event: Path, folder: Path | None, source: Path | None) -> None:
    """Print the answer to an issue as a comment in Markdown.

    EVENT is the JSON file that GitHub gives a workflow. A proposal is shown as
    an entry, with what is missing, entries that are the same, objections on
    record and sentences; a report with the entry and its judgements. Nothing is
    printed for an issue without a form.
    """
    from holisticbias.questions.answering import answer

    text = answer(event, source, folder)
    if text:
        write_data(text)
