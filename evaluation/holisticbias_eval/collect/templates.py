"""Show templates of wikitext: the text that English Wikipedia puts in their place, with quantities converted."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from mwparserfromhell.nodes import Template
from mwparserfromhell.wikicode import Wikicode

Parts = tuple[str | Wikicode, ...]
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


def template_text(template: Template) -> Parts | None:
    """The parts of the text of a template, wikitext among them; empty if it shows nothing, null if unknown."""
    name = _COMMENT.sub("", str(template.name)).replace("_", " ").strip().lower().removeprefix("template:")
    own = _WRITTEN.get(name)
    if own is not None:
        made = own(template)
        return None if made is None else (made,)
    if name in _file()["begins"]:
        value = _value(template, "1")
        return None if value is None else (_file()["begins"][name], value)
    if name.startswith("formatnum:"):
        return (grouped(name.removeprefix("formatnum:")) or name.removeprefix("formatnum:"),)
    names, beginnings = _rules()
    keys = names.get(name)
    if keys is None:
        keys = next((keys for start, keys in beginnings if name.startswith(start)), None)
    if keys is None or isinstance(keys, str):
        return None if keys is None else (keys,)
    return next(((found,) for key in keys if (found := _value(template, key)) is not None), None) if keys else ()


@cache
def _file() -> Mapping[str, Any]:
    return yaml.safe_load(files(__package__).joinpath("templates.yaml").read_text("utf-8"))  # type: ignore[no-any-return]


@cache
def _rules() -> tuple[Mapping[str, str | tuple[str, ...]], tuple[tuple[str, tuple[str, ...]], ...]]:
    """By the name of a template its text, or the values that are its text; and the same by the start of a name."""
    read = _file()
    listed: dict[str, tuple[str, ...]] = {}
    for keys, written in (("", read["nothing"]), *((str(keys), names) for keys, names in read["shows"].items())):
        listed |= dict.fromkeys(map(str.strip, written.split(",")), tuple(keys.split()))
    whole = {name: keys for name, keys in listed.items() if "*" not in name}
    begun = [(name.partition("*"), keys) for name, keys in listed.items() if "*" in name]
    return {**whole, **read["is"]}, tuple((start, keys) for (start, _, _), keys in begun)


def _value(template: Template, key: str) -> Wikicode | None:
    """A value by its name or its place among the values; null if it is missing or blank."""
    if key == "-1":
        key = str(sum(not value.showkey for value in template.params))
    return template.get(key).value if template.has(key, ignore_empty=True) else None


def _plain(template: Template) -> list[str]:
    """The values without a name, as plain text."""
    return [value.value.strip_code().strip() for value in template.params if not value.showkey]


def _named(template: Template, *names: str) -> str:
    return next((str(template.get(name).value).strip() for name in names if template.has(name)), "")


def _convert(template: Template) -> str | None:
    shown = _named(template, "disp")
    if shown not in ("", "b", "or"):
        return None
    return converted(_plain(template), flipped=_named(template, "order") == "flip")


def _date(template: Template) -> str | None:
    """A day, a month or a year; the day stands first if the template says so."""
    values = [value for value in _plain(template)[:3] if value]
    if not values or not all(value.isdecimal() for value in values) or len(values[0]) > 4:
        return None
    if len(values) == 1:
        return values[0]
    if not 1 <= int(values[1]) <= 12:
        return None
    month = _file()["months"][int(values[1]) - 1]
    if len(values) == 2:
        return f"{month} {values[0]}"
    day = int(values[2])
    return f"{day} {month} {values[0]}" if _named(template, "df") else f"{month} {day}, {values[0]}"


def _as_of(template: Template) -> str | None:
    date = _date(template)
    return None if date is None else f"{'as' if _named(template, 'lc') else 'As'} of {date}"


def _about(word: str) -> Callable[[Template], str | None]:
    """A writer of years after a word: ``c. 1900``, and with an en dash between two."""

    def write(template: Template) -> str | None:
        years = _plain(template)
        return " ".join((word, "\u2013".join(years[:2]))) if years and all(years) else None

    return write


def _fraction(template: Template) -> str | None:
    values = _plain(template)
    if not 1 <= len(values) <= 3 or not all(value.isdecimal() for value in values):
        return None
    parts = ["1", *values] if len(values) == 1 else values
    return " ".join([*parts[:-2], "/".join(parts[-2:])])


def _number(template: Template) -> str | None:
    values, unit = _plain(template), _named(template, "u", "ul")
    made = grouped(values[0]) if len(values) == 1 else None
    return None if made is None else " ".join(filter(None, (made, unit)))


_WRITERS = {
    "convert, cvt": _convert,
    "birth date, birth-date, birth date and age, bda, death date, start date, end date, date": _date,
    "as of, as of?": _as_of,
    "circa, c., ca., c, ca": _about("c."),
    "floruit, fl., fl": _about("fl."),
    "reign, r., reigned": _about("r."),
    "frac, fraction, sfrac": _fraction,
    "val": _number,
}
_WRITTEN = {name: write for names, write in _WRITERS.items() for name in names.split(", ")}


_DEGREES = {"C": "F", "F": "C"}
_NUMBER = re.compile(r"[-\u2212]?(?:\d{1,15}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d{1,12})?")
_RANGES = {"to": " to ", "-": "\u2013", "\u2013": "\u2013", "and": " and ", "or": " or ", "x": " \u00d7 "}


@cache
def _units() -> Mapping[str, tuple[str, float, str]]:
    """The kind of each unit, its size in the kind's first unit, and the unit that it is converted to by default."""
    return {unit: (kind, *about) for kind, units in _file()["units"].items() for unit, about in units.items()}


