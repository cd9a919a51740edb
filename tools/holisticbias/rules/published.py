"""Rules on published versions: their entries never change, which locks detect, and may be older than a rule."""

import hashlib
import json
from collections.abc import Iterable, Iterator

from holisticbias.rules.check import WITH_ENTRIES, Problems, rule
from holisticbias.source.findings import Finding, Rule
from holisticbias.source.records import EntryFile, Located, Repository
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import OF_VERSIONS, Entry
from holisticbias.terms.file_kinds import CompanionFile, DescriptorFile, HeldFile
from holisticbias.terms.version_files import LockFile
from holisticbias.terms.versions import version_key

PUBLISHED_CHANGED = Rule(
    "published-changed",
    asks="Entries of a published version do not change in it.",
    fix="use holisticbias reword; or add to history: {until: next, the changed key: its old value, reason: why}",
    why="People compare results over years, and every version is built from today's files. So a changed entry keeps "
    "its earlier wording in `history`, and published versions stay as they were.",
)
_FILE_FIX = "put the value back: all entries of the file share it, in every version"
PUBLISHED_REMOVED = Rule(
    "published-removed",
    asks="A published version keeps its entries.",
    fix="put the entry back, with until: next",
    why="A retired entry stays in its file, and `until` names the first version without it. A term that its community "
    "objects to need not be retired: record the objection with `holisticbias assess`.",
    needs=WITH_ENTRIES,
)
PUBLISHED_ADDED = Rule(
    "published-added",
    asks="A published version gets no new entries.",
    fix="write since: next",
)
PUBLISHED_ORDER = Rule(
    "published-order",
    asks="The entries of a published version keep their order.",
    fix="put the entry back where it was; new entries can go anywhere between the others",
)


@rule(
    asks="A published version has a date, a digest and a lock.",
    fix="run holisticbias releases --freeze VERSION",
    needs=frozenset({"releases", "locks"}),
)
def published_lock(repository: Repository) -> Problems:
    locked = {f.record.version for f in repository.locks}
    for file in repository.releases:
        version = file.record.version
        if (file.record.digest is not None) != (version in locked):
            has, lacks = ("a digest", "lock") if version not in locked else ("a lock", "digest")
            yield file.problem(("version",), f"Version {version} has {has} but no {lacks}.")
        elif file.record.digest is not None and file.record.date is None:
            yield file.problem(("version",), f"Version {version} has a digest but no date.")


@rule(
    asks="Only a published version is withdrawn.",
    fix="remove withdrawn, and change the version that is in preparation",
)
def withdrawn_version(repository: Repository) -> Problems:
    for file in repository.releases:
        if file.record.withdrawn is not None and file.record.digest is None:
            yield file.problem(("withdrawn",), f"Version {file.record.version} is withdrawn, and not published.")


WAIVER_STALE = Rule(
    "waiver-stale",
    asks="An entry with a waiver breaks the waived rule.",
    fix="remove the waiver",
    why="A waiver exempts an entry that was published before the rule existed. No waivers are added, so the list only "
    "becomes shorter. A waiver stays when an entry is retired, because earlier versions still have the entry.",
    needs=WITH_ENTRIES | {"intersections"},
)
WAIVER_NEW = Rule(
    "waiver-new",
    asks="Only entries of published versions have waivers.",
    fix="correct the entry instead of waiving the rule",
    needs=frozenset({"locks"}),
)


def published_findings(repository: Repository) -> Iterator[Finding]:
    """One finding for each entry that differs from a lock, for the newest version in which it differs."""
    catalog = repository.catalog()
    places = {entry.id: (file, i) for file, i, entry in repository.entries()}
    files_of = {_key_of(file.record): file for file in repository.with_entries}
    reported = set(repository.left_out)  # whether they changed is unknown until they can be read
    files = [f for f in repository.locks if f.record.version in catalog.versions]
    files.sort(key=lambda f: version_key(f.record.version), reverse=True)
    for file, now in zip(files, locks(catalog, [f.record.version for f in files]), strict=True):
        for key, broken, message in _differences(file.record, now):
            if key in reported:
                continue
            reported.add(key)
            if key in places:
                at, i = places[key]
                yield broken.finding(at.entry_problem(i, (), message))
            elif key in files_of:
                yield broken.finding(files_of[key].problem(("label",), message, fix=_FILE_FIX))
            else:
                yield broken.finding(_former_file(repository, key, file).problem((), message, key))


def _differences(locked: LockFile, found: LockFile) -> Iterator[tuple[str, Rule, str]]:
    """Yield the id of each entry that differs, the rule that it breaks, and the message."""
    version, then, now = locked.version, locked.entries, found.entries
    for key, digest in then.items():
        if key not in now:
            yield key, PUBLISHED_REMOVED, f"{key!r} would be removed from version {version}, which is published."
        elif now[key] != digest:
            yield key, PUBLISHED_CHANGED, f"{key!r} would change in version {version}, which is published."
    for key in now.keys() - then.keys():
        yield key, PUBLISHED_ADDED, f"{key!r} would be added to version {version}, which is published."
    was, is_now = [k for k in then if k in now], [k for k in now if k in then]
    for before, after in zip(was, is_now, strict=True):
        if before != after:
            yield after, PUBLISHED_ORDER, f"{after!r} is not where it was in version {version}, which is published."
            return


def _former_file(repository: Repository, key: str, lock_file: Located[LockFile]) -> EntryFile | Located[LockFile]:
    """The file of a removed entry, derived from its id, else the lock that lists it."""
    group = key.split(".", maxsplit=1)[0]
    files = (f for f in reversed(repository.with_entries) if f.record.kind != "nouns" and f.record.prefix == group)
    return next(files, lock_file)


def lock(catalog: Catalog, version: str) -> LockFile:
    """The lock of a version: a digest of each entry as it was then, by id, in the order of the files.

    A key without a dot is an axis, whose digest is that of its label, or a file of collections or prompts, whose
    digest is that of the values that its entries share.
    """
    return next(locks(catalog, [version]))


def locks(catalog: Catalog, versions: Iterable[str]) -> Iterator[LockFile]:
    """The locks of several versions; an entry that is the same in several is digested once."""
    known: dict[int, tuple[Entry, str]] = {}  # keeps the entries alive, so that their ids stay unique
    for version in versions:
        yield LockFile(version=version, entries=dict(_entries(catalog.at(version), known)))


def render_lock(locked: LockFile) -> str:
    """The content of ``releases/VERSION.lock.json``."""
    return json.dumps(locked.model_dump(), indent=1) + "\n"


def _entries(held: Catalog, known: dict[int, tuple[Entry, str]]) -> Iterator[tuple[str, str]]:
    for file in held.files:
        shared = file.label if isinstance(file, DescriptorFile) else file.shared
        if shared:
            yield _key_of(file), _digest(shared)
        group = file.place if isinstance(file, CompanionFile) else file.group
        for entry in file.entries:
            if id(entry) not in known:
                worded = entry.model_dump(exclude={*OF_VERSIONS} - {"since"}, exclude_defaults=True)
                known[id(entry)] = entry, _digest([group, worded])
            yield entry.id, known[id(entry)][1]


def _key_of(file: HeldFile) -> str:
    """The key of what the entries of a file share."""
    return file.prefix if isinstance(file, DescriptorFile) else file.place


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
