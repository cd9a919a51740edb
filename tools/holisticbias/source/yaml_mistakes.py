"""Say in plain words why a text is not YAML: the mistakes that people make when they edit a file by hand.

A parser says where it gave up, often a line or two below the mistake. The lines around that place are compared with
what a file of terms looks like: keys and values, one entry below the other, in the same columns.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import get_args

import yaml
from pydantic import BaseModel

from holisticbias.source.findings import Finding, Place, Rule, offset_place
from holisticbias.source.reading_rules import YAML_CLOSED, YAML_CONFLICT, YAML_QUOTES, YAML_SPACE, YAML_SYNTAX, YAML_TAB
from holisticbias.source.yaml_columns import lines_of_texts, wrong_columns
from holisticbias.terminal import cut
from holisticbias.terms import file_kinds

_BEFORE = 3  # lines above the place where the parser stopped
_LONGEST = 400  # characters of a line that are looked at, and of a fix
_CONFLICT = re.compile(r"(<{7}|={7}|>{7}|\|{7})(?: .*)?$")
_KEY = re.compile(r"(?P<start>\s*(?:- +)?)(?P<key>[A-Za-z_]+)(?P<rest>.*)$")
_TAB = re.compile(r"^ *\t|: *\t|^ *- *\t")
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_HASH = re.compile(r"^\s*(?:- )?\w+: +(?![\"'\[{#|>])[^#\n]*? (#[^\s#][^\n]*)$", re.MULTILINE)
_ANCHOR = re.compile(r"^\s*(?:- )?\w+: +(&[^\s&]*)(?: *| +[^\s\[{][^\n]*)$", re.MULTILINE)
_IN_BRACES = "between { and } or [ and ], parts have commas between them, and a part with , : # [ ] { or } is in quotes"
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


_PLAIN: tuple[tuple[str, Rule, str, str], ...] = (
    ("unexpected end of stream", YAML_CLOSED, "A quotation mark opens here and is not closed.", YAML_CLOSED.fix),
    ("expected ',' or", YAML_CLOSED, "A bracket or a brace opens here, and what follows is not a list.", _IN_BRACES),
    ("expected node content", YAML_SYNTAX, "There is no value here.", "write one; if it begins with a mark, in quotes"),
    ("undefined alias", YAML_QUOTES, "YAML reads '*' as the name of another value.", "put the value in quotes"),
    ("another document", YAML_SYNTAX, "The line ends the file for YAML.", "delete the line"),
    ("", YAML_SYNTAX, "From here on, YAML cannot read the file.", YAML_SYNTAX.fix),
)
"""What a parser says, the rule, and the message and the fix in place of it."""


def explain(text: str, error: yaml.MarkedYAMLError) -> Finding:
    """The finding for a text that is not YAML: the mistake of a person if it is clear, else what the parser says.

    If the parser did not find the end of a quotation mark or a bracket, the place is where that opens.
    """
    open_inside = str(error.context).startswith(("while scanning a quoted", "while parsing a flow"))
    opened = error.context_mark if open_inside else None
    stopped = error.problem_mark or error.context_mark
    is_json = text.lstrip().startswith("{")
    lines = text.split("\n")
    if stopped and not is_json:
        for found in _mistakes(lines, stopped.line + 1, opened.line + 1 if opened else None):
            return found
    mark = opened or stopped
    _, rule, message, fix = next(known for known in _PLAIN if known[0] in str(error.problem))
    return rule.at((mark.line + 1, mark.column + 1) if mark else (1, 1), message, fix)


def _mistakes(lines: Sequence[str], stopped: int, opened: int | None) -> Iterator[Finding]:
    """The mistakes in lines that a parser refuses at one of them, counted from 1, the likeliest first.

    ``opened`` is the line of a quotation mark or bracket that is not closed.
    """
    for number, content in enumerate(lines, 1):
        yield from _anywhere(content[:_LONGEST], number)
    first = max(1, stopped - _BEFORE)
    first = min(first, opened or first)
    columns = {finding.line: [finding] for finding in wrong_columns(lines[:stopped])}
    texts = lines_of_texts(lines[:stopped])
    for number in (n for n in range(first, min(stopped, len(lines)) + 1) if n not in texts):
        content = lines[number - 1][:_LONGEST]
        for check in _CHECKS:
            yield from check(content, number)
        yield from columns.get(number, ())
        yield from _not_a_key(content, number)


# what a parser reads as something else: a tab as a space, a part of a text as a comment or a name


def tabs(text: str) -> Iterator[Finding]:
    """Tabs that indent a line, separate a key from its value, or end a line."""
    lines = enumerate(text.split("\n") if "\t" in text else (), 1)
    return (found for number, line in lines for found in _tab(line, number))


def hashes(text: str) -> Iterator[Finding]:
    """Number signs in a text, from which on YAML reads a comment."""
    for found in _HASH.finditer(text) if " #" in text else ():
        message = f"YAML reads {_short(found[1])!r} as a comment, so the value ends before it."
        fix = f"{_in_quotes(found.group())}; for a comment, write a space after #"
        yield YAML_QUOTES.at(offset_place(text, found.start(1)), message, fix)


def anchors(text: str) -> Iterator[Finding]:
    """Texts that begin with ``&``, which YAML reads as the name of a value."""
    for found in _ANCHOR.finditer(text) if ": &" in text else ():
        if f"*{found[1][1:]}" not in text:
            message = f"The value begins with '&': {_MARKS['&']}."
            yield YAML_QUOTES.at(offset_place(text, found.start(1)), message, _in_quotes(found.group()))


def _anywhere(line: str, number: int) -> Iterator[Finding]:
    if line[:1] in "<=>|" and _CONFLICT.match(line):
        yield YAML_CONFLICT.at((number, 1), f"The line is a mark of a merge conflict, {line[:7]!r}.")
    if line.startswith("```"):
        yield YAML_SYNTAX.at((number, 1), "The line is a mark of Markdown, '```'.", "delete the line")


def _tab(line: str, number: int) -> Iterator[Finding]:
    if "\t" not in line or len(line) > _LONGEST or line.lstrip().startswith("#"):
        return
    found = _TAB.search(line)
    if not found and not line.endswith("\t"):
        return
    place = line.index("\t", found.start()) if found else len(line.rstrip())
    where = (
        "before the first word" if not line[:place].strip() else "after the colon or dash" if found else "at the end"
    )
    yield YAML_TAB.at((number, place + 1), f"There is a tab {where}.")


def _odd_space(line: str, number: int) -> Iterator[Finding]:
    for found in _ODD_SPACE.finditer(line):
        message = f"There is the character U+{ord(found.group()):04X}, which looks like a space."
        yield YAML_SPACE.at((number, found.start() + 1), message, "write an ordinary space in its place")


def _dash(line: str, number: int) -> Iterator[Finding]:
    found = re.match(r"(\s*)-([a-z_]+:(?: .*|$))", line)
    if found:
        fix = f"write: - {_short(found[2])}"
        yield YAML_SPACE.at((number, len(found[1]) + 1), "There is no space after the dash.", fix)


def _after_key(line: str, number: int) -> Iterator[Finding]:
    """A known key without a colon and a space after it."""
    found = _KEY.match(line)
    if not found or found["key"].lower() not in _known_keys():
        return
    key, rest = found["key"], found["rest"]
    place = number, len(found["start"]) + len(key) + 1
    if re.match(r":[^\s:]", rest):
        yield YAML_SPACE.at(place, f"There is no space after '{key}:'.", f"write: {key}: {_short(rest[1:].strip())}")
    other = re.match(r"\s*([=;\uff1a\ufe55]|:=|->|=>)\s*(.*)$", rest)
    if other:
        message = f"After {key!r} there is {other[1]!r} in place of ':'."
        yield YAML_SPACE.at(place, message, f"write: {key}: {_short(other[2])}")
    if re.match(r" +[^\s:]", rest) and ":" not in rest and line.startswith(" "):
        yield YAML_SPACE.at(place, f"There is no colon after {key!r}.", f"write: {key}: {_short(rest.strip())}")


def _value(line: str, number: int) -> Iterator[Finding]:
    """A value that has to be in quotes, or whose quotes or brackets are wrong."""
    found = re.match(r"(\s*(?:- +)?[A-Za-z_]+: +)(\S.*)$", line)
    if not found:
        return
    value, column = found[2].rstrip(), len(found[1]) + 1
    if value[0] in "\"'":
        yield from _quoted(line, value, (number, column))
        return
    for name, opens, closes in (("bracket", "[", "]"), ("brace", "{", "}")):
        if value[0] == opens and closes not in value:
            message = f"A {name} is opened with {opens!r} and not closed."
            yield YAML_CLOSED.at((number, column), message, f"write: {_short(value.rstrip(','))}{closes}")
    mark = next((mark for mark in _MARKS if value.startswith(mark)), None)
    alone = value in (">", "|", ">-", "|-", ">+", "|+") or re.fullmatch(r"\[[^\[\]]*\]|\{[^{}]*\}|\*\w+", value)
    if mark and not alone:
        message = f"The value begins with {mark.strip()!r}: {_MARKS[mark]}."
        yield YAML_QUOTES.at((number, column), message, _in_quotes(line))
    inside = re.search(r":(?: |$)", value)
    if inside and not mark:
        where = "has a colon followed by a space in it" if inside.group() == ": " else "ends with a colon"
        message = f"The value {where}."
        yield YAML_QUOTES.at((number, column + inside.start()), message, _in_quotes(line))


def _quoted(line: str, value: str, place: Place) -> Iterator[Finding]:
    quote = value[0]
    escaped = r"(?:[^\"\\]|\\.)*" if quote == '"' else r"(?:[^']|'')*"
    whole = re.match(rf"{quote}({escaped}){quote}", value)
    rest = value[whole.end() :].strip() if whole else ""
    if whole and (not rest or rest.startswith("#")):
        return
    if value.count(quote) == 1:
        message = f"A quotation mark, {quote}, opens here and is not closed on this line."
        yield YAML_CLOSED.at(place, message, f"close it at the end of the text: {_short(value)}{quote}")
    message = f"The text is between the marks {quote} and has {quote} in it."
    inner = value[1:].removesuffix(quote)
    key = line[: place[1] - 1].strip().removeprefix("- ")
    if '"' not in inner:
        better = f'{key} "{_short(inner)}"'
    else:
        better = f"{key} '{_short(inner).replace(chr(39), chr(39) * 2)}'"
    yield YAML_QUOTES.at(place, message, f"write: {better}")


def _not_a_key(line: str, number: int) -> Iterator[Finding]:
    """A line that is neither a key with its value nor a part of a list."""
    shown = line.strip()
    if not shown or shown.startswith(("#", "- ", '"', "'", "]", "}")) or re.match(r"[\w./-]+:(\s|$)", shown):
        return
    column = len(line) - len(line.lstrip()) + 1
    if shown in ("---", "..."):
        yield YAML_SYNTAX.at((number, column), f"The line {shown!r} ends the file for YAML.", "delete the line")
    if shown.startswith("{"):
        message = "The line is an entry between braces, not below the list."
        fix = "write it as the other entries: '- id: ...', then a line for each key"
        yield YAML_SYNTAX.at((number, column), message, fix)
    message = f"The line is neither a key with a value nor a part of a list: {cut(shown, 60)!r}."
    fix = "write it as 'key: value', join it with the line above, write '# ' before it if it is a comment, or delete it"
    yield YAML_SYNTAX.at((number, column), message, fix)


_CHECKS: tuple[Callable[[str, int], Iterator[Finding]], ...] = (_tab, _odd_space, _dash, _after_key, _value)


def _in_quotes(line: str) -> str:
    """The fix for a value that needs quotes."""
    key, _, value = line.strip().removeprefix("- ").partition(": ")
    return f"put the value in quotes: {key}: {_short(json.dumps(value.strip(), ensure_ascii=False))}"


def _short(text: str) -> str:
    return cut(text, 120)


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
