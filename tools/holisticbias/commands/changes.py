"""Show the sentences that a change of an entry affects, ask, and write it: for ``retire`` and ``reword``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holisticbias.commands.questions import print_lines
from holisticbias.terminal import write

if TYPE_CHECKING:
    from holisticbias.contribute.authoring import Edit
    from holisticbias.terms.catalog import Catalog


def show_and_write(
    root: Path, catalog: Catalog, edits: Sequence[Edit], version: str, *, yes: bool, dry_run: bool
) -> bool:
    """Show the sentences that edits change, ask unless ``yes``, and write the files; whether they were written.

    Raises ``SourceError``, and writes nothing, if the edits break a rule.
    """
    from holisticbias.contribute.authoring import apply_edits, prepare_version
    from holisticbias.contribute.changing import difference

    edits = [*edits, *prepare_version(catalog, root, version)]
    changes = difference(root, catalog, edits, version)
    for sample in changes.samples:
        sides = (("-", sample.before), ("+", sample.after))
        print_lines("", (f"{mark} {text}" for mark, text in sides if text is not None))
    count = changes.sentences
    write(f"\n{count.added:,} sentences added, {count.changed:,} changed, {count.gone:,} gone.")
    if changes.bump == "major":
        write("Published sentences that change or go make the next version a major version.")
    if dry_run:
        write("Nothing was written: this was a dry run.")
        return False
    if not yes and not click.confirm("Write it?", default=True):
        write("Nothing was written.")
        return False
    for path in apply_edits(root, edits):
        write(f"{'wrote' if path.exists() else 'removed'} {path}")
    return True
