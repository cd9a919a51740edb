"""Options of several commands."""

from __future__ import annotations

from pathlib import Path

import click

version = click.option(
    "--version",
    default="next",
    show_default=True,
    help="Version that the change is for: next, or the number of a fix in preparation.",
)
source = click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="Folder of terms; by default the one around the current folder, else the one in the package (read only).",
)
