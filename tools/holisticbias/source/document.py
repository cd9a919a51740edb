"""One YAML file, read strictly, with the line and column of every value."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from os.path import realpath
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from holisticbias.source.findings import Finding, Place, Problem, Rule, offset_place, shown
from holisticbias.source.reading_rules import (
    AMBIGUOUS_SCALAR,
    DUPLICATE_KEY,
    FILE_TOO_LARGE,
    LOCK_SYNTAX,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_VALUES,
    NEW_ENTRY_NAME,
    NOT_UTF8,
    TOO_DEEP,
    TOO_MANY_VALUES,
    UNREADABLE,
    YAML_QUOTES,
    YAML_SYNTAX,
)
from holisticbias.source.text_findings import text_findings
from holisticbias.source.yaml_mistakes import explain

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Keys = tuple[str | int, ...]

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DECIMAL = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FRACTION = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
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

    def problem(self, keys: Keys, message: str, entry: str = "", fix: str | None = None) -> Problem:
        """A problem at a value."""
        return Problem(self.path, self.place(keys), message, entry, fix)


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
        return _unread("", NOT_UTF8, message, offset_place(before, len(before)))
    findings = tuple(text_findings(text))
    text = text.removeprefix("\ufeff")
    builder = _Builder()
    try:
        _check_bounds(text)
        root = yaml.compose(text, Loader=LOADER)
        if root is not None:
            data = builder.value(root, ())
            return Document("", data, builder.places, (*findings, *builder.findings))
        failed = YAML_SYNTAX.at((1, 1), "The file is empty.", "write its keys and values, or remove the file")
    except _UnboundedError as error:
        failed = error.finding
    except yaml.MarkedYAMLError as error:
        failed = explain(text, error)
    except yaml.reader.ReaderError as error:
        place = offset_place(text, _characters(text, error))
        failed = YAML_SYNTAX.at(place, f"YAML cannot read a character: {error.reason}.")
    except (yaml.YAMLError, RecursionError) as error:
        failed = YAML_SYNTAX.at((1, 1), f"YAML cannot read the file: {type(error).__name__}.")
    return Document("", None, {}, tuple(dict.fromkeys((*findings, *builder.findings, failed))))


def misplaced(path: str) -> Document:
    """The document of a file that is among new entries, but has a name by which it is not read."""
    return _unread(path, NEW_ENTRY_NAME, "The file is not read.")


def _unread(path: str, rule: Rule, message: str, place: Place = (1, 1)) -> Document:
    return Document(path, None, {}, (rule.finding(Problem(path, place, message)),))


def _characters(text: str, error: yaml.reader.ReaderError) -> int:
    """The reader's position in characters; libyaml counts bytes."""
    if error.encoding == "unicode":
        return int(error.position)
    return len(text.encode()[: error.position].decode(errors="ignore"))


def _check_bounds(text: str) -> None:
    """Find deep nesting or too many values without building the file; raises ``_UnboundedError``.

    Composing nodes takes stack per level and memory per value, which a small
    file can exhaust; parsing events takes neither.
    """
    longest = max(map(len, text.split("\n")))
    if len(text) < _SURELY_SMALL and longest + text.count("[") + text.count("{") < _SURELY_FLAT:
        return
    try:
        _check_events(yaml.parse(text, Loader=LOADER))
    except yaml.MarkedYAMLError as error:
        if "nesting depth" in str(error.problem):  # libyaml reads ahead, and refuses a depth of 1,000 itself
            _check_events(yaml.parse(text, Loader=yaml.SafeLoader))
        raise


def _check_events(events: Iterable[yaml.Event]) -> None:
    depth = nodes = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        nodes += isinstance(event, yaml.NodeEvent)
        _check_size(depth, (nodes + 1) // 2, event.start_mark)  # nodes are keys and values


class _UnboundedError(Exception):
    """A file has too many values, or nests them too deeply."""

    def __init__(self, finding: Finding) -> None:
        self.finding = finding


def _check_size(depth: int, values: int, mark: Any) -> Place:
    """The place of a mark; raises ``_UnboundedError`` if the values up to it are too many or nested too deeply."""
    place = mark.line + 1, mark.column + 1
    if values > MAX_VALUES:
        raise _UnboundedError(TOO_MANY_VALUES.at(place, f"The file expands to more than {MAX_VALUES:,} values."))
    if depth > MAX_DEPTH:
        raise _UnboundedError(TOO_DEEP.at(place, f"Values are nested more than {MAX_DEPTH} levels deep."))
    return place


_PLAIN = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"}


class _Builder:
    """Convert YAML nodes to plain values, and collect their places and findings."""

    def __init__(self) -> None:
        self.places: dict[Keys, Place] = {}
        self.findings: list[Finding] = []
        self._values = 0

    def value(self, node: yaml.Node, keys: Keys) -> Value:
        self._values += 1
        place = self.places[keys] = _check_size(len(keys), self._values, node.start_mark)
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
            if key in mapping and key == "id" == next(iter(mapping)):
                message, fix = "A second entry begins here without a dash.", "write a dash and a space before 'id'"
                self._report(DUPLICATE_KEY, place, message, fix)
                break
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
        if tag.startswith("!"):
            self._report(YAML_QUOTES, place, f"YAML reads {shown(tag)} as a type.", "put the value in quotes")
        else:
            self._report(YAML_SYNTAX, place, f"The tag {shown(tag)} is not allowed.")
        return raw

    def _report(self, rule: Rule, place: Place, message: str, fix: str | None = None) -> None:
        self.findings.append(rule.at(place, message, fix))


_READ_AS = {
    "null": "nothing",
    "bool": "true or false",
    "int": "a number in another base",
    "float": "a number",
    "value": "a special value",
    "merge": "a merge of mappings",
}
