"""``holisticbias add``: add an entry by answering questions."""

from pathlib import Path

import click

from holisticbias.commands import options

_KINDS = ["term", "noun", "template", "prompt", "specification"]


@click.command()
@click.argument("kind", metavar="[KIND]", type=click.Choice(_KINDS), default="term")
@options.entry_fields(*options.FIELDS)
@options.meets_criteria
@click.option("--yes", is_flag=True, help="Ask nothing, and accept all proposals.")
@options.check_entry
@options.version
@options.source
def command(
    kind: str,
    version: str,
    source: Path | None,
    yes: bool,
    dry_run: bool,
    group: tuple[str, ...],
    **given: str | bool | tuple[str, ...] | None,
) -> None:
    """Add an entry by answering a few questions.

    KIND is term (default), noun, template, prompt or specification.

    Shows how the entry reads in sentences, and writes it to the right file.

    Every answer can be given as an option.
    """
    from holisticbias.questions.questions import QUESTION, Questions
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=True)
    if kind == "prompt" and len(group) > 1:
        raise click.UsageError("A prompt has one group: name --group once.")
    groups = next(iter(group), None) if kind == "prompt" else group
    ask = Questions({**given, "group": groups}, yes)
    if kind in QUESTION:
        ask.text_early(QUESTION[kind])  # reading the data takes longer than printing a question
    from holisticbias.questions.adding import add

    add(kind, root, ask, version, dry_run=dry_run)
