"""``holisticbias measures``: explain each measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import write_wrapped

if TYPE_CHECKING:
    from holisticbias_eval.settings import Use


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Explain each measure: what it measures, how to read its values, its limits and its source.

    With the NAME of a measure, also list the settings that it uses, with their defaults.
    """
    from holisticbias_eval.measures import MEASURES, find_measure

    for found in MEASURES if name is None else [find_measure(name).info.name]:
        info = MEASURES[found].info
        write(f"{found}: {info.title}")
        write_wrapped(f"measures: {info.summary}")
        write_wrapped(f"needs: {MEASURES[found].needs}")
        for label in ("direction", "limits", "source"):
            write_wrapped(f"{label}: {getattr(info, label)}")
        write()
    if name:
        _print_settings(name)


def _print_settings(name: str) -> None:
    """Print the settings of a measure by group, each once with its default, its conditions and its description."""
    from holisticbias_eval.evaluating import uses_of
    from holisticbias_eval.settings import flag_of, stated_default

    uses: dict[str, list[Use]] = {}
    for use in uses_of(name):
        for field in use.names:
            uses.setdefault(field, []).append(use)
    group = ""
    for field in sorted(uses, key=lambda field: uses[field][0].settings.group):
        kind = uses[field][0].settings
        if kind.group != group:
            group = kind.group
            write(f"{group}:")
        found = [use.settings.model_fields[field] for use in uses[field]]
        default = stated_default(found)
        said = "" if default is None else f" (default: {_written(default)})"
        write_wrapped(f"{flag_of(kind, field)}{said}{_only(uses[field])}")
        says = " ".join(dict.fromkeys(info.description or "" for info in found))
        write(click.wrap_text(says, 100, " " * 6, " " * 6))
    write()
    given = f"to holisticbias evaluate --measures {name} as options or by --set NAME=VALUE"
    write_wrapped(f"Give them {given}, to hbe.evaluate by name, or in a recipe.", 0)


def _only(uses: Sequence[Use]) -> str:
    """The conditions of a setting in words: those of any of its uses, unless another use needs only some of them."""
    needed = dict.fromkeys(tuple(condition.words for condition in use.conditions) for use in uses)
    least = (words for words in needed if not any({*fewer} < {*words} for fewer in needed))
    said = "; or ".join(map(", ".join, least))
    return f", {said}" if said else ""


def _written(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