@cache
def _unit_names() -> Mapping[str, str]:
    return {name: unit for unit, names in _file()["unit_names"].items() for name in names.split(", ")}


def grouped(number: str) -> str | None:
    """A number with a comma before each three digits; null if it is not a number."""
    if not _NUMBER.fullmatch(number):
        return None
    whole, point, rest = number.replace(",", "").replace("\u2212", "-").partition(".")
    return f"{int(whole):,}{point}{rest}".replace("-", "\u2212")


def converted(values: Sequence[str], *, flipped: bool = False) -> str | None:
    """A quantity and the same in another unit: 10, kg, lb give ``10 kg (22 lb)``; null if it is not understood.

    ``values`` are a number or a range (10, to, 20), a unit, and optionally another unit and the number of decimals.
    Without decimals the result is as precise as the number, or has two significant digits if that is more.
    """
    numbers, between = [*values[:1]], ""
    rest = list(values[1:])
    if len(rest) > 1 and rest[0] in _RANGES:
        between, numbers, rest = _RANGES[rest[0]], [values[0], rest[1]], rest[2:]
    read = [grouped(number) for number in numbers]
    unit = _unit(rest[0]) if rest else None
    if unit is None or None in read or not read:
        return None
    other = _unit(rest[1]) if len(rest) > 1 and rest[1] else _default(unit)
    decimals = rest[2] if len(rest) > 2 else ""
    if other is None or len(rest) > 3 or not re.fullmatch(r"(-?\d)?", decimals):
        return None
    made = [_result(number, unit, other, int(decimals) if decimals else None) for number in numbers]
    if None in made:
        return None
    written = _file()["written"]
    first = f"{between.join(map(str, read))} {written.get(unit, unit)}"
    second = f"{between.join(map(str, made))} {written.get(other, other)}"
    return f"{second} ({first})" if flipped else f"{first} ({second})"


def _unit(name: str) -> str | None:
    name = _unit_names().get(name, name).removeprefix("°")
    return name if name in _units() or name in _DEGREES else None


def _default(unit: str) -> str:
    return _DEGREES.get(unit) or _units()[unit][2]


def _result(written: str, unit: str, other: str, decimals: int | None) -> str | None:
    """The number in the other unit, rounded as the template rounds."""
    number = float(written.replace(",", "").replace("\u2212", "-"))
    if unit in _DEGREES or other in _DEGREES:
        if _DEGREES.get(unit) != other:
            return None
        value, factor = (number * 1.8 + 32, 1.8) if unit == "C" else ((number - 32) / 1.8, 1 / 1.8)
    else:
        (kind, size, _), (other_kind, other_size, _) = _units()[unit], _units()[other]
        if kind != other_kind:
            return None
        factor = size / other_size
        value = number * factor
    places = _places(written, value, factor) if decimals is None else decimals
    rounded = round(value, places)
    return grouped(f"{rounded:.{max(places, 0)}f}")


def _places(written: str, value: float, factor: float) -> int:
    """Decimals of a result, negative before the point: as many digits as the number has, at least two.

    Source: the documentation of Wikipedia's Template:Convert, section on rounding.
    """
    digits, point, rest = written.replace(",", "").partition(".")
    given = len(rest) if point else len(digits.rstrip("0")) - len(digits) if digits.strip("-\u22120") else 0
    similar = given - math.floor(math.log10(5 * factor))
    two = 1 - math.floor(math.log10(abs(value))) if value else 0
    return max(similar, two)
