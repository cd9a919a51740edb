"""``holisticbias from-issue``: add the entry that a filled issue form proposes."""

import sys
from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@options.entry_fields("text", "axis", "bucket", "position", "plural", "article")
@options.meets_criteria
@options.check_entry
@options.source
def command(file: Path, dry_run: bool, source: Path | None, **more: str | bool | None) -> None:
    """Add the entry that a filled issue form proposes.

    FILE contains the text of the issue; - reads it from standard input.

    Options add answers that the form does not have, or replace its answers.
    """
    from holisticbias.contribute.issue_forms import MAX_ISSUE, known_source, read_entry, read_issue
    from holisticbias.errors import SourceError
    from holisticbias.questions.adding import add
    from holisticbias.questions.questions import Questions
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    typed = str(file) == "-"
    if typed and sys.stdin.isatty():
        write("Paste the text of the issue, and end it with a line break and Ctrl-D.", err=True)
    try:
        with click.open_file(str(file), encoding="utf-8") as stream:
            answers = read_issue(stream.read(MAX_ISSUE + 1))
    except UnicodeDecodeError as error:
        raise SourceError(f"{'standard input' if typed else file} is not UTF-8") from error
    kind, fields = read_entry(answers)
    root = source or find_source(to_write=True)
    replaced = {name: value for name, value in more.items() if value is not None}
    given = {**fields, "from": known_source(load_catalog(root), answers), **replaced}
    add(kind, root, Questions(given, yes=True), "next", dry_run=dry_run)
