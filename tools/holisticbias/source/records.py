"""The source files as typed records that keep the line and column of every entry."""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from holisticbias.source.document import Document, Keys, Value
from holisticbias.source.findings import Finding, Problem
from holisticbias.source.folder import SourceFile, is_new
from holisticbias.source.reading_rules import NEW_ENTRY_GROUP, SCHEMA, UNKNOWN_KEY
from holisticbias.source.schema import entry_id, schema_findings, without_consequences
from holisticbias.terms import file_kinds
from holisticbias.terms.catalog import FILES, Catalog
from holisticbias.terms.entries import Entry, Record
from holisticbias.terms.version_files import LockFile, ReleaseFile

# nobody edits a lock, so it has no schema
_MODELS: Mapping[file_kinds.Kind, type[Record]] = {**file_kinds.MODELS, "locks": LockFile}
_SOURCES = "sources"  # key of the sources of new entries

F_co = TypeVar("F_co", bound=Record, covariant=True)
E = TypeVar("E", bound=Entry)


@dataclass(frozen=True, slots=True)
class Located(Generic[F_co]):
    """A file's record with the places of its values.

    ``entries`` is the key of its list of entries: those of the file, and the new ones of its group, which are in
    other files (see ``is_new``). ``origins`` has the document of each entry and its position in it. Invalid entries
    are not in the record; ``left_out`` has their ids.
    """

    record: F_co
    document: Document
    entries: str
    origins: tuple[tuple[Document, int], ...] = ()
    left_out: tuple[str, ...] = ()

    def problem(self, keys: Keys, message: str, entry: str = "", fix: str | None = None) -> Problem:
        """A problem at one of the file's values; ``fix`` is in place of the rule's."""
        return self.document.problem(keys, message, entry, fix)

    def entry_problem(self, position: int, keys: Keys, message: str, fix: str | None = None) -> Problem:
        """A problem at a value of the entry at that position of the record's list."""
        entry: Entry = getattr(self.record, self.entries)[position]
        document, index = self.origins[position]
        return document.problem((self.entries, index, *keys), message, entry.id, fix)

    @property
    def documents(self) -> tuple[Document, ...]:
        """The file, and the files of its new entries."""
        return tuple({document.path: document for document in (self.document, *(d for d, _ in self.origins))}.values())


EntryFile = Located[file_kinds.HeldFile]


@dataclass(frozen=True, slots=True)
class Repository:
    """All source files that could be read as records.

    ``unread`` has the kinds of the other files, and ``unread_paths`` their paths.
    """

    axes: tuple[Located[file_kinds.DescriptorFile], ...]
    genders: tuple[Located[file_kinds.NounFile], ...]
    families: tuple[Located[file_kinds.TemplateFile], ...]
    collections: tuple[Located[file_kinds.CollectionFile], ...]
    prompts: tuple[Located[file_kinds.PromptFile], ...]
    specifications: tuple[Located[file_kinds.SpecificationFile], ...]
    releases: tuple[Located[ReleaseFile], ...]
    subsets: tuple[Located[file_kinds.SubsetFile], ...]
    sources: tuple[Located[file_kinds.SourcesFile], ...]
    waivers: tuple[Located[file_kinds.WaiversFile], ...]
    intersections: tuple[Located[file_kinds.IntersectionsFile], ...]
    locks: tuple[Located[LockFile], ...]
    unread: frozenset[file_kinds.Kind] = frozenset()
    unread_paths: frozenset[str] = frozenset()

    @property
    def left_out(self) -> frozenset[str]:
        """Ids of entries that break the schema and so are left out of the records."""
        return frozenset(entry for file in self.files for entry in file.left_out)

    @property
    def published(self) -> frozenset[str]:
        """Ids of the entries of all published versions."""
        return frozenset(entry for file in self.locks for entry in file.record.entries)

    @property
    def new(self) -> frozenset[str]:
        """Ids of the entries whose text no published version has."""
        versions = {file.record.version for file in self.locks}
        reworded = {
            entry.id
            for _, _, entry in self.entries()
            if any(w.until not in versions and "text" in w.model_fields_set for w in entry.history)
        }
        known = self.published - reworded
        return frozenset(entry.id for _, _, entry in self.entries() if entry.id not in known)

    @property
    def files(self) -> tuple[Located[Any], ...]:
        """Every file except the locks."""
        return tuple(file for kind in file_kinds.MODELS for file in getattr(self, FILES.get(kind, kind)))

    @property
    def listed_sources(self) -> tuple[file_kinds.Source, ...]:
        """The sources in ``sources.yaml``, and those in files of new entries."""
        return tuple(s for f in (*self.sources, *self.with_entries) for s in f.record.sources)

    @property
    def with_entries(self) -> tuple[EntryFile, ...]:
        """The files with entries: terms first, then collections, prompts and specifications."""
        return tuple(file for name in FILES.values() for file in getattr(self, name))

    def entries(self) -> Iterator[tuple[EntryFile, int, Entry]]:
        """Each entry with its file and its position in the file's record."""
        for located in self.with_entries:
            yield from ((located, i, e) for i, e in enumerate(located.record.entries))

    def of(self, model: type[E]) -> Iterator[tuple[EntryFile, int, E]]:
        """Each entry of a type with its file and its position in the file's record."""
        return ((file, i, entry) for file, i, entry in self.entries() if isinstance(entry, model))

    def catalog(self) -> Catalog:
        """The records without their places."""
        names = (*FILES.values(), "releases", "subsets")
        files: dict[str, Any] = {name: tuple(f.record for f in getattr(self, name)) for name in names}
        order = next((f.record for f in self.intersections), None)
        return Catalog(**files, sources=self.listed_sources, intersections=order)


