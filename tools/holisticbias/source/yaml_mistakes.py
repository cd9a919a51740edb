"""Say in plain words why a text is not YAML: the mistakes that people make when they edit a file by hand.

A parser says where it gave up, often a line or two below the mistake. The lines around that place are compared with
what a file of terms looks like: keys and values, one entry below the other, in the same columns.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import get_args

from pydantic import BaseModel

from holisticbias.source.reading_rules import (
    YAML_CLOSED,
    YAML_COLUMN,
    YAML_CONFLICT,
    YAML_QUOTES,
    YAML_SPACE,
    YAML_SYNTAX,
    YAML_TAB,
)
from holisticbias.source.rule import Place, Rule
from holisticbias.source.yaml_columns import lines_of_texts, wrong_columns
from holisticbias.terms import file_kinds

_BEFORE = 3  # lines above the place where the parser stopped
_LONGEST = 400  # characters of a line that are looked at, and of a fix
_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})(?: .*)?$")
_KEY = re.compile(r"(?P<start>\s*(?:- +)?)(?P<key>[A-Za-z_]+)(?P<rest>.*)$")
_TAB = re.compile(r"^ *\t|: *\t|^ *- *\t")
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_HASH = re.compile(r"^\s*(?:- )?\w+: +(?![\"'\[{#|>])[^#\n]*? (#[^\s#][^\n]*)$", re.MULTILINE)
_ANCHOR = re.compile(r"^\s*(?:- )?\w+: +(&[^\s&]*)(?: *| +[^\s\[{][^\n]*)$", re.MULTILINE)
_MARKS = {
    "@": "a text cannot begin with it",
    "`": "a text cannot begin with it",
    "%": "a text cannot begin with it",
    "*": "YAML reads a name of another value after it",
    "&": "YAML reads a name for the value after it",
    "!": "YAML reads a type after it",
    "[": "YAML reads a list after it",
    "{": "YAML reads keys and values after it",
    "- ": "YAML reads a list after it",
    "? ": "YAML reads a key after it",
    ">": "YAML reads the text from the lines below it",
    "|": "YAML reads the text from the lines below it",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake in a line: the rule, its message, and its fix without a full stop."""

    rule: Rule
    place: Place
    message: str
    fix: str


def explain(text: str, line: int, opened: int | None = None) -> Mistake | None:
    """The likely mistake in a text that a YAML parser refuses at a line, counted from 1; None if it is not clear.

    ``opened`` is the line of a quotation mark or bracket that the parser did not find the end of.
    """
    lines = text.split("\n")
    for number, content in enumerate(lines, 1):
        found = _anywhere(content[:_LONGEST], number)
        if found:
            return found
    window = range(max(1, line - _BEFORE), min(line, len(lines)) + 1)
    if opened is not None and opened < window.start:
        window = range(opened, min(line, len(lines)) + 1)
    columns = {number: (column, message, fix) for number, column, message, fix in wrong_columns(lines[:line])}
    texts = lines_of_texts(lines[:line])
    for number in (n for n in window if n not in texts):
        content = lines[number - 1][:_LONGEST]
        found = next(filter(None, (check(content, number) for check in _CHECKS)), None)
        if found is None and number in columns:
            column, message, fix = columns[number]
            found = Mistake(YAML_COLUMN, (number, column), message, fix)
        if found is None:
            found = _not_a_key(content, number)
        if found:
            return found
    return None


def read_wrongly(text: str) -> Iterator[Mistake]:
    """Mistakes that a parser reads as something else: a tab as a space, a part of a text as a comment or a name."""
    if "\t" in text:
        yield from islice(filter(None, (_tab(line, n) for n, line in enumerate(text.split("\n"), 1))), 20)
    for found in islice(_HASH.finditer(text), 20) if " #" in text else ():
        message = f"YAML reads {_short(found[1])!r} as a comment, so the value ends before it."
        fix = f"{_in_quotes(found.group())}; for a comment, write a space after #"
        yield Mistake(YAML_QUOTES, _place(text, found.start(1)), message, fix)
    anchors = _ANCHOR.finditer(text) if ": &" in text else iter(())
    for found in islice((a for a in anchors if f"*{a[1][1:]}" not in text), 20):
        message = f"The value begins with '&': {_MARKS['&']}."
        yield Mistake(YAML_QUOTES, _place(text, found.start(1)), message, _in_quotes(found.group()))


