"""Refuse options of a command that have no effect with what was chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

Values = Mapping[str, Any]
"""The values of a command's options, by the names of its parameters."""


@dataclass(frozen=True, slots=True)
class Need:
    """A condition on the values of other options, and its words, such as "with --engine api"."""

    words: str
    holds: Callable[[Values], bool]


@dataclass(frozen=True, slots=True)
class Use:
    """The measures or methods for which an option has an effect, and the conditions; null ``names`` means all."""

    names: tuple[str, ...] | None = None
    needs: tuple[Need, ...] = ()

    def __str__(self) -> str:
        """The use in words."""
        about = " ".join(need.words for need in self.needs)
        named = "runs" if self.names is None else listed(self.names)
        return f"{named} {about}".strip()

    def holds(self, chosen: Sequence[str], values: Values) -> bool:
        """Whether one of the chosen measures or methods is among the names, and all conditions hold."""
        fits = self.names is None or not set(self.names).isdisjoint(chosen)
        return fits and all(need.holds(values) for need in self.needs)


Uses = Mapping[str, Sequence[Use]]
"""The uses of each option of a command; it has an effect if one of them holds."""
ALWAYS = (Use(),)


def refuse_unused(context: click.Context, uses: Uses, chosen: Sequence[str] = ()) -> None:
    """Raise a usage error for an option on the command line that has no effect; ``chosen`` are measures or methods."""
    for param in context.command.params:
        if param.name and context.get_parameter_source(param.name) is ParameterSource.COMMANDLINE:
            refuse_option(param, uses.get(param.name, ALWAYS), chosen, context.params)


def refuse_option(param: click.Parameter, uses: Sequence[Use], chosen: Sequence[str], values: Values) -> None:
    """Raise a usage error that says what an option is for, if none of its uses holds."""
    if not any(use.holds(chosen, values) for use in uses):
        named = "/".join((param.opts[0], *param.secondary_opts[:1]))
        words = ", and for ".join(dict.fromkeys(map(str, uses)))
        raise click.UsageError(f"{named} is for {words}: here it has no effect, so leave it out")


def listed(names: Sequence[str]) -> str:
    """Names in words: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
