"""``holisticbias measures``: explain each measure."""

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import write_wrapped


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
    """Print the settings of a measure by group, each with its default, its condition and its description."""
    from holisticbias_eval.evaluating import uses_of
    from holisticbias_eval.settings import flag_of

    group = ""
    for use in sorted(uses_of(name), key=lambda use: use.settings.group):
        if use.settings.group != group:
            group = use.settings.group
            write(f"{group}:")
        only = "".join(f", {condition.words}" for condition in use.conditions)
        for field in use.names:
            info = use.settings.model_fields[field]
            default = "" if info.default in (None, ()) else f" (default: {_written(info.default)})"
            write_wrapped(f"{flag_of(use.settings, field)}{default}{only}")
            write(click.wrap_text(info.description or "", 100, " " * 6, " " * 6))
    write()
    given = f"to holisticbias evaluate --measure {name} as options or by --set NAME=VALUE"
    write_wrapped(f"Give them {given}, to hbe.evaluate by name, or in a recipe.", 0)


def _written(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)