def _place(text: str, offset: int) -> Place:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _anywhere(line: str, number: int) -> Mistake | None:
    if line[:1] in "<=>|" and _CONFLICT.match(line):
        message = f"The line is a mark of a merge conflict, {line[:7]!r}."
        fix = "keep the lines that belong in the file, and delete the lines with <<<<<<<, ======= and >>>>>>>"
        return Mistake(YAML_CONFLICT, (number, 1), message, fix)
    if line.startswith("```"):
        return Mistake(YAML_SYNTAX, (number, 1), "The line is a mark of Markdown, '```'.", "delete the line")
    return None


def _tab(line: str, number: int) -> Mistake | None:
    if "\t" not in line or len(line) > _LONGEST or line.lstrip().startswith("#"):
        return None
    found = _TAB.search(line)
    if not found and not line.endswith("\t"):
        return None
    place = line.index("\t", found.start()) if found else len(line.rstrip())
    where = (
        "before the first word" if not line[:place].strip() else "after the colon or dash" if found else "at the end"
    )
    return Mistake(YAML_TAB, (number, place + 1), f"There is a tab {where}.", YAML_TAB.fix)


def _odd_space(line: str, number: int) -> Mistake | None:
    found = _ODD_SPACE.search(line)
    if not found:
        return None
    message = f"There is the character U+{ord(found.group()):04X}, which looks like a space."
    return Mistake(YAML_SPACE, (number, found.start() + 1), message, "write an ordinary space in its place")


def _dash(line: str, number: int) -> Mistake | None:
    found = re.match(r"(\s*)-([a-z_]+:(?: .*|$))", line)
    if not found:
        return None
    fix = f"write: - {_short(found[2])}"
    return Mistake(YAML_SPACE, (number, len(found[1]) + 1), "There is no space after the dash.", fix)


def _after_key(line: str, number: int) -> Mistake | None:
    """A known key without a colon and a space after it."""
    found = _KEY.match(line)
    if not found or found["key"].lower() not in _known_keys():
        return None
    key, rest = found["key"], found["rest"]
    place = number, len(found["start"]) + len(key) + 1
    if re.match(r":[^\s:]", rest):
        return Mistake(
            YAML_SPACE, place, f"There is no space after '{key}:'.", f"write: {key}: {_short(rest[1:].strip())}"
        )
    other = re.match(r"\s*([=;\uff1a\ufe55]|:=|->|=>)\s*(.*)$", rest)
    if other:
        message = f"After {key!r} there is {other[1]!r} in place of ':'."
        return Mistake(YAML_SPACE, place, message, f"write: {key}: {_short(other[2])}")
    if re.match(r" +[^\s:]", rest) and ":" not in rest and line.startswith(" "):
        return Mistake(YAML_SPACE, place, f"There is no colon after {key!r}.", f"write: {key}: {_short(rest.strip())}")
    return None


