"""One YAML file, read strictly, with the line and column of every value."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import yaml

from holisticbias.source.findings import Finding, shown
from holisticbias.source.rule_texts import report

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Keys: TypeAlias = tuple["str | int", ...]
Place: TypeAlias = tuple[int, int]

MAX_BYTES = 5_000_000
MAX_VALUES = 100_000
MAX_DEPTH = 40
MAX_ALIKE = 20  # findings of one kind in the bytes of a file

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
# YAML 1.1 ends a line with each of these, YAML 1.2 with none: readers disagree on the text, and on every line below.
_OTHER_LINE_BREAK = re.compile("[\x85\u2028\u2029]")
# A shorter file with fewer brackets and shorter lines can neither nest nor unfold enough to exhaust the parser.
_SURELY_SMALL = 100_000
_SURELY_FLAT = 1_000


@dataclass(frozen=True, slots=True)
class Document:
    """A file's data and where each of its values stands, by path of keys and indexes."""

    path: str
    data: Value
    places: dict[Keys, Place] = field(repr=False)
    findings: tuple[Finding, ...] = ()

    def place(self, keys: Keys) -> Place:
        """Line and column of a value, or of the nearest thing around it, counting from 1."""
        while keys and keys not in self.places:
            keys = keys[:-1]
        return self.places.get(keys, (1, 1))


def read_document(path: Path, shown_as: str) -> Document:
    """Read one YAML file. Whatever is wrong with it becomes a finding; nothing is raised."""
    content = _read_bytes(path, shown_as)
    return content if isinstance(content, Document) else parse_document(content, shown_as)


def read_json(path: Path, shown_as: str) -> Document:
    """Read one JSON file that the tools wrote, without the places of its values; nothing is raised."""
    content = _read_bytes(path, shown_as)
    if isinstance(content, Document):
        return content
    try:
        return Document(shown_as, json.loads(content), {})
    except (ValueError, RecursionError):
        return _unread(shown_as, "lock-syntax", "The file is not JSON.")


def _read_bytes(path: Path, shown_as: str) -> bytes | Document:
    if path.exists() and not path.is_file():
        return _unread(shown_as, "unreadable", "It is not a file.")  # a pipe or a device could be read forever
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unread(shown_as, "unreadable", f"The file cannot be read: {error.strerror}.")
    if len(content) > MAX_BYTES:
        return _unread(shown_as, "file-too-large", f"The file has more than {MAX_BYTES:,} bytes.")
    return content


