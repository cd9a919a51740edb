"""Values and texts as people read them."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence

from holisticbias.terminal import STEERING
from holisticbias.terms.grammar import capitalised
from holisticbias_eval.arrays import ROUNDING
from holisticbias_eval.figures import DEVIATION, P_RESOLUTION, SCORES, Interval, as_shown
from holisticbias_eval.sections.tables import Cell, Table
from holisticbias_eval.settings import listed

PREFERENCES = {
    "reviewed": ("Reviewed", "Reviewed by people with lived experience; none recorded an objection."),
    "dispreferred": (
        "Dispreferred",
        "People with lived experience, or a publication, would prefer that it is not used.",
    ),
    "polarizing": ("Polarizing", "People with lived experience disagree, or say that their community does."),
    "no_data": ("Too few judgements", "Not enough people have judged it; this says nothing about the term."),
}
"""Community preferences: the name and the meaning of each."""

_NEVER_SHOWN = STEERING - {"Cf"}
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """Text in which characters that move the cursor, end the line or turn the reading direction are replaced."""
    if text.isascii() and text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(c) in _NEVER_SHOWN or c in _DIRECTIONS else c for c in text)


def shorten(text: str, length: int) -> str:
    """Text of at most ``length`` characters."""
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def title(key: str) -> str:
    """A key as words: ``body_type`` as ``Body type``."""
    words = key.replace("_", " ").strip()
    return capitalised(words)


def is_path(model: str) -> bool:
    """Whether a model's name is that of a folder or a file."""
    return model.startswith(("/", ".", "~")) or "\\" in model or model.count("/") > 1 or model.endswith(".gguf")


def model_title(name: str) -> str:
    """A model's name as a heading: the last part of a path, or the whole name of a repository."""
    return (name.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_path(name) else name) or name


MISSING = "not defined"
NONE_SHOWN = "none shown"
DIFFERENCE = " difference"
POINTS = " points"
SHARES = (f"share{DIFFERENCE}", f"probability{DIFFERENCE}")
WORDS = ("text", "preference")


def show(value: Cell, unit: str = "text") -> str:
    """A cell as text: a missing number is shown as not defined, an interval by both ends."""
    if isinstance(value, str):
        return PREFERENCES[value][0] if unit == "preference" and value in PREFERENCES else printable(value)
    if isinstance(value, tuple):
        return _interval(value, unit)
    if value is None or math.isnan(value):
        return "" if unit in WORDS else MISSING
    if unit.endswith(DEVIATION) and as_shown(value, unit) == 0:
        return NONE_SHOWN
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return _formatter(unit.removesuffix(DEVIATION))(value)


def percent(share: float | None) -> str:
    """A share in percent."""
    return show(share, "share")


def interval_words(interval: Interval | None, unit: str = "share", form: str = " ({})") -> str:
    """An interval in brackets, or in another form; empty without an interval."""
    return form.format(f"95% interval {show((interval.low, interval.high), unit)}") if interval else ""


EACH = 4
"""Names up to which a sentence has all of them."""


def most_and(least: str, named: Sequence[str]) -> str:
    """Up to four names from the most to the least as a list; of more the first and the last."""
    return listed(named) if len(named) <= EACH else f"most on {named[0]}, {least} on {named[-1]}"


def some_of(named: Sequence[str], most: int) -> str:
    """The first names as a list, which ends in the number of the others."""
    return listed([*named[:most], f"{len(named) - most:,} more"] if len(named) > most else named)


def show_rows(table: Table) -> Iterator[list[str]]:
    """The rows of a table as text."""
    for i, row in enumerate(table.rows):
        yield [show(cell, unit) for cell, unit in zip(row, table.units_of(i), strict=True)]