def parse_files(files: Iterable[SourceFile]) -> tuple[Repository, tuple[Finding, ...]]:
    """Convert documents to records; an entry that breaks the schema is left out and becomes findings."""
    findings: list[Finding] = []
    parsed: dict[file_kinds.Kind, list[Located[Record]]] = {kind: [] for kind in _MODELS}
    unread: set[tuple[file_kinds.Kind, str]] = set()
    given = tuple(files)
    for file in (f for f in given if not is_new(f.document.path)):
        located = _parse_file(file, findings)
        if located is None:
            unread.add((file.kind, file.document.path))
        else:
            parsed[file.kind].append(located)
    unread_kinds = {kind for kind, _ in unread}
    for file in sorted((f for f in given if is_new(f.document.path)), key=lambda f: PurePath(f.document.path).name):
        if not _add_new(file, parsed[file.kind], findings, file.kind in unread_kinds):
            unread.add((file.kind, file.document.path))
    read: dict[str, Any] = {FILES.get(kind, str(kind)): tuple(files) for kind, files in parsed.items()}
    paths = frozenset(path for _, path in unread)
    return Repository(**read, unread=frozenset(kind for kind, _ in unread), unread_paths=paths), tuple(findings)


def _add_new(file: SourceFile, whole: list[Located[Record]], findings: list[Finding], some_unread: bool) -> bool:
    """Add the entries of a file of new entries to the file of their group; false if they cannot be read."""
    document, keys = file.document, file_kinds.GROUP_KEYS[file.kind]
    data = document.data if isinstance(document.data, dict) else {}
    group = tuple(data.get(key) for key in keys)
    known = [tuple(getattr(f.record, key) for key in keys) for f in whole]
    if None in group or group not in known:
        if not data or None in group:
            _parse_file(file, findings, {"label": "label"})  # says what is missing
        elif not some_unread:
            findings.append(_unknown_group(file, group, known))
        return False
    at = known.index(group)
    main = whole[at].document.data
    head = {key: value for key, value in main.items() if key not in data} if isinstance(main, dict) else {}
    own = {*keys, file_kinds.entries_key(file.kind), _SOURCES}
    for key in (key for key in data if key in whole[at].record.model_fields_set and key not in own):
        message = f"The key {key!r} is in {whole[at].document.path}, and the same for all entries of the group."
        findings.append(UNKNOWN_KEY.finding(document.problem((key,), message, fix="remove the key")))
    located = _parse_file(file, findings, {**head, file_kinds.entries_key(file.kind): []})
    if located is not None:
        whole[at] = _with_new(whole[at], located)
    return located is not None


def _unknown_group(file: SourceFile, group: tuple[Value, ...], known: Iterable[tuple[str, ...]]) -> Finding:
    keys, name = file_kinds.GROUP_KEYS[file.kind], "/".join(map(str, group))
    close = difflib.get_close_matches(name, ["/".join(one) for one in known], n=1)
    near = f"; close to it: {close[0]}" if close else ""
    message = f"No file in {file.kind}/ has {'/'.join(keys)}: {name}{near}."
    return NEW_ENTRY_GROUP.finding(file.document.problem((keys[-1],), message))


def _with_new(main: Located[Record], new: Located[Record]) -> Located[Record]:
    """A file with new entries of its group, each after the last one of its bucket or group of people."""
    entries, origins = list(getattr(main.record, main.entries)), list(main.origins)
    for entry, origin in zip(getattr(new.record, new.entries), new.origins, strict=True):
        place = file_kinds.place_among(entries, entry, lambda one, key: getattr(one, key, None))
        entries.insert(place, entry)
        origins.insert(place, origin)
    sources = *getattr(main.record, _SOURCES), *getattr(new.record, _SOURCES)
    record = main.record.model_copy(update={main.entries: tuple(entries), _SOURCES: sources})
    return Located(record, main.document, main.entries, tuple(origins), (*main.left_out, *new.left_out))


def _parse_file(
    file: SourceFile, findings: list[Finding], shared: Mapping[str, Value] | None = None
) -> Located[Record] | None:
    """Parse a file; ``shared`` has values that its group has in another file."""
    document = file.document
    findings.extend(document.findings)
    if not isinstance(document.data, dict):
        if not document.findings:
            findings.append(SCHEMA.finding(document.problem((), "The file is not a mapping of keys to values.")))
        return None
    data: dict[str, Value] = {**(shared or {}), **document.data}
    key = file_kinds.entries_key(file.kind)
    entries = data.get(key)
    indexes = tuple(range(len(entries))) if isinstance(entries, list) else ()
    model = _MODELS[file.kind]
    try:
        return Located(model.model_validate(data), document, key, tuple((document, i) for i in indexes))
    except ValidationError as error:
        details = without_consequences(error.errors(include_url=False))
    findings.extend(schema_findings(details, document, model))
    broken = {d["loc"][1] for d in details if len(d["loc"]) > 2 and d["loc"][0] == key}
    if not isinstance(entries, list) or any(len(d["loc"]) < 3 or d["loc"][0] != key for d in details):
        return None
    left_out = tuple(filter(None, (entry_id(data, (key, i)) for i in indexes if i in broken)))
    kept = tuple((document, i) for i in indexes if i not in broken)
    record = model.model_validate({**data, key: [entries[i] for _, i in kept]})
    return Located(record, document, key, kept, left_out)
