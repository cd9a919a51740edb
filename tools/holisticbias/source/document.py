"""One YAML file, read strictly, with the line and column of every value."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from os.path import realpath
from pathlib import Path
from typing import TypeAlias

import yaml

from holisticbias.source.findings import Finding, shown
from holisticbias.source.reading_rules import (
    AMBIGUOUS_SCALAR,
    BYTE_ORDER_MARK,
    DUPLICATE_KEY,
    FILE_TOO_LARGE,
    HIDDEN_IN_COMMENT,
    LINE_ENDINGS,
    LOCK_SYNTAX,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    NOT_NFC,
    NOT_UTF8,
    TOO_DEEP,
    TOO_MANY_VALUES,
    UNREADABLE,
    UNSEEN,
    YAML_SYNTAX,
    syntax_error,
)
from holisticbias.source.rule import Place, Problem, Rule

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Keys: TypeAlias = tuple["str | int", ...]

MAX_ALIKE = 20  # findings of one rule in the bytes of a file

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
# Line breaks in YAML 1.1 but not in YAML 1.2: parsers disagree on the text and on all later line numbers.
_OTHER_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
_COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
# Below both limits a file can neither nest nor expand enough to exhaust the parser.
_SURELY_SMALL = 100_000
_SURELY_FLAT = 1_000


@dataclass(frozen=True, slots=True)
class Document:
    """A file's data, with the place of each value by its path of keys and indexes."""

    path: str
    data: Value
    places: dict[Keys, Place] = field(repr=False)
    findings: tuple[Finding, ...] = ()

    def place(self, keys: Keys) -> Place:
        """Line and column, from 1, of a value or of the nearest value around it."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places.get(keys, (1, 1))


def read_document(path: Path, shown_as: str, within: Path | None = None) -> Document:
    """Read one YAML file; errors, and links that leave ``within``, become findings, and nothing is raised."""
    content = _read_bytes(path, shown_as, within)
    return content if isinstance(content, Document) else parse_document(content, shown_as)


def read_json(path: Path, shown_as: str, within: Path | None = None) -> Document:
    """Read one JSON file that the tools wrote, without the places of its values; see ``read_document``."""
    content = _read_bytes(path, shown_as, within)
    if isinstance(content, Document):
        return content
    try:
        return Document(shown_as, json.loads(content), {})
    except (ValueError, RecursionError):
        return _unread(shown_as, LOCK_SYNTAX, "The file is not JSON.")


def _read_bytes(path: Path, shown_as: str, within: Path | None) -> bytes | Document:
    if within is not None and not Path(realpath(path)).is_relative_to(realpath(within)):  # resolve() refuses loops
        return _unread(shown_as, UNREADABLE, "It is a link to a place outside the folder of terms.")
    if path.exists() and not path.is_file():
        return _unread(shown_as, UNREADABLE, "It is not a file.")  # reading a pipe or a device may never end
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unread(shown_as, UNREADABLE, f"The file cannot be read: {error.strerror}.")
    if len(content) > MAX_BYTES:
        return _unread(shown_as, FILE_TOO_LARGE, f"The file has more than {MAX_BYTES:,} bytes.")
    return content


def parse_document(content: bytes, shown_as: str) -> Document:
    """Parse the bytes of a YAML file; see ``read_document``."""
    found = _parsed(content)
    return replace(found, path=shown_as, findings=tuple(replace(f, path=shown_as) for f in found.findings))


@lru_cache(maxsize=64)  # a command that edits terms reads every file before and after
def _parsed(content: bytes) -> Document:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        message = f"Byte 0x{content[error.start]:02x} is not UTF-8."
        return _unread("", NOT_UTF8, message, _offset_place(before, len(before)))
    findings = tuple(_text_findings(text))
    if any(f.rule == BYTE_ORDER_MARK.id for f in findings):
        text = text.removeprefix("\ufeff")
    try:
        unbounded = _unbounded(text)
        root = None if unbounded else yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        return _unread("", YAML_SYNTAX, *syntax_error(error), findings)
    except yaml.reader.ReaderError as error:
        place = _offset_place(text, _characters(text, error))
        return _unread("", YAML_SYNTAX, f"Not YAML: {error.reason}.", place, findings)
    except (yaml.YAMLError, RecursionError) as error:
        return _unread("", YAML_SYNTAX, f"Not YAML: {type(error).__name__}.", (1, 1), findings)
    if unbounded:
        return _unread("", *unbounded, before=findings)
    if root is None:
        return _unread("", YAML_SYNTAX, "The file is empty.", (1, 1), findings)
    builder = _Builder()
    data = builder.value(root, ())
    findings += tuple(builder.findings)
    return Document("", None if builder.unbounded else data, {} if builder.unbounded else builder.places, findings)


def _unread(path: str, rule: Rule, message: str, place: Place = (1, 1), before: tuple[Finding, ...] = ()) -> Document:
    return Document(path, None, {}, (*before, rule.finding(Problem(path, place, message))))


def _text_findings(text: str) -> Iterator[Finding]:
    if text.startswith("\ufeff"):
        yield BYTE_ORDER_MARK.finding(Problem("", (1, 1), "The file begins with a byte order mark."))
    if "\r" in text:
        place = _offset_place(text, text.index("\r"))
        yield LINE_ENDINGS.finding(Problem("", place, "A line ends with a carriage return."))
    yield from islice(_other_line_breaks(text), MAX_ALIKE)
    if not text.isascii():
        yield from islice(_hidden_in_comments(text), MAX_ALIKE)
    if not unicodedata.is_normalized("NFC", text):
        yield from islice(_decomposed(text), MAX_ALIKE)


def _other_line_breaks(text: str) -> Iterator[Finding]:
    if _OTHER_LINE_BREAK.search(text) is None:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for found in _OTHER_LINE_BREAK.finditer(line):
            message = f"Only some programs read the character U+{ord(found.group()):04X} as a line break."
            problem = Problem("", (number, found.start() + 1), message)
            yield LINE_ENDINGS.finding(problem, fix="remove the character")


def _hidden_in_comments(text: str) -> Iterator[Finding]:
    """A finding for each comment with an invisible character; other parts of a file are checked as values."""
    for number, line in enumerate(text.split("\n"), 1):
        comment = None if line.isascii() else _COMMENT.search(line)
        for place, letter in enumerate(comment.group() if comment else "", comment.start() + 1 if comment else 1):
            if letter not in "\t\r\x85\u2028\u2029" and (UNSEEN.match(letter) or not letter.isprintable()):
                message = f"The comment contains the character U+{ord(letter):04X}."
                yield HIDDEN_IN_COMMENT.finding(Problem("", (number, place), message))
                break


def _decomposed(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        composed = unicodedata.normalize("NFC", line)
        if composed != line:
            column = next((i for i, (a, b) in enumerate(zip(line, composed, strict=False)) if a != b), len(composed))
            yield NOT_NFC.finding(Problem("", (number, column + 1), "An accent is written as a separate character."))


def _offset_place(text: str, offset: int) -> Place:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _characters(text: str, error: yaml.reader.ReaderError) -> int:
    """The reader's position in characters; libyaml counts bytes."""
    if error.encoding == "unicode":
        return int(error.position)
    return len(text.encode()[: error.position].decode(errors="ignore"))


