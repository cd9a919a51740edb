"""Numbers and lists in sentences."""

from collections.abc import Sequence

from holisticbias_eval.figures import Interval
from holisticbias_eval.units import show

EACH = 4
"""Names up to which a sentence has all of them."""


def percent(share: float) -> str:
    """A share in percent."""
    return show(share, "share")


def interval_words(interval: Interval | None, unit: str = "share", form: str = " ({})") -> str:
    """An interval in brackets, or in another form; empty without an interval."""
    return form.format(f"95% interval {show((interval.low, interval.high), unit)}") if interval else ""


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names as a list in a sentence."""
    return f" {word} ".join([*([", ".join(names[:-1])] if names[1:] else []), names[-1]])


def most_and(least: str, named: Sequence[str]) -> str:
    """Up to four names from the most to the least as a list; of more the first and the last."""
    return listed(named) if len(named) <= EACH else f"most on {named[0]}, {least} on {named[-1]}"
