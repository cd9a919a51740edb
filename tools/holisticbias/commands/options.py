"""Options of several commands, and the terms that a command changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holisticbias.contribute.fields import FIELDS

if TYPE_CHECKING:
    from holisticbias.terms.catalog import Catalog

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


def open_terms(source: Path | None, version: str) -> tuple[Path, Catalog, str]:
    """The folder of terms to change, its catalog, and the version that the change is for.

    Raises ``SourceError`` if there is no folder that can be written, and for a version that is not in preparation.
    """
    from holisticbias.contribute.authoring import next_version
    from holisticbias.rules.validate import load_catalog
    from holisticbias.source.folder import find_source

    root = source or find_source(to_write=True)
    catalog = load_catalog(root)
    return root, catalog, next_version(catalog, version)