def _unbounded(text: str) -> tuple[Rule, str, Place] | None:
    """Detect deep nesting or too many values without building the file; return the rule, message and place.

    Composing nodes takes stack per level and memory per value, which a small
    file can exhaust; parsing events takes neither.
    """
    longest = max(map(len, text.split("\n")))
    if len(text) < _SURELY_SMALL and longest + text.count("[") + text.count("{") < _SURELY_FLAT:
        return None
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        mark = event.start_mark
        if mark and depth > MAX_DEPTH:
            return TOO_DEEP, _TOO_DEEP, (mark.line + 1, mark.column + 1)
        if mark and nodes > 2 * MAX_VALUES:  # keys and values
            return TOO_MANY_VALUES, _TOO_MANY, (mark.line + 1, mark.column + 1)
    return None


_TOO_DEEP = f"Values are nested more than {MAX_DEPTH} levels deep."
_TOO_MANY = f"The file expands to more than {MAX_VALUES:,} values."
_PLAIN = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class _Builder:
    """Convert YAML nodes to plain values, and collect their places and findings."""

    def __init__(self) -> None:
        self.places: dict[Keys, Place] = {}
        self.findings: list[Finding] = []
        self.unbounded = False
        self._values = 0

    def value(self, node: yaml.Node, keys: Keys) -> Value:
        place = node.start_mark.line + 1, node.start_mark.column + 1
        self._values += 1
        if self._values > MAX_VALUES:
            self._stop(TOO_MANY_VALUES, place, _TOO_MANY)
        elif len(keys) > MAX_DEPTH:
            self._stop(TOO_DEEP, place, _TOO_DEEP)
        if self.unbounded:
            return None
        self.places[keys] = place
        if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN:
            self._report(YAML_SYNTAX, place, f"The tag {shown(node.tag)} is not allowed.")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, keys)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*keys, i)) for i, item in enumerate(node.value)]
        return self._scalar(node.tag, str(node.value), place)

    def _mapping(self, node: yaml.MappingNode, keys: Keys) -> Value:
        mapping: dict[str, Value] = {}
        for key_node, value_node in node.value:
            place = key_node.start_mark.line + 1, key_node.start_mark.column + 1
            if not isinstance(key_node, yaml.ScalarNode):
                self._report(YAML_SYNTAX, place, "A key is not a text.")
                continue
            key = str(key_node.value)
            if key in mapping:
                self._report(DUPLICATE_KEY, place, f"The key {shown(key)} appears twice.")
                continue
            mapping[key] = self.value(value_node, (*keys, key))
        return mapping

    def _scalar(self, tag: str, raw: str, place: Place) -> Value:
        kind = tag.removeprefix("tag:yaml.org,2002:")
        if kind in ("str", "timestamp"):
            return raw
        if kind == "null" and raw in ("", "~", "null"):
            return None
        if kind == "bool" and raw in ("true", "false"):
            return raw == "true"
        if kind == "int" and _DECIMAL.fullmatch(raw):
            return int(raw)
        if kind == "float" and _FRACTION.fullmatch(raw):
            return float(raw)
        if kind in _READ_AS:
            self._report(AMBIGUOUS_SCALAR, place, f"YAML 1.1 reads {shown(raw)} as {_READ_AS[kind]}.")
            return raw
        self._report(YAML_SYNTAX, place, f"The tag {shown(tag)} is not allowed.")
        return raw

    def _report(self, rule: Rule, place: Place, message: str) -> None:
        self.findings.append(rule.finding(Problem("", place, message)))

    def _stop(self, rule: Rule, place: Place, message: str) -> None:
        if not self.unbounded:
            self._report(rule, place, message)
        self.unbounded = True


_READ_AS = {
    "null": "nothing",
    "bool": "true or false",
    "int": "a number in another base",
    "float": "a number",
    "value": "a special value",
    "merge": "a merge of mappings",
}
