"""Find the lines of a YAML text that stand in the wrong column."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holisticbias.source.findings import Finding
from holisticbias.source.reading_rules import YAML_COLUMN
from holisticbias.terms.entries import Descriptor

_LINE = re.compile(
    r"(?P<indent> *)(?P<dash>-(?: +|$))?(?P<key>[A-Za-z_][\w.-]*|\"[^\"]*\"|'[^']*')?(?P<colon>:(?= |$))?(?P<value>.*)$"
)
_BEGINS_TEXT = re.compile(r": +[|>][+-]?\d?\s*$")


@dataclass(slots=True)
class _Level:
    """An open list or mapping: the column of its dashes or keys, from 0."""

    column: int
    of: str  # "list" or "keys"


@dataclass(slots=True)
class _State:
    levels: list[_Level] = field(default_factory=lambda: [_Level(0, "keys")])
    open: bool = False  # the line above ends with a colon, so its value is below it


def wrong_columns(lines: Sequence[str]) -> Iterator[Finding]:
    """The lines whose column does not fit the lines above; lines of texts and of values in brackets are left out."""
    state = _State()
    inside = lines_of_texts(lines)
    for number, line in enumerate(lines, 1):
        found = _LINE.match(line)
        if number in inside or not found or not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(found["indent"])
        if found["dash"]:
            yield from _dash(state, number, indent, found["key"])
            inner = indent + len(found["dash"])
            if found["key"] and found["colon"]:
                state.levels.append(_Level(inner, "keys"))
                state.open = _is_below(found["value"])
            else:
                state.open = False
        elif found["key"] and found["colon"]:
            yield from _key(state, number, indent, found["key"])
            state.open = _is_below(found["value"])


def lines_of_texts(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines of texts that begin below their key, after > or |."""
    found, column = set(), None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip(" "))
        if column is not None and (indent > column or not line.strip()):
            found.add(number)
        else:
            column = len(line) - len(line.lstrip(" -")) if _BEGINS_TEXT.search(line) else None
    return found


def _is_below(value: str) -> bool:
    """Whether the value of a key is on the lines below it."""
    return not value.strip() or value.strip().startswith("#")


def _dash(state: _State, number: int, indent: int, key: str | None) -> Iterator[Finding]:
    levels = state.levels
    if indent > levels[-1].column and state.open:
        levels.append(_Level(indent, "list"))
        return
    if indent == levels[-1].column and state.open and levels[-1].of == "keys":
        levels.append(_Level(indent, "list"))  # YAML allows a list in the column of its key
        return
    last = [level for level in levels if level.of == "list"]
    if not last:
        return
    nearest = min(reversed(last), key=lambda level: abs(level.column - indent))
    if state.open and nearest.column != indent:
        fix = f"put {levels[-1].column + 2} spaces before the dash"
        yield YAML_COLUMN.at((number, indent + 1), "The dash is not below the key of its list.", fix)
        return
    if key == "id" and nearest.column != indent:
        nearest = last[0]  # an entry begins
    while levels[-1] is not nearest:
        levels.pop()
    if nearest.column != indent:
        column = nearest.column
        message = f"The dash is in column {indent + 1}, and the dashes above it are in column {column + 1}."
        fix = f"put {column} spaces before the dash, and {column + 2} before the lines that belong to it"
        yield YAML_COLUMN.at((number, indent + 1), message, fix)


def _key(state: _State, number: int, indent: int, key: str) -> Iterator[Finding]:
    levels = state.levels
    if indent > levels[-1].column and state.open:
        levels.append(_Level(indent, "keys"))
        return
    at = next((level for level in reversed(levels) if level.column == indent and level.of == "keys"), None)
    if at is not None and not (indent == 0 and len(levels) > 1 and _of_entry(key)):
        while levels[-1] is not at:
            levels.pop()
        return
    wanted = min(
        (level for level in reversed(levels) if level.of == "keys" and (level.column or len(levels) == 1)),
        key=lambda level: abs(level.column - indent),
        default=levels[-1],
    )
    if indent > levels[-1].column:
        wanted = levels[-1]
    message = f"The key {key!r} is in column {indent + 1}, and the keys above it are in column {wanted.column + 1}."
    yield YAML_COLUMN.at((number, indent + 1), message, f"put {wanted.column} spaces before {key!r}")


def _of_entry(key: str) -> bool:
    """Whether a key belongs to an entry, not to a file."""
    return key in Descriptor.model_fields
