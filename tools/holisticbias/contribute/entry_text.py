"""Entries in the text of their files: where they are, how they are written, and how they change with their comments."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from holisticbias.source.document import parse_document
from holisticbias.source.folder import is_new, kind_files
from holisticbias.source.layout import Node, canonical_text, format_text, nodes, read_editable
from holisticbias.terms.file_kinds import Kind, entries_key

Field: TypeAlias = "str | bool | date | Sequence[Field] | Mapping[str, Field] | None"
Change = Callable[[CommentedMap], object]
_MAX_FLOW = 110  # characters of a part of an entry on one line
_YAML_WORDS = {"yes", "no", "on", "off", "y", "n", "true", "false", "null", "~"}


@dataclass(frozen=True, slots=True)
class Edit:
    """The new content of a file; null removes the file. ``before`` is its content so far; null if it is a new file."""

    path: Path
    kind: Kind
    text: str | None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The lines of an entry in its file, counted from 0, without the comments before and after it."""

    id: str
    first: int
    end: int


def spans(text: str, kind: Kind) -> Iterator[Span]:
    """The entries of a file, in order."""
    document, key = parse_document(text.encode(), ""), entries_key(kind)
    entries = document.data.get(key) if isinstance(document.data, dict) else None
    lines = text.split("\n")
    for i, entry in enumerate(entries if isinstance(entries, list) else ()):
        first = document.place((key, i))[0] - 1
        if isinstance(entry, dict):
            yield Span(str(entry.get("id")), first, _end(lines, first))


def _end(lines: Sequence[str], first: int) -> int:
    """The end of an entry: before the next line that is indented no deeper, and before its comments."""
    column = _column(lines[first])
    inside = (i for i, line in enumerate(lines[first + 1 :], first + 1) if not _is_comment(line))
    after = next((i for i in inside if _column(lines[i]) <= column), len(lines))
    return comments_before(lines, after)


def _column(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def comments_before(lines: Sequence[str], place: int) -> int:
    """The first of the comments and blank lines directly before a line."""
    while place and _is_comment(lines[place - 1]):
        place -= 1
    return place


def find_place(root: Path, kind: Kind, entry_id: str) -> str:
    """The file of an entry, relative to the folder of terms, and its line; the folder if it is not found."""
    for path, _, span in _of_kind(root, kind):
        if span.id == entry_id:
            return f"{path.relative_to(root)}:{span.first + 1}"
    return kind


def read_entry(root: Path, kind: Kind, entry_id: str) -> CommentedMap:
    """An entry as it is in its file, with its comments; the folder has it."""
    text, span = next((text, span) for _, text, span in _of_kind(root, kind) if span.id == entry_id)
    return _content(text.split("\n"), span, kind)[entries_key(kind)][0]  # type: ignore[no-any-return]


def _of_kind(root: Path, kind: Kind) -> Iterator[tuple[Path, str, Span]]:
    for path in kind_files(root, kind):
        text = path.read_text("utf-8")
        yield from ((path, text, span) for span in spans(text, kind))


def edit_entries(root: Path, kinds: Sequence[Kind], changes: Mapping[str, Change | None]) -> tuple[Edit, ...]:
    """The edits that change entries of some kinds, by their ids.

    None removes an entry with the comments before it. A file of new entries is then removed if it has no other one,
    and otherwise named for its first entry again.
    """
    edits: list[Edit] = []
    for kind, path in ((k, path) for k in kinds for path in kind_files(root, k)):
        text = path.read_text("utf-8")
        entries = list(spans(text, kind))
        named = [span for span in entries if span.id in changes]
        if named:
            lines = text.split("\n")
            removed = [span for span in reversed(named) if not _edit(lines, span, kind, changes[span.id])]
            kept = [span for span in entries if span not in removed]
            target = path.with_stem(kept[0].id) if kept and is_new(path) else path
            edits += [Edit(path, kind, None, text)] if target != path else []
            new = _rest(path, kind, lines, empty=not kept)
            edits.append(Edit(target, kind, new, text if target == path else None))
    return tuple(edits)


def edit_nodes(root: Path, kinds: Iterable[Kind], name: str, change: Callable[[Node], bool]) -> Iterator[Edit]:
    """The edits of the files of some kinds that have a name; ``change`` changes a mapping or list, and says whether."""
    for kind, path in ((k, path) for k in kinds for path in kind_files(root, k)):
        text = path.read_text("utf-8")
        content = read_editable(text) if name in text else CommentedMap()
        changed = [part for part in nodes(content) if change(part)]
        if changed:
            yield Edit(path, kind, canonical_text(content, kind), text)


def _edit(lines: list[str], span: Span, kind: Kind, change: Change | None) -> bool:
    """Change an entry in the lines of its file, or remove it; whether it is still there."""
    if change is None:
        del lines[comments_before(lines, span.first) : span.end]
        return False
    content = _content(lines, span, kind)
    change(content[entries_key(kind)][0])
    margin = " " * _column(lines[span.first])  # like the entries around it, which canonical layout may indent otherwise
    entry = canonical_text(content, kind).rstrip("\n").split("\n")[1:]
    lines[span.first : span.end] = [margin + line.removeprefix("  ") for line in entry]
    return True


def _content(lines: Sequence[str], span: Span, kind: Kind) -> CommentedMap:
    """A file with one entry of another file."""
    return read_editable("\n".join([f"{entries_key(kind)}:", *lines[span.first : span.end]]))


def _rest(path: Path, kind: Kind, lines: Sequence[str], *, empty: bool) -> str | None:
    """The text of an edited file; None if it had new entries and has none."""
    text, key = "\n".join(lines), entries_key(kind)
    if empty and is_new(path):
        return None
    return format_text(re.sub(f"^{key}:.*$", f"{key}: []", text, flags=re.MULTILINE) if empty else text, kind)


def written(entry: Mapping[str, Field]) -> CommentedMap:
    """The entry without its null keys; a part of a list is on one line if it fits."""
    result = CommentedMap((key, _as_yaml(value)) for key, value in entry.items() if value is not None)
    for value in result.values():
        for part in value if isinstance(value, CommentedSeq) else ():
            if isinstance(part, CommentedMap) and len(str(dict(part)).replace("'", "")) <= _MAX_FLOW:
                part.fa.set_flow_style()
    return result


def _as_yaml(value: Field) -> object:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        return CommentedMap((key, _as_yaml(part)) for key, part in value.items())
    if isinstance(value, Sequence):
        return CommentedSeq(map(_as_yaml, value))
    return value


def _quoted(text: str) -> str:
    """Quote a text that a YAML 1.1 parser could misread; ruamel.yaml adds the quotes that YAML 1.2 needs."""
    misread = re.search(r"'|\[|:(?!//)|^\?", text) or text.lower() in _YAML_WORDS
    return DoubleQuotedScalarString(text) if misread else text
