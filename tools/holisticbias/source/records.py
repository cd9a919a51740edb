"""The source files as typed records, each entry still knowing its line and column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from holisticbias.source.document import Document, Keys, Value
from holisticbias.source.findings import Finding, shown
from holisticbias.source.folder import Kind, SourceFile
from holisticbias.source.rule_texts import report
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry, Record
from holisticbias.terms.file_kinds import (
    DescriptorFile,
    IntersectionsFile,
    LockFile,
    NounFile,
    ReleaseFile,
    SourcesFile,
    SubsetFile,
    TemplateFile,
    WaiversFile,
)

MODELS: Mapping[Kind, type[Record]] = {
    "descriptors": DescriptorFile,
    "nouns": NounFile,
    "templates": TemplateFile,
    "releases": ReleaseFile,
    "subsets": SubsetFile,
    "sources": SourcesFile,
    "waivers": WaiversFile,
    "intersections": IntersectionsFile,
}
_MODELS: Mapping[Kind, type[Record]] = {**MODELS, "locks": LockFile}  # no editor opens a lock: it needs no schema

F = TypeVar("F", bound=Record)


@dataclass(frozen=True, slots=True)
class Located(Generic[F]):
    """A file's record, with the places of what it holds.

    ``entries`` names the key of its list; ``indexes`` says where each entry of
    the record stands in the file, in which invalid ones may stand between;
    ``left_out`` has the ids of those.
    """

    record: F
    document: Document
    entries: Kind
    indexes: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()

    def report(self, rule: str, keys: Keys, message: str, entry: str = "") -> Finding:
        """A finding at one of the file's values."""
        return report(rule, self.document.path, self.document.place(keys), message, entry)

    def report_entry(self, rule: str, position: int, keys: Keys, message: str) -> Finding:
        """A finding at a value of the entry in that position of the record."""
        entry: Entry = getattr(self.record, self.entries)[position]
        return self.report(rule, (self.entries, self.indexes[position], *keys), message, entry.id)


EntryFile: TypeAlias = Located[DescriptorFile] | Located[NounFile] | Located[TemplateFile]


@dataclass(frozen=True, slots=True)
class Repository:
    """All source files that could be read as records; ``unread`` are the kinds of those that could not."""

    axes: tuple[Located[DescriptorFile], ...]
    genders: tuple[Located[NounFile], ...]
    families: tuple[Located[TemplateFile], ...]
    releases: tuple[Located[ReleaseFile], ...]
    subsets: tuple[Located[SubsetFile], ...]
    sources: tuple[Located[SourcesFile], ...]
    waivers: tuple[Located[WaiversFile], ...]
    intersections: tuple[Located[IntersectionsFile], ...]
    locks: tuple[Located[LockFile], ...]
    unread: frozenset[Kind] = frozenset()

    @property
    def left_out(self) -> frozenset[str]:
        """The ids of entries that break the schema: they are there, but no record says what they are."""
        return frozenset(entry for file in self.files for entry in file.left_out)

    @property
    def files(self) -> tuple[Located[Any], ...]:
        """Every file but the locks."""
        more: tuple[Located[Any], ...] = (*self.sources, *self.waivers, *self.intersections)
        named: tuple[Located[Any], ...] = (*self.releases, *self.subsets, *more)
        return (*self.axes, *self.genders, *self.families, *named)

    @property
    def with_entries(self) -> tuple[EntryFile, ...]:
        """The files that hold entries."""
        return (*self.axes, *self.genders, *self.families)

    def entries(self) -> Iterator[tuple[EntryFile, int, Entry]]:
        """Each entry with its file and its position there."""
        for located in self.with_entries:
            yield from ((located, i, e) for i, e in enumerate(getattr(located.record, located.entries)))

    def catalog(self) -> Catalog:
        """The records without their places."""
        return Catalog(
            axes=tuple(f.record for f in self.axes),
            genders=tuple(f.record for f in self.genders),
            families=tuple(f.record for f in self.families),
            releases=tuple(f.record for f in self.releases),
            sources=tuple(s for f in self.sources for s in f.record.sources),
            subsets=tuple(f.record for f in self.subsets),
            intersections=next((f.record for f in self.intersections), None),
        )


