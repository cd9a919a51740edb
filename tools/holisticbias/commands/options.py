"""Options of several commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from holisticbias.questions.fields import FIELDS
from holisticbias.terminal import write

C = TypeVar("C", bound=Callable[..., Any])

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


def entry_fields(*names: str) -> Callable[[C], C]:
    """The options of fields of an entry."""

    def add(command: C) -> C:
        for field in (FIELDS[name] for name in reversed(names)):
            option = f"--{field.name.replace('_', '-')}"
            if field.denied is not None:
                command = click.option(f"{option}/--{field.denied}", default=None, help=field.help)(command)
            else:
                kind = click.Choice(field.among) if field.among else click.STRING
                command = click.option(option, field.name, type=kind, multiple=field.several, help=field.help)(command)
        return command

    return add


meets_criteria = click.option(
    "--meets-criteria", is_flag=True, default=None, help="The term meets the criteria, despite objections on record."
)
yes = click.option("--yes", is_flag=True, help="Ask nothing.")
dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, but write nothing.")
check = click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")


def write_stale(stale: Mapping[Path, str], command: str, *, check: bool) -> int:
    """Write the files that a command keeps up to date, or if ``check`` print them; returns the exit code."""
    from holisticbias.output import write_files

    if not check:
        write_files(stale)
    for path in stale:
        write(f"{path} is out of date: run holisticbias {command}" if check else f"wrote {path}")
    return 1 if check and stale else 0
