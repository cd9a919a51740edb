"""Figures of two runs and of their change, without the runs."""

from typing import Any

from holisticbias_eval.figures import Figure, make_figure


def changed(
    measure: str,
    of: str,
    keys: dict[str, str],
    values: tuple[float | None, float | None],
    unit: str = "share",
    **more: Any,
) -> list[Figure]:
    """A figure before and after, and its change, which has ``more``."""
    first, second = values
    change = None if first is None or second is None else second - first
    return [
        make_figure(measure, "first", keys, first, unit, 8, of=of),
        make_figure(measure, "second", keys, second, unit, 8, of=of),
        make_figure(measure, "change", keys, change, unit, 8, of=of, **more),
    ]
