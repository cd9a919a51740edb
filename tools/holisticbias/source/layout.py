"""Canonical layout of the YAML files: order of keys, indentation and blank lines; comments are kept."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import yaml as pyyaml
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError

from holisticbias.errors import SourceError
from holisticbias.source.document import LOADER, read_document
from holisticbias.source.findings import render_findings
from holisticbias.source.folder import kind_of, shown_path
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import ENTRY_TYPES, MODELS, Kind, entries_key

MAX_FLOW = 120
MAX_FOLDED = 190
"""Longest list, and longest mapping, on one line."""
Node: TypeAlias = CommentedMap | CommentedSeq
_LISTS = ("sources", "not_with", "terms", "words", "descriptors", "these", "those")


def format_file(path: Path) -> str:
    """The canonical content of a file; raises ``SourceError`` with the first finding if it cannot be read."""
    document = read_document(path, shown_path(path))
    if document.findings:
        raise SourceError(f"fix this first: {render_findings(document.findings[:1], 'text')}")
    try:
        return format_text(path.read_text("utf-8"), kind_of(path.resolve(), document))
    except SourceError as error:
        raise SourceError(f"{shown_path(path)}: {error}") from error


def format_text(text: str, kind: Kind) -> str:
    """The canonical form of a YAML text; formatting it again changes nothing."""
    return canonical_text(read_editable(text), kind)


def read_editable(text: str) -> CommentedMap:
    """Parse a YAML file for editing, with its comments, quotes and order of keys."""
    try:
        root = _yaml().load(text)
    except (YAMLError, ValueError) as error:  # such as for a date that no month has
        raise SourceError(f"the file cannot be formatted: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(root, CommentedMap):
        raise SourceError("the file is not a mapping of keys to values")
    return root


def nodes(node: Node) -> Iterator[Node]:
    """A mapping or list of a file, and those in it."""
    yield node
    for part in node.values() if isinstance(node, CommentedMap) else node:
        if isinstance(part, CommentedMap | CommentedSeq):
            yield from nodes(part)


def canonical_text(root: CommentedMap, kind: Kind) -> str:
    """Write an edited file in canonical layout; sorts the keys of ``root`` in place."""
    _sort_keys(root, list(MODELS[kind].model_fields))
    entries = root.get(entries_key(kind))
    if kind in ENTRY_TYPES and isinstance(entries, CommentedSeq):
        for entry in entries:
            if isinstance(entry, CommentedMap):
                _lay_out(entry, key_order(ENTRY_TYPES[kind]))
    for exclusion in root.get("exclusions", ()) if kind == "intersections" else ():
        if isinstance(exclusion, CommentedMap):
            _set_flow(exclusion, 4)
    stream = io.StringIO()
    _yaml().dump(root, stream)
    return _blank_lines(stream.getvalue())


def key_order(model: type[Entry]) -> list[str]:
    """The order of an entry's keys: id, text, the keys of its kind, then the keys that all entries have."""
    common = [name for name in Entry.model_fields if name not in ("id", "text")]
    own = [name for name in model.model_fields if name not in (*Entry.model_fields, "assessments")]
    return ["id", "text", *own, "assessments", *common]


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = MAX_FOLDED  # then a text goes on in the next line
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _lay_out(entry: CommentedMap, order: list[str]) -> None:
    _sort_keys(entry, order)
    _set_flow(entry, 4)
    for value in entry.values():
        if isinstance(value, CommentedMap):
            _set_flow(value, 6)
        for part in value if isinstance(value, CommentedSeq) else ():
            if isinstance(part, CommentedMap):
                if part.fa.flow_style() and len(_one_line(part)) > MAX_FOLDED:
                    part.fa.set_block_style()
                if not part.fa.flow_style():
                    _set_flow(part, 8)


def _one_line(mapping: CommentedMap) -> str:
    """About what a mapping looks like on one line of an entry."""
    parts = (
        f"{key}: [{', '.join(map(str, v))}]" if isinstance(v, list) else f"{key}: {v}" for key, v in mapping.items()
    )
    return f"      - {{{', '.join(parts)}}}"


def _set_flow(mapping: CommentedMap, indent: int) -> None:
    """Write the short lists of a mapping on one line."""
    for key in _LISTS:
        values = mapping.get(key)
        if isinstance(values, CommentedSeq):
            one_line = f"{' ' * indent}{key}: [{', '.join(map(str, values))}]"
            if len(one_line) <= MAX_FLOW:
                values.fa.set_flow_style()
            else:
                values.fa.set_block_style()


def _sort_keys(mapping: CommentedMap, order: list[str]) -> None:
    """Sort keys, with their comments, by the order given; other keys come last."""
    wanted = sorted(mapping, key=lambda key: order.index(key) if key in order else len(order))
    if wanted != list(mapping):
        for key in wanted:
            mapping.move_to_end(key)


def _blank_lines(text: str) -> str:
    """Put one blank line between entries, before the comments of the next entry.

    Before a line without indentation, one or more blank lines become one; all others are removed, except in texts.
    """
    inside = _lines_of_texts(text)
    out: list[str] = []
    after_blank = False
    for number, line in enumerate(text.rstrip("\n").split("\n")):
        if number in inside:
            out.append(line)
        elif line.strip(" "):
            if line.startswith("  - id: "):
                _insert_blank(out)
            elif after_blank and out and not line.startswith(" "):
                out.append("")
            out.append(line.rstrip(" "))
        after_blank = number not in inside and not line.strip(" ")
    return "\n".join(out) + "\n"


def _insert_blank(lines: list[str]) -> None:
    """Insert a blank line before the comments at the end, except at the start of a list or after a blank line."""
    at = len(lines)
    while at and lines[at - 1].lstrip().startswith("#"):
        at -= 1
    if at and lines[at - 1].strip() and not lines[at - 1].endswith(":"):
        lines.insert(at, "")


def _lines_of_texts(text: str) -> set[int]:
    """Numbers of the lines that continue a text of several lines, in which blank lines have a meaning."""
    return {
        number
        for token in pyyaml.scan(text, Loader=LOADER)
        if isinstance(token, pyyaml.ScalarToken)
        for number in range(token.start_mark.line + 1, token.end_mark.line + (token.end_mark.column > 0))
    }