def _value(line: str, number: int) -> Mistake | None:
    """A value that has to be in quotes, or whose quotes or brackets are wrong."""
    found = re.match(r"(\s*(?:- +)?[A-Za-z_]+: +)(\S.*)$", line)
    if not found:
        return None
    value, column = found[2].rstrip(), len(found[1]) + 1
    if value[0] in "\"'":
        return _quoted(line, value, (number, column))
    for name, opens, closes in (("bracket", "[", "]"), ("brace", "{", "}")):
        if value[0] == opens and closes not in value:
            message = f"A {name} is opened with {opens!r} and not closed."
            return Mistake(YAML_CLOSED, (number, column), message, f"write: {_short(value.rstrip(','))}{closes}")
    mark = next((mark for mark in _MARKS if value.startswith(mark)), None)
    alone = value in (">", "|", ">-", "|-", ">+", "|+") or re.fullmatch(r"\[[^\[\]]*\]|\{[^{}]*\}|\*\w+", value)
    if mark and not alone:
        message = f"The value begins with {mark.strip()!r}: {_MARKS[mark]}."
        return Mistake(YAML_QUOTES, (number, column), message, _in_quotes(line))
    inside = re.search(r":(?: |$)", value)
    if inside and not mark:
        message = (
            "The value has a colon followed by a space in it."
            if inside.group() == ": "
            else "The value ends with a colon."
        )
        return Mistake(YAML_QUOTES, (number, column + inside.start()), message, _in_quotes(line))
    return None


def _quoted(line: str, value: str, place: Place) -> Mistake | None:
    quote = value[0]
    escaped = r"(?:[^\"\\]|\\.)*" if quote == '"' else r"(?:[^']|'')*"
    whole = re.match(rf"{quote}({escaped}){quote}", value)
    rest = value[whole.end() :].strip() if whole else ""
    if whole and (not rest or rest.startswith("#")):
        return None
    if value.count(quote) == 1:
        message = f"A quotation mark, {quote}, opens here and is not closed on this line."
        return Mistake(YAML_CLOSED, place, message, f"close it at the end of the text: {_short(value)}{quote}")
    message = f"The text is between the marks {quote} and has {quote} in it."
    inner = value[1:].removesuffix(quote)
    key = line[: place[1] - 1].strip().removeprefix("- ")
    if '"' not in inner:
        better = f'{key} "{_short(inner)}"'
    else:
        better = f"{key} '{_short(inner).replace(chr(39), chr(39) * 2)}'"
    return Mistake(YAML_QUOTES, place, message, f"write: {better}")


def _not_a_key(line: str, number: int) -> Mistake | None:
    """A line that is neither a key with its value nor a part of a list."""
    shown = line.strip()
    if not shown or shown.startswith(("#", "- ", '"', "'", "]", "}")) or re.match(r"[\w./-]+:(\s|$)", shown):
        return None
    column = len(line) - len(line.lstrip()) + 1
    if shown in ("---", "..."):
        return Mistake(YAML_SYNTAX, (number, column), f"The line {shown!r} ends the file for YAML.", "delete the line")
    if shown.startswith("{"):
        message = "The line is an entry between braces, not below the list."
        return Mistake(
            YAML_SYNTAX,
            (number, column),
            message,
            "write it as the other entries: '- id: ...', then a line for each key",
        )
    message = f"The line is neither a key with a value nor a part of a list: {_short(shown, 60)!r}."
    fix = "write it as 'key: value', join it with the line above, write '# ' before it if it is a comment, or delete it"
    return Mistake(YAML_SYNTAX, (number, column), message, fix)


_CHECKS: tuple[Callable[[str, int], Mistake | None], ...] = (_tab, _odd_space, _dash, _after_key, _value)


def _in_quotes(line: str) -> str:
    """The fix for a value that needs quotes."""
    key, _, value = line.strip().removeprefix("- ").partition(": ")
    return f"put the value in quotes: {key}: {_short(json.dumps(value.strip(), ensure_ascii=False))}"


def _short(text: str, most: int = 120) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


@lru_cache(maxsize=1)
def _known_keys() -> frozenset[str]:
    """The keys of all files of terms and of what is in them."""
    waiting = [model for model in vars(file_kinds).values() if isinstance(model, type) and issubclass(model, BaseModel)]
    seen: set[type[BaseModel]] = set()
    while waiting:
        model = waiting.pop()
        if model not in seen:
            seen.add(model)
            waiting += [part for field in model.model_fields.values() for part in models_in(field.annotation)]
    return frozenset(name for model in seen for name in model.model_fields)


def models_in(annotation: object) -> Iterator[type[BaseModel]]:
    """The record types in an annotation, such as the entries of a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)
