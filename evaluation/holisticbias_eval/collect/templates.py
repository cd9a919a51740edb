"""Show templates of wikitext: the text that English Wikipedia puts in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files

import yaml
from mwparserfromhell.nodes import Template
from mwparserfromhell.wikicode import Wikicode

from holisticbias_eval.collect.units import converted, grouped

Parts = tuple[str | Wikicode, ...]
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHIPS = frozenset({"uss", "hms", "hmas", "hmcs", "ss", "rms", "mv", "usns", "usat", "hmt"})
_SIGNS = {"us$": "US$", "usd": "US$", "$": "$", "£": "£", "gbp": "£", "€": "€", "euro": "€", "eur": "€", "inr": "₹"}


def template_text(template: Template) -> Parts | None:
    """The parts of the text of a template, wikitext among them; empty if it shows nothing, null if unknown."""
    name = _COMMENT.sub("", str(template.name)).replace("_", " ").strip().lower().removeprefix("template:")
    own = _WRITTEN.get(name)
    if own is not None:
        made = own(template)
        return None if made is None else (made,)
    if name in _SHIPS or name in _SIGNS:
        return _prefixed(template, f"{name.upper()} " if name in _SHIPS else _SIGNS[name])
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
def _rules() -> tuple[Mapping[str, str | tuple[str, ...]], tuple[tuple[str, tuple[str, ...]], ...]]:
    """By the name of a template its text, or the values that are its text; and the same by the start of a name."""
    read = yaml.safe_load(files(__package__).joinpath("templates.yaml").read_text("utf-8"))
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


def _prefixed(template: Template, prefix: str) -> Parts | None:
    value = _value(template, "1")
    return None if value is None else (prefix, value)


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
    month = _MONTHS[int(values[1]) - 1]
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