def parse_document(content: bytes, shown_as: str) -> Document:
    """Parse the bytes of a YAML file; see ``read_document``."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8")
        message = f"Byte 0x{content[error.start]:02x} is not UTF-8."
        return _unread(shown_as, "not-utf8", message, _offset_place(before, len(before)))
    findings = tuple(_text_findings(text, shown_as))
    if any(f.rule == "byte-order-mark" for f in findings):
        text = text.removeprefix("\ufeff")
    try:
        unbounded = _unbounded(text)
        root = None if unbounded else yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return _unread(shown_as, "yaml-syntax", f"Not YAML: {error.problem or error}.", place, findings)
    except yaml.reader.ReaderError as error:
        place = _offset_place(text, _characters(text, error))
        return _unread(shown_as, "yaml-syntax", f"Not YAML: {error.reason}.", place, findings)
    except (yaml.YAMLError, RecursionError) as error:
        return _unread(shown_as, "yaml-syntax", f"Not YAML: {type(error).__name__}.", (1, 1), findings)
    if unbounded:
        return _unread(shown_as, *unbounded, before=findings)
    if root is None:
        return _unread(shown_as, "yaml-syntax", "The file is empty.", (1, 1), findings)
    builder = _Builder(shown_as)
    data = builder.value(root, ())
    findings += tuple(builder.findings)
    if builder.unbounded:
        return Document(shown_as, None, {}, findings)
    return Document(shown_as, data, builder.places, findings)


def _unread(path: str, rule: str, message: str, place: Place = (1, 1), before: tuple[Finding, ...] = ()) -> Document:
    return Document(path, None, {}, (*before, report(rule, path, place, message)))


def _text_findings(text: str, path: str) -> Iterator[Finding]:
    if text.startswith("\ufeff"):
        yield report("byte-order-mark", path, (1, 1), "The file begins with a byte order mark.")
    if "\r" in text:
        yield report("line-endings", path, _offset_place(text, text.index("\r")), "A line ends with a carriage return.")
    yield from islice(_other_line_breaks(text, path), MAX_ALIKE)
    if not unicodedata.is_normalized("NFC", text):
        yield from islice(_decomposed(text, path), MAX_ALIKE)


def _other_line_breaks(text: str, path: str) -> Iterator[Finding]:
    if _OTHER_LINE_BREAK.search(text) is None:
        return
    for number, line in enumerate(text.split("\n"), 1):
        for found in _OTHER_LINE_BREAK.finditer(line):
            message = f"The character U+{ord(found.group()):04X} is a line break to some programs and none to others."
            yield report("line-endings", path, (number, found.start() + 1), message, mend="remove the character.")


def _decomposed(text: str, path: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        composed = unicodedata.normalize("NFC", line)
        if composed != line:
            column = next((i for i, (a, b) in enumerate(zip(line, composed, strict=False)) if a != b), len(composed))
            yield report("not-nfc", path, (number, column + 1), "An accent is written as a character of its own.")


def _offset_place(text: str, offset: int) -> Place:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _characters(text: str, error: yaml.reader.ReaderError) -> int:
    """Where the reader stopped, in characters; libyaml counts bytes."""
    if error.encoding == "unicode":
        return int(error.position)
    return len(text.encode()[: error.position].decode(errors="ignore"))


def _unbounded(text: str) -> tuple[str, str, Place] | None:
    """What is wrong with a file that nests or holds too much, found before any of it is kept.

    Composing nodes takes stack for each level and memory for each value, which
    a small file can exhaust; events take neither.
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
            return "too-deep", _TOO_DEEP, (mark.line + 1, mark.column + 1)
        if mark and nodes > 2 * MAX_VALUES:  # keys and values
            return "too-many-values", _TOO_MANY, (mark.line + 1, mark.column + 1)
    return None


_TOO_DEEP = f"Values are nested more than {MAX_DEPTH} deep."
_TOO_MANY = f"The file unfolds to more than {MAX_VALUES:,} values."
_PLAIN = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class _Builder:
    """Turns YAML nodes into plain values, noting places and what is wrong."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.places: dict[Keys, Place] = {}
        self.findings: list[Finding] = []
        self.unbounded = False
        self._values = 0

    def value(self, node: yaml.Node, keys: Keys) -> Value:
        place = node.start_mark.line + 1, node.start_mark.column + 1
        self._values += 1
        if self._values > MAX_VALUES:
            self._stop("too-many-values", place, _TOO_MANY)
        elif len(keys) > MAX_DEPTH:
            self._stop("too-deep", place, _TOO_DEEP)
        if self.unbounded:
            return None
        self.places[keys] = place
        if isinstance(node, yaml.CollectionNode) and node.tag not in _PLAIN:
            self._report("yaml-syntax", place, f"The tag {shown(node.tag)} is not allowed.")
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
                self._report("yaml-syntax", place, "A key is not text.")
                continue
            key = str(key_node.value)
            if key in mapping:
                self._report("duplicate-key", place, f"The key {shown(key)} stands twice.")
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
            self._report("ambiguous-scalar", place, f"YAML 1.1 reads {shown(raw)} as {_READ_AS[kind]}.")
            return raw
        self._report("yaml-syntax", place, f"The tag {shown(tag)} is not allowed.")
        return raw

    def _report(self, rule: str, place: Place, message: str) -> None:
        self.findings.append(report(rule, self.path, place, message))

    def _stop(self, rule: str, place: Place, message: str) -> None:
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
