"""Write to the terminal, with characters that could steer it made visible; refuse options without effect.

Text of releases, servers, repositories and contributions reaches the terminal through this module only: a control
character in it could clear the screen, and a change of reading direction could hide what a line says.
"""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from itertools import groupby
from pathlib import Path

import click
from click.core import ParameterSource

STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""The categories of characters that nobody sees, and that can steer a terminal."""

_LISTED = 10  # files of a folder


def visible(text: str, keep: str = "\n\t") -> str:
    r"""Text whose control, format and unassigned characters are written as escapes, such as ``\x1b``.

    ``keep`` has the control characters that stay.
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in STEERING and c not in keep else c for c in text)


def cut(text: str, most: int) -> str:
    """The text, or if it is longer than that its beginning and three dots."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(number: int, nouns: str) -> str:
    """A number and its noun, which is given in the plural: "1 entry", "2,000 entries"."""
    return f"{number:,} {nouns if number != 1 else re.sub('ies$', 'y', nouns).removesuffix('s')}"


def first_and_more(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first texts, and how many more there are: "a, b and 3 more"."""
    return between.join(texts[:most]) + and_more(len(texts), most, " ")


def and_more(number: int, most: int, before: str = "") -> str:
    """The number of texts that are not shown, "and 3 more", after ``before``; empty if all are shown."""
    return f"{before}and {number - most:,} more" if number > most else ""


def write(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text for people, on standard error if ``err``; ``nl`` ends the line."""
    click.echo(visible(str(text)), err=err, nl=nl)


def refuse_unused(names: Collection[str], where: str) -> None:
    """Raise ``click.UsageError`` for an option of these names that is on the command line: it has no effect there."""
    context = click.get_current_context()
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if isinstance(option, click.Option) and option.name in names and given:
            flag = "/".join((*option.opts, *option.secondary_opts))
            raise click.UsageError(f"{flag} has no effect {where}, so leave it out: {option.help}")


def write_changed(paths: Iterable[Path]) -> None:
    """Print which files were written, and which are gone; of many in a folder, only their number."""
    for (done, folder), group in groupby(paths, lambda path: ("wrote" if path.exists() else "removed", path.parent)):
        files = list(group)
        many = f"{counted(len(files), 'files')} in {folder}: git status lists them"
        for shown in files if len(files) <= _LISTED else [many]:
            write(f"{done} {shown}")


def write_data(content: str | bytes, *, nl: bool = True) -> None:
    """Print text or bytes for a program, such as JSON or CSV: unchanged, unless a terminal would show them."""
    if sys.stdout.isatty():
        content = visible(content if isinstance(content, str) else content.decode("utf-8", "replace"))
    click.echo(content, nl=nl)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