def tick(value: float, unit: str, largest: float = 0.0) -> str:
    """A value of a scale: short, exact for round values, and a power of ten if the largest of the scale needs one."""
    unit = unit.removesuffix(DEVIATION)
    if unit in ("share", "probability"):
        return f"{100 * value:.6g}%"
    if unit in SHARES:
        return f"{100 * value:+.6g}" if value else "0"
    if unit == "relative change":
        return f"{100 * value:+.6g}%" if value else "0"
    if value and max(abs(value), largest) >= 1e6:
        digits, _, power = f"{value:.5e}".partition("e")
        return f"{float(digits):g}e{int(power):+}"
    return f"{value:+,.6g}" if unit.endswith(DIFFERENCE) and value else f"{value:,.6g}"


def _interval(ends: tuple[float, float], unit: str) -> str:
    """Both ends; what follows the number, as a percent sign or a unit, stands once if both have it."""
    if unit.endswith(DEVIATION):
        least, most = (as_shown(end, unit) or 0.0 for end in ends)
        return _interval((least, most), unit.removesuffix(DEVIATION)) if most else NONE_SHOWN
    low, high = (show(end, unit) for end in ends)
    if ends[0] * ends[1] > 0:
        low, high = _not_zero(low, ends[0], unit), _not_zero(high, ends[1], unit)
    for suffix in (POINTS, f" {unit}"):
        if low.endswith(suffix) and high.endswith(suffix):
            low = low.removesuffix(suffix)
    return f"{low} to {high}"


def _not_zero(text: str, end: float, unit: str) -> str:
    """An end of an interval that excludes zero; if it would read as zero, it is shown with its first digit."""
    percents = 100 if unit in (*SHARES, "relative change") else 1
    return re.sub(r"^[+-]0\.0+(?![0-9])", f"{end * percents:+.1g}", text)


def _formatter(unit: str) -> Callable[[float], str]:
    if unit in _FORMATS:
        return _FORMATS[unit]
    if unit.endswith(DIFFERENCE):
        return _signed
    if unit.startswith("nats"):
        return _number
    return lambda value: f"{_number(value)} {printable(unit)}".rstrip()


def _number(value: float) -> str:
    """Three digits or so, for values of any size; what rounding leaves of 0 is shown as 0 is."""
    size = abs(value)
    if size >= 1e7:
        return f"{value:.2e}"
    if size >= 10:
        return f"{value:,.1f}"
    if size >= 0.1 or size < ROUNDING:
        return f"{value:z.2f}"
    return f"{value:z.3f}"


def _signed(value: float) -> str:
    """A difference, with its sign."""
    text = _number(value)
    return text if text.startswith("-") else f"+{text}"


def _any_size(value: float) -> str:
    """Three digits, for values of one table that differ in size and unit."""
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-4:
        return f"{value:.2e}"
    return f"{value:,.1f}" if size >= 100 else f"{value:.3g}"


def _perplexity(value: float) -> str:
    if value >= 1e7:
        return f"{value:.2e}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _count(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:,.1f}"


def _p_value(value: float) -> str:
    return f"{value:.3f}" if value >= P_RESOLUTION else f"< {P_RESOLUTION:g}"


_FORMATS: dict[str, Callable[[float], str]] = {
    **dict.fromkeys(("share", "probability"), lambda value: f"{value:.1%}"),
    **dict.fromkeys(SHARES, lambda value: f"{100 * value:+z.1f}{POINTS}"),
    "log odds": _signed,
    "words": _number,
    "number": _any_size,
    "relative change": lambda value: f"{100 * value:+z.1f}%",
    "number difference": lambda value: f"+{_any_size(value)}" if value > 0 else _any_size(value),
    "perplexity": _perplexity,
    "x 1000": _number,
    **dict.fromkeys(("F", "mean |t|", "chi-square", "ratio"), _number),
    "t": _signed,
    "count": _count,
    "tokens": lambda value: f"{value:,g}",
    "rank": _count,
    "rank-biserial": _number,
    "p_value": _p_value,
    "text": lambda value: f"{value:,g}",
    **dict.fromkeys(SCORES, _number),
    **dict.fromkeys((f"{unit}{DIFFERENCE}" for unit in SCORES), _signed),
}
