"""``holisticbias fmt``: put files into canonical layout."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import refuse_unused, write


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is not in canonical layout.")
@options.source
def command(paths: tuple[Path, ...], check: bool, source: Path | None) -> int:
    """Rewrite files of terms, by default all, in canonical layout.

    Sorts keys, and sets indentation and blank lines; keeps comments.
    """
    from holisticbias.output import write_files
    from holisticbias.source.folder import find_source, require_term_file, term_files
    from holisticbias.source.layout import stale_files

    if paths:
        refuse_unused(["source"], "with PATHS")
    given = [require_term_file(path) for path in paths]
    stale = dict(stale_files(given or term_files(source or find_source(to_write=not check))))
    if not check:
        write_files(stale)
    for path in stale:
        write(f"{path} is not in canonical layout: run holisticbias fmt" if check else f"formatted {path}")
    return 1 if check and stale else 0
