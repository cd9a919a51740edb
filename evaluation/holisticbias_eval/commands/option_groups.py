"""Options that several commands share, and a command whose help shows them in groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_GROUP = "holisticbias_group"


def option_group(title: str, *options: Callable[[F], F]) -> Callable[[F], F]:
    """A decorator that adds options to a command, under a title of its help."""

    def add(command: F) -> F:
        for option in reversed(options):
            command = option(command)
            setattr(command.__click_params__[-1], _GROUP, title)  # type: ignore[attr-defined] # where click keeps them
        return command

    return add


class GroupedCommand(click.Command):
    """A command whose help shows each group of options under its title, the command's own options first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options into the help."""
        groups: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(param, _GROUP, "Options"), []).append(record)
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)
