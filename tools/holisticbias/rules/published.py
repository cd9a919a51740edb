"""Rules on published versions: what they held stays as it was, for ever."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias.rules.lock import locks
from holisticbias.source.findings import Finding
from holisticbias.source.records import EntryFile, Located, Repository
from holisticbias.terms.file_kinds import LockFile
from holisticbias.terms.versions import version_key


def published_lock(repository: Repository) -> Iterator[Finding]:
    locked = {f.record.version for f in repository.locks}
    for file in repository.releases:
        version = file.record.version
        if (file.record.digest is not None) != (version in locked):
            has, lacks = ("a digest", "lock") if version not in locked else ("a lock", "digest")
            yield file.report("published-lock", ("version",), f"Version {version} has {has} but no {lacks}.")


def published(repository: Repository) -> Iterator[Finding]:
    """Entries that went, came, changed or moved in a published version, each reported for the newest such version."""
    catalog = repository.catalog()
    places = {entry.id: (file, i) for file, i, entry in repository.entries()}
    places_of_axes = {f.record.axis: f for f in repository.axes}
    reported = set(repository.left_out)  # whether they would change shows when they can be read
    files = [f for f in repository.locks if f.record.version in catalog.versions]
    files.sort(key=lambda f: version_key(f.record.version), reverse=True)
    for file, now in zip(files, locks(catalog, [f.record.version for f in files]), strict=True):
        for key, rule, message in _differences(file.record, now):
            if key in reported:
                continue
            reported.add(key)
            if key in places:
                at, i = places[key]
                yield at.report_entry(rule, i, (), message)
            elif key in places_of_axes:
                yield places_of_axes[key].report(rule, ("label",), message)
            else:
                yield _home(repository, key, file).report(rule, (), message, key)


def _differences(locked: LockFile, found: LockFile) -> Iterator[tuple[str, str, str]]:
    """The key, the rule that is broken and what to say."""
    version, then, now = locked.version, locked.entries, found.entries
    for key, digest in then.items():
        if key not in now:
            yield key, "published-removed", f"Version {version} holds {key!r}, and would no longer."
        elif now[key] != digest:
            yield key, "published-changed", f"{key!r} would change in version {version}, which is published."
    for key in now.keys() - then.keys():
        yield key, "published-added", f"{key!r} would come into version {version}, which is published."
    was, stands = [k for k in then if k in now], [k for k in now if k in then]
    for before, after in zip(was, stands, strict=True):
        if before != after:
            yield after, "published-order", f"{after!r} stands at another place than in version {version}."
            return


def _home(repository: Repository, key: str, lock_file: Located[LockFile]) -> EntryFile | Located[LockFile]:
    """The file that an entry that is gone would stand in, else the lock that remembers it."""
    group = key.split(".", maxsplit=1)[0]
    homes: dict[str, EntryFile] = {
        **{f.record.axis: f for f in repository.axes},
        **{f.record.family: f for f in repository.families},
    }
    return homes.get(group, lock_file)
