"""``holisticbias fmt``: put files into canonical layout."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not in canonical layout.")
@options.source
def command(paths: tuple[Path, ...], check: bool, source: Path | None) -> int:
    """Rewrite files of terms, by default all, in canonical layout.

    Sorts keys, and sets indentation and blank lines; keeps comments.
    """
    from holisticbias.source.folder import find_source, require_term_file, term_files
    from holisticbias.source.layout import format_file

    if paths:
        refuse_unused(["source"], "with PATHS")
    given = [require_term_file(path) for path in paths]
    wanted = {path: format_file(path) for path in given or term_files(source or find_source(to_write=not check))}
    return options.write_stale(wanted, "fmt", "is not in canonical layout", "formatted", check=check)
