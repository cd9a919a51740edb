"""Options of several commands."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

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


def output_format(*names: str) -> Callable[[C], C]:
    """The option ``--format`` of a command that prints; the first name is the default."""
    return click.option(
        "--format", "style", type=click.Choice(names), default=names[0], show_default=True, help="Format of the output."
    )


def _field(option: str, text: str, among: tuple[str, ...] = (), **settings: Any) -> tuple[str, Callable[[Any], Any]]:
    """A field of an entry and its option, whose values are ``among`` these; ``settings`` are those of click."""
    name, kind = option.partition("/")[0].replace("-", "_"), click.Choice(among) if among else None
    return name, click.option(f"--{option}", name, type=kind, help=text, **settings)


_FIELDS = (
    _field("text", "The term, noun, template or prompt, or the title of a specification."),
    _field("axis", "Axis of the term, gender of the noun, or family of the template or specification."),
    _field("bucket", "Part of its axis that a term belongs to, if the axis has any."),
    _field("position", "Place of a term: before or after the noun, or alone.", ("before", "after", "standalone")),
    _field("article", "Article of a term or noun, only if it differs from that by sound.", ("a", "an")),
    _field("plural", "Plural of a noun, or of a term that is not before the noun, if it differs."),
    _field(
        "noun-gender", "Gender of the nouns that a term goes with.", ("any", "female", "male", "neutral", "nonbinary")
    ),
    _field(
        "without-noun/--with-noun",
        "Whether a term before the noun, or a template, can do without a noun, as in 'I'm Deaf.'",
        default=None,
    ),
    _field("continuation", "Rest of the sentence that a prompt opens."),
    _field("subject", "Name or term in a prompt that is replaced before measuring, or none."),
    _field(
        "group",
        "Group of a prompt, by name; or a group of a specification, 'Stads: small things'. Can be repeated.",
        multiple=True,
    ),
    _field(
        "attributes",
        "Attributes of a specification, 'Small things: pebble, crumb'. Can be repeated.",
        multiple=True,
    ),
    _field("opposite", "Opposite attributes of a specification, 'slow / quick'. Can be repeated.", multiple=True),
    _field("slot", "Terms of a specification, 'stad / blicket'. Can be repeated.", multiple=True),
    _field("template", "Template of a specification, with [T] and [A]. Can be repeated.", multiple=True),
    _field("control/--no-control", "Whether the words of a specification are invented.", default=None),
    _field("entry-id", "The id; by default derived from the text."),
    _field("from", "Id of a source in sources.yaml; by default 'contributors'."),
)
FIELDS = dict(_FIELDS)


def entry_fields(*names: str) -> Callable[[C], C]:
    """The options of fields of an entry."""
    return _together(*(FIELDS[name] for name in names))


def _together(*options: Callable[[Any], Any]) -> Callable[[C], C]:
    """Several options, in this order, as one decorator."""

    def add(command: C) -> C:
        for option in reversed(options):
            command = option(command)
        return command

    return add


meets_criteria = click.option(
    "--meets-criteria", is_flag=True, default=None, help="The term meets the criteria, despite objections on record."
)
yes = click.option("--yes", is_flag=True, help="Ask nothing.")
dry_run = click.option("--dry-run", is_flag=True, help="Show what would change, but write nothing.")
change = _together(yes, dry_run, version, source)
"""The options of a command that changes an entry."""
check_entry = click.option("--dry-run", is_flag=True, help="Check and show the entry, but write nothing.")
check = click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file is out of date.")


def today() -> str:
    """The day, as in 2026-01-31."""
    return datetime.now(UTC).date().isoformat()


def write_stale(
    wanted: Mapping[Path, str], command: str, fault: str = "is out of date", done: str = "wrote", *, check: bool
) -> int:
    """Write the files that differ from what is wanted, or if ``check`` print them; returns the exit code.

    What a killed command left in their folders is removed, also if no file differs.
    """
    from holisticbias.output import clean_up, write_files

    stale = {p: text for p, text in wanted.items() if not p.is_file() or p.read_bytes() != text.encode()}
    if not check:
        clean_up(wanted)
        write_files(stale)
    for path in stale:
        write(f"{path} {fault}: run holisticbias {command}" if check else f"{done} {path}")
    return 1 if check and stale else 0
