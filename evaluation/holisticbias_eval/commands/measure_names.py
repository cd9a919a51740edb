"""The command-line type for names of measures."""

from __future__ import annotations

import click


class MeasureName(click.ParamType[str]):
    """The name of a measure; measures are looked up when the command runs, not when help is shown."""

    name = "measure"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; a usage error if there is no such measure."""
        from holisticbias_eval.measures import MEASURES

        if value not in MEASURES:
            self.fail(f"there is no measure {value!r}; available: {', '.join(MEASURES)}", param, ctx)
        return value
