"""Numbers and lists in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holisticbias_eval.figures import Interval

EACH = 4
"""Names up to which a sentence has all of them."""


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"


def percents(interval: Interval) -> str:
    """An interval of shares in percent."""
    return f"{percent(interval.low)} to {percent(interval.high)}"


def interval_words(interval: Interval | None, show: Callable[[float], str] = percent, form: str = " ({})") -> str:
    """An interval in brackets, or in another form, its ends shown as percent by default; empty without an interval."""
    return form.format(f"95% interval {show(interval.low)} to {show(interval.high)}") if interval else ""


def number(value: float, unit: str, sign: str = "", points: str = " points") -> str:
    """A value, or a difference of shares in percentage points; the sign ``+`` shows that of values above 0."""
    if unit == "share difference":
        return f"{100 * value:{sign}.1f}{points}"
    return percent(value) if unit == "share" else f"{value:{sign}.2f}"


def significant(value: float) -> str:
    """A value with about three significant digits."""
    if value >= 1e7:
        return f"{value:.2e}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as a list in a sentence."""
    return f" {word} ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def most_and(least: str, named: Sequence[str]) -> str:
    """Up to four names from the most to the least as a list; of more the first and the last."""
    return listed(named) if len(named) <= EACH else f"most on {named[0]}, {least} on {named[-1]}"