def parse_files(files: Iterable[SourceFile]) -> tuple[Repository, tuple[Finding, ...]]:
    """Records out of documents. An entry that breaks the schema is left out and becomes findings."""
    findings: list[Finding] = []
    parsed: dict[Kind, list[Located[Record]]] = {kind: [] for kind in _MODELS}
    unread: set[Kind] = set()
    for file in files:
        located = _parse_file(file, findings)
        if located is None:
            unread.add(file.kind)
        else:
            parsed[file.kind].append(located)
    repository = Repository(
        axes=_of(parsed["descriptors"], DescriptorFile),
        genders=_of(parsed["nouns"], NounFile),
        families=_of(parsed["templates"], TemplateFile),
        releases=_of(parsed["releases"], ReleaseFile),
        subsets=_of(parsed["subsets"], SubsetFile),
        sources=_of(parsed["sources"], SourcesFile),
        waivers=_of(parsed["waivers"], WaiversFile),
        intersections=_of(parsed["intersections"], IntersectionsFile),
        locks=_of(parsed["locks"], LockFile),
        unread=frozenset(unread),
    )
    return repository, tuple(findings)


def _of(files: Iterable[Located[Record]], model: type[F]) -> tuple[Located[F], ...]:
    return tuple(
        Located(f.record, f.document, f.entries, f.indexes, f.left_out) for f in files if isinstance(f.record, model)
    )


def _parse_file(file: SourceFile, findings: list[Finding]) -> Located[Record] | None:
    document = file.document
    findings.extend(document.findings)
    if not isinstance(document.data, dict):
        if not document.findings:
            message = "The file is not a mapping of keys to values."
            findings.append(report("schema", document.path, document.place(()), message))
        return None
    data: dict[str, Value] = document.data
    entries = data.get(file.kind)
    indexes = tuple(range(len(entries))) if isinstance(entries, list) else ()
    model = _MODELS[file.kind]
    try:
        return Located(model.model_validate(data), document, file.kind, indexes)
    except ValidationError as error:
        details = error.errors(include_url=False)
    findings.extend(_schema_finding(d, document) for d in details)
    broken = {d["loc"][1] for d in details if len(d["loc"]) > 2 and d["loc"][0] == file.kind}
    if not isinstance(entries, list) or any(len(d["loc"]) < 3 or d["loc"][0] != file.kind for d in details):
        return None
    left_out = tuple(filter(None, (_entry_id(data, (file.kind, i)) for i in indexes if i in broken)))
    indexes = tuple(i for i in indexes if i not in broken)
    record = model.model_validate({**data, file.kind: [entries[i] for i in indexes]})
    return Located(record, document, file.kind, indexes, left_out)


def _schema_finding(error: ErrorDetails, document: Document) -> Finding:
    keys = tuple(error["loc"])
    key = keys[-1] if keys else ""
    place = document.place(keys)
    entry = _entry_id(document.data, keys)
    if error["type"] == "missing":
        return report("missing-key", document.path, place, f"The key {key!r} is missing.", entry)
    if error["type"] == "extra_forbidden":
        message = f"The key {shown(key)} is not one that this place has."
        return report("unknown-key", document.path, place, message, entry)
    mend = "put the text between quotes." if error["type"] == "string_type" else None
    what = f"{key}: " if isinstance(key, str) else ""
    message = f"{what}{error['msg']}; it is {shown(error.get('input'))}."
    return report("schema", document.path, place, message, entry, mend)


def _entry_id(data: Value, keys: Keys) -> str:
    if len(keys) < 2 or not isinstance(data, dict) or not isinstance(keys[0], str) or not isinstance(keys[1], int):
        return ""
    entries = data.get(keys[0])
    entry = entries[keys[1]] if isinstance(entries, list) and keys[1] < len(entries) else None
    entry_id = entry.get("id") if isinstance(entry, dict) else None
    return entry_id if isinstance(entry_id, str) and len(entry_id) <= 120 else ""
