"""Compare two versions of the terms: entries by id, and their sentences."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from holisticbias.compile.sentence_changes import ChangedSentence, Kind, SentenceChanges
from holisticbias.contribute.revisions import Revision
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import OF_VERSIONS, SUPPORT, Entry
from holisticbias.terms.file_kinds import COMPANIONS, CompanionFile

Change = Literal["added", "reworded", "moved", "reassessed", "retired"]
Bump = Literal["none", "patch", "minor", "major"]
Comparable = Literal["same", "superset", "changed", "unknown"]

KINDS: tuple[Kind, ...] = get_args(Kind)
CHANGES: tuple[Change, ...] = get_args(Change)
_KIND: Mapping[str, Change] = {"bucket": "moved", "group": "moved", "file": "moved", "assessments": "reassessed"}
_NOT_COMPARED = {"id", *OF_VERSIONS}
_NOT_SAID = {*SUPPORT, "forms"}


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A change of an entry; ``fields`` has each changed key with its old and new value."""

    id: str
    text: str
    change: Change
    fields: tuple[tuple[str, str, str], ...] = ()
    replaced_by: str | None = None


@dataclass(frozen=True, slots=True)
class SentenceCount:
    """Numbers of sentences added, changed and removed, in total or for one axis or template."""

    name: str
    added: int
    changed: int
    gone: int


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that changed from one version to another.

    ``companions`` has the numbers of groups, prompts and specifications added, changed in what they say, and removed.
    ``not_compared`` names files and entries that cannot be read, so that whether they changed is unknown.
    """

    old: str
    new: str
    entries: tuple[EntryChange, ...]
    sentences: SentenceCount
    axes: tuple[SentenceCount, ...]
    templates: tuple[SentenceCount, ...]
    samples: tuple[ChangedSentence, ...]
    companions: tuple[SentenceCount, ...] = ()
    not_compared: tuple[str, ...] = ()

    @property
    def bump(self) -> Bump:
        """The part of the version number that must increase."""
        counts = (self.sentences, *self.companions)
        if any(count.changed or count.gone for count in counts):
            return "major"
        if any(count.added for count in counts):
            return "minor"
        return "patch" if self.entries else "none"

    @property
    def comparable(self) -> Comparable:
        """Whether results on the sentences of the two versions can be compared."""
        if self.sentences.changed or self.sentences.gone:
            return "changed"
        if self.not_compared:
            return "unknown"
        return "superset" if self.sentences.added else "same"


def compare(old: Revision, new: Revision, samples: int = 10, not_compared: tuple[str, ...] = ()) -> Difference:
    """Compare two revisions; ``samples`` is the number of changed sentences to include.

    For ``not_compared`` see ``Difference``.
    """
    before, after = old.catalog.at(old.version), new.catalog.at(new.version)
    rules = old.catalog.release(old.version).article_rule, new.catalog.release(new.version).article_rule
    entries = tuple(_entry_changes(before, after, _successors(old.catalog) | _successors(new.catalog)))
    kinds = {entry.id: file.kind for catalog in (before, after) for file, entry in catalog.entries()}
    companions = tuple(_companion_counts(entries, kinds))
    changes = SentenceChanges((before, rules[0]), (after, rules[1]))
    templates = tuple(_counts(changes.by_template))
    added, changed, gone = (sum(getattr(count, kind) for count in templates) for kind in KINDS)
    return Difference(
        f"{old.name} ({old.version})" if old.name != old.version else old.name,
        f"{new.name} ({new.version})" if new.name != new.version else new.name,
        entries,
        SentenceCount("all", added, changed, gone),
        tuple(_counts(changes.by_axis)),
        templates,
        tuple(_samples(changes, (added, changed, gone), samples)),
        companions,
        not_compared,
    )


def compare_versions(catalog: Catalog, old: str, new: str, samples: int = 0) -> Difference:
    """Compare two versions of a catalog; see ``compare``."""
    return compare(Revision(old, catalog, old), Revision(new, catalog, new), samples)


def _successors(catalog: Catalog) -> dict[str, str | None]:
    """The replacement of each entry, retired entries included."""
    return {key: entry.replaced_by for key, (_, entry) in _entries(catalog)}


def _entry_changes(before: Catalog, after: Catalog, successors: Mapping[str, str | None]) -> Iterator[EntryChange]:
    old, new = dict(_entries(before)), dict(_entries(after))
    for key, (_, entry) in old.items():
        if key not in new:
            yield EntryChange(key, entry.text, "retired", (), successors[key])
    for key, (group, entry) in new.items():
        if key not in old:
            yield EntryChange(key, entry.text, "added")
        elif old[key] != (group, entry):
            yield from _field_changes(*old[key], group, entry)


def _entries(catalog: Catalog) -> Iterator[tuple[str, tuple[str, Entry]]]:
    for file, entry in catalog.entries():
        place = file.place if isinstance(file, CompanionFile) else file.group
        shared = ", ".join(f"{name} {value}" for name, value in file.shared.items())
        yield entry.id, (f"{place} ({shared})" if shared else place, entry)


def _companion_counts(changes: Iterable[EntryChange], kinds: Mapping[str, str]) -> Iterator[SentenceCount]:
    """Count the groups, prompts and specifications that differ; kinds without a difference are left out.

    An entry is changed if a key other than its sources, judgements and word forms differs, or a value that its file
    gives it. ``kinds`` has the kind of each entry.
    """
    for kind in COMPANIONS:
        of_kind = [change for change in changes if kinds[change.id] == kind]
        added, gone = (sum(c.change == what for c in of_kind) for what in ("added", "retired"))
        changed = {c.id for c in of_kind for key, _, _ in c.fields if key not in _NOT_SAID}
        if added or changed or gone:
            yield SentenceCount(kind, added, len(changed), gone)


def _field_changes(old_group: str, old: Entry, group: str, new: Entry) -> Iterator[EntryChange]:
    place = "file" if "/" in group else "group"
    a = {place: old_group, **old.model_dump(exclude=_NOT_COMPARED)}
    b = {place: group, **new.model_dump(exclude=_NOT_COMPARED)}
    changed = [(key, _shown(a.get(key)), _shown(b[key])) for key in b if a.get(key) != b[key]]
    for change in CHANGES:
        fields = tuple(f for f in changed if _KIND.get(f[0], "reworded") == change)
        if fields:
            yield EntryChange(new.id, new.text, change, fields)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        shown = (f"({_shown(v)})" if isinstance(v, tuple) else _shown(v) for v in value.values() if v not in (None, ()))
        return " ".join(shown)
    if isinstance(value, tuple | list):
        return ", ".join(map(_shown, value)) or "none"
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _counts(of: Callable[[Kind], Mapping[Any, int]]) -> Iterator[SentenceCount]:
    added, changed, gone = ({name or "no descriptor": n for name, n in of(kind).items()} for kind in KINDS)
    for name in sorted({*added, *changed, *gone}):
        yield SentenceCount(name, added.get(name, 0), changed.get(name, 0), gone.get(name, 0))


def _samples(changes: SentenceChanges, counts: tuple[int, int, int], size: int) -> Iterator[ChangedSentence]:
    """At most ``size`` samples, evenly spread: changed sentences first, then added, then removed sentences."""
    added, changed, gone = counts
    left = max(0, size - changed)
    wanted: tuple[tuple[Kind, int, int], ...] = (
        ("changed", changed, size),
        ("added", added, left),
        ("gone", gone, max(0, left - added)),
    )
    for kind, count, most in wanted:
        yield from changes.at(kind, _spread(count, most))


def _spread(size: int, wanted: int) -> tuple[int, ...]:
    """At most ``wanted`` evenly spread positions in a list of length ``size``."""
    count = min(size, wanted)
    return tuple(i * (size - 1) // max(1, count - 1) for i in range(count))
