"""Rules on versions: when entries come, change and go."""

from __future__ import annotations

from collections.abc import Iterator

from holisticbias.source.document import Keys
from holisticbias.source.findings import Finding
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Entry
from holisticbias.terms.versions import version_key


def known_version(repository: Repository) -> Iterator[Finding]:
    known = {f.record.version for f in repository.releases}
    for file, i, entry in repository.entries():
        for keys, version in _versions(entry):
            if version not in known:
                yield file.report_entry("known-version", i, keys, f"The version {version} has no file in releases/.")


def _versions(entry: Entry) -> Iterator[tuple[Keys, str]]:
    yield ("since",), entry.since
    if entry.until is not None:
        yield ("until",), entry.until
    for k, wording in enumerate(entry.history):
        yield ("history", k, "until"), wording.until
    for k, assessment in enumerate(entry.assessments if isinstance(entry, Descriptor) else ()):
        if assessment.since is not None:
            yield ("assessments", k, "since"), assessment.since


def version_order(repository: Repository) -> Iterator[Finding]:
    for file, i, entry in repository.entries():
        since = version_key(entry.since)
        end = None if entry.until is None else version_key(entry.until)
        if end is not None and end <= since:
            yield file.report_entry("version-order", i, ("until",), f"until {entry.until} is not after {entry.since}.")
        for k, wording in enumerate(entry.history):
            if version_key(wording.until) <= since or (end is not None and version_key(wording.until) > end):
                message = f"The wording until {wording.until} lies outside the entry's versions."
                yield file.report_entry("version-order", i, ("history", k, "until"), message)


def empty_version(repository: Repository) -> Iterator[Finding]:
    catalog = repository.catalog()
    for file in repository.releases:
        held = catalog.at(file.record.version)
        missing = [
            name
            for name, files in (("descriptors", held.axes), ("nouns", held.genders), ("templates", held.families))
            if not files
        ]
        if missing:
            message = f"Version {file.record.version} has no {' and no '.join(missing)}."
            yield file.report("empty-version", ("version",), message)
