"""Write valid new entries and judgements to the files of terms, in canonical layout."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.rules.validate import validate_files
from holisticbias.source.document import parse_document, read_document
from holisticbias.source.findings import Finding, one_line
from holisticbias.source.folder import NEW, SourceFile, kind_files, read_source, shown_path
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import GROUP_KEYS, IN_PREPARATION, WITH_PROMPTS, Kind, entries_key
from holisticbias.terms.versions import NEXT, version_key

Field: TypeAlias = "str | bool | Sequence[Field] | Mapping[str, Field] | None"
JUDGED: tuple[Kind, ...] = ("descriptors", "specifications")
_MAX_FLOW = 110  # characters of a part of an entry on one line
_YAML_WORDS = {"yes", "no", "on", "off", "y", "n", "true", "false", "null", "~"}


@dataclass(frozen=True, slots=True)
class Draft:
    """A new entry: its kind of file, its group, and its keys and values.

    The group is an axis, a gender or a family; of a prompt, it is the collection and the domain: ``bold/gender``.
    """

    kind: Kind
    group: str
    entry: Mapping[str, Field]


@dataclass(frozen=True, slots=True)
class Edit:
    """The new content of a file; null removes the file."""

    path: Path
    kind: Kind
    text: str | None


def next_version(catalog: Catalog, wanted: str = NEXT) -> str:
    """The version that a change is for: ``next``, or the number of a fix in preparation.

    Raises ``SourceError`` if the version is not in preparation.
    """
    if wanted != NEXT and wanted in catalog.published:
        raise SourceError(f"version {wanted} is published and cannot change: a change is for next, or for a fix")
    if wanted != NEXT and wanted not in catalog.versions:
        raise SourceError(
            f"version {wanted} is not in preparation: begin a fix with holisticbias releases --fix {wanted}"
        )
    return wanted


def prepare_version(catalog: Catalog, root: Path, version: str = NEXT) -> tuple[Edit, ...]:
    """Create the file of a version in preparation, with the settings of the newest version; empty if it exists."""
    if version in catalog.versions:
        return ()
    last = [catalog.release(v) for v in catalog.versions if version_key(v) < version_key(version)][-1:]
    rule, layout = (last[0].article_rule, last[0].layout) if last else ("sound", WITH_PROMPTS)
    text = (
        "# yaml-language-server: $schema=../schema/releases.schema.json\n"
        f"version: {version}\nsummary: {IN_PREPARATION}.\narticle_rule: {rule}\nlayout: {layout}\n"
    )
    return (Edit(root / "releases" / f"{version}.yaml", "releases", text),)


def add_entry(root: Path, draft: Draft) -> Edit:
    """Add an entry as a new file, in the folder ``new`` of its kind.

    A descriptor leaves out the nouns that ``intersections.yaml`` excludes for its bucket.
    """
    find_file(root, draft.kind, draft.group)
    entry = dict(draft.entry)
    if draft.kind == "descriptors" and entry.get("position") != "standalone":
        entry.setdefault("not_with", _excluded_nouns(root, f"{draft.group}/{entry.get('bucket')}") or None)
    return new_entry(root, draft.kind, draft.group, written(entry))


def new_entry(root: Path, kind: Kind, group: str, entry: CommentedMap) -> Edit:
    """The file of a new entry; ``SourceError`` if there is one."""
    path = root / kind / NEW / f"{entry['id']}.yaml"
    if path.exists():
        raise SourceError(f"{shown_path(path)} exists: correct the entry there, or choose another id")
    keys = dict(zip(GROUP_KEYS[kind], group.split("/"), strict=True))
    content = CommentedMap({**keys, entries_key(kind): CommentedSeq([entry])})
    content.yaml_set_start_comment(f"yaml-language-server: $schema=../../schema/{kind}.schema.json")
    return Edit(path, kind, canonical_text(content, kind))


def entry_file(root: Path, kind: Kind, entry_id: str) -> Path:
    """The file of an entry; raises ``SourceError`` if there is none."""
    for path in kind_files(root, kind):
        if any(entry.get("id") == entry_id for entry in _data(path).get(entries_key(kind), ())):
            return path
    raise SourceError(f"no entry in {kind}/ has the id {entry_id!r}")


def _excluded_nouns(root: Path, selector: str) -> tuple[str, ...]:
    """The ids of the nouns that ``intersections.yaml`` excludes for a bucket, written as axis/bucket."""
    exclusions = _data(root / "intersections.yaml").get("exclusions", ())
    named = (name for e in exclusions if selector in e["these"] for name in e["those"])
    return tuple(dict.fromkeys(name for name in named if name.startswith("noun.")))


@dataclass(frozen=True, slots=True)
class NewAssessment:
    """A judgement to write to an entry, and the places of earlier ones in its list that it replaces."""

    values: Mapping[str, str]
    replaces: tuple[int, ...] = ()


def write_assessments(root: Path, assessments: Mapping[str, NewAssessment]) -> tuple[Edit, ...]:
    """Add judgements to descriptors and specifications, by their ids; raises ``SourceError`` for an unknown id."""
    edits, missing = [], dict(assessments)
    for kind, path in ((k, path) for k in JUDGED for path in kind_files(root, k)):
        ids = [entry["id"] for entry in _data(path).get(kind, ())]
        found = {entry_id: missing.pop(entry_id) for entry_id in ids if entry_id in missing}
        if found:
            content = read_editable(path.read_text("utf-8"))
            for entry_id, new in found.items():
                _write_assessment(content[kind][ids.index(entry_id)], new)
            edits.append(Edit(path, kind, canonical_text(content, kind)))
    if missing:
        raise SourceError(f"no descriptor or specification has the id {', '.join(map(repr, missing))}")
    return tuple(edits)


def _write_assessment(entry: CommentedMap, new: NewAssessment) -> None:
    written = entry.setdefault("assessments", CommentedSeq())
    for place in sorted(new.replaces, reverse=True):
        del written[place]
    written.append(_flow(new.values))


def check_edits(root: Path, edits: Sequence[Edit]) -> None:
    """Raise ``SourceError`` with the errors that the edits would add; warnings do not prevent an edit."""
    errors = [f for f in new_findings(root, edits) if f.level == "error"]
    if errors:
        found = " ".join(f"{f.message} Fix: {f.fix} (rule {f.rule})" for f in errors)
        raise SourceError(f"nothing was written: {one_line(found)}")


def apply_edits(root: Path, edits: Sequence[Edit]) -> tuple[Path, ...]:
    """Check the edits, then write all files; no file is written if ``check_edits`` raises."""
    check_edits(root, edits)
    write_files({edit.path: edit.text for edit in edits if edit.text is not None})
    for edit in edits:
        if edit.text is None:
            edit.path.unlink(missing_ok=True)
    return tuple(edit.path for edit in edits)


def new_findings(root: Path, edits: Sequence[Edit]) -> tuple[Finding, ...]:
    """The findings that the edits would add."""
    before = read_source(root)
    found = validate_files(edited_files(before, edits))[1]
    old = {(f.rule, f.entry, f.message) for f in validate_files(before)[1]} if found else set()
    return tuple(f for f in found if (f.rule, f.entry, f.message) not in old)


def edited_files(before: Sequence[SourceFile], edits: Sequence[Edit]) -> tuple[SourceFile, ...]:
    """The files of a folder of terms as they are after edits."""
    edited = {shown_path(edit.path) for edit in edits}
    documents = [(e.kind, parse_document(e.text.encode(), shown_path(e.path))) for e in edits if e.text is not None]
    after = [f for f in before if f.document.path not in edited] + [SourceFile(*known) for known in documents]
    return tuple(sorted(after, key=lambda f: (f.kind, f.document.path)))


def find_file(root: Path, kind: Kind, group: str) -> Path:
    """Find the file of a group (see ``Draft``); raises ``SourceError`` if it does not exist."""
    known: list[str] = []
    for path in sorted((root / kind).glob("*.y*ml")):
        content = _data(path)
        name = "/".join(str(content.get(key)) for key in GROUP_KEYS[kind])
        if name == group:
            return path
        known.append(name)
    raise SourceError(f"no file in {kind}/ has {'/'.join(GROUP_KEYS[kind])}: {group}; there are: {', '.join(known)}")


def _data(path: Path) -> Mapping[str, Any]:
    """The keys and values of a file; none if it does not exist or cannot be read."""
    data = read_document(path, shown_path(path)).data
    return data if isinstance(data, dict) else {}


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
        return quoted(value)
    if isinstance(value, Mapping):
        return CommentedMap((key, _as_yaml(part)) for key, part in value.items())
    if isinstance(value, Sequence):
        return CommentedSeq(map(_as_yaml, value))
    return value


def _flow(values: Mapping[str, str]) -> CommentedMap:
    written = CommentedMap((key, _date(value) if key == "date" else quoted(value)) for key, value in values.items())
    written.fa.set_flow_style()
    return written


def _date(text: str) -> date | str:
    """A full date, which is written without quotes; a year or a month stays a text."""
    return date.fromisoformat(text) if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else text


def quoted(text: str) -> str:
    """Quote a text that a YAML 1.1 parser could misread; ruamel.yaml adds the quotes that YAML 1.2 needs."""
    return DoubleQuotedScalarString(text) if re.search(r"'|\[|: ", text) or text.lower() in _YAML_WORDS else text
