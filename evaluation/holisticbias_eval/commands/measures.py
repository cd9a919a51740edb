"""``holisticbias measures``: explain each measure."""

from __future__ import annotations

from collections.abc import Iterator

import click

from holisticbias.terminal import write


@click.command()
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """Explain each measure: what it measures, how to read its values, its limits and its source.

    With the NAME of a measure, also list the settings that it uses, with their defaults.
    """
    from holisticbias_eval.measures import MEASURES

    if name is not None and name not in MEASURES:
        raise click.UsageError(f"there is no measure {name!r}; available: {', '.join(MEASURES)}")
    for found in MEASURES if name is None else [name]:
        for line in _described(found):
            write(line)
    for line in _settings(name) if name else ():
        write(line)


def _described(name: str) -> Iterator[str]:
    from holisticbias_eval.measures import MEASURES

    measure = MEASURES[name]
    info = measure.info
    yield f"{name}: {info.title}"
    for label, text in (
        ("measures", info.summary),
        ("needs", str(measure.needs)),
        ("direction", info.direction),
        ("limits", info.limits),
        ("source", info.source),
    ):
        yield _wrapped(f"{label}: {text}", 2)
    yield ""


def _settings(name: str) -> Iterator[str]:
    """The settings of a measure by group, each with its default, its condition and its description."""
    from holisticbias_eval.evaluating import uses_of
    from holisticbias_eval.settings import flag_of

    group = ""
    for use in sorted(uses_of(name), key=lambda use: use.settings.group):
        if use.settings.group != group:
            group = use.settings.group
            yield f"{group}:"
        only = "".join(f", {condition.words}" for condition in use.conditions)
        for field in use.names:
            info = use.settings.model_fields[field]
            default = "" if info.default in (None, ()) else f" (default: {_written(info.default)})"
            yield _wrapped(f"{flag_of(use.settings, field)}{default}{only}", 2)
            yield click.wrap_text(info.description or "", 100, " " * 6, " " * 6)
    yield ""
    given = f"to holisticbias evaluate --measure {name} as options or by --set NAME=VALUE"
    yield _wrapped(f"Give them {given}, to hbe.evaluate by name, or in a recipe.", 0)


def _written(value: object) -> str:
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _wrapped(text: str, indent: int) -> str:
    return click.wrap_text(text, 100, initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
