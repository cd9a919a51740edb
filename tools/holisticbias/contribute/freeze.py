"""List the versions of the terms, and freeze one: record its digests, lock and changes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holisticbias.contribute.diff import compare
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.revisions import Revision
from holisticbias.contribute.version_number import number_problem
from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.release.build import build_release
from holisticbias.release.release import Release
from holisticbias.rules.lock import lock, render_lock
from holisticbias.source.folder import LOCK_SUFFIX
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import IN_PREPARATION
from holisticbias.terms.versions import version_key


@dataclass(frozen=True, slots=True)
class Version:
    """A version in ``releases/`` with its numbers of entries; ``digest`` is null until it is published."""

    version: str
    date: str
    summary: str
    digest: str | None
    descriptors: int
    nouns: int
    templates: int
    groups: int = 0
    prompts: int = 0
    specifications: int = 0


def list_versions(catalog: Catalog) -> tuple[Version, ...]:
    """Every version, oldest first."""
    return tuple(_version(catalog, v) for v in catalog.versions)


def _version(catalog: Catalog, version: str) -> Version:
    file, held = catalog.release(version), catalog.at(version)
    return Version(
        version,
        file.date,
        file.summary,
        file.digest,
        sum(len(a.descriptors) for a in held.axes),
        sum(len(g.nouns) for g in held.genders),
        sum(len(f.templates) for f in held.families),
        *(sum(len(f.entries) for f in files) for files in (held.collections, held.prompts, held.specifications)),
    )


def moved_versions(catalog: Catalog) -> tuple[tuple[str, str, str], ...]:
    """Published versions that no longer compile to their digest, as (version, recorded digest, digest now)."""
    return tuple(moved for version in catalog.published for moved in _moved(catalog, version))


def _moved(catalog: Catalog, version: str) -> Iterator[tuple[str, str, str]]:
    recorded, found = catalog.release(version), build_release(catalog, version)
    if found.digest != recorded.digest:
        yield version, str(recorded.digest), found.digest
        return
    for name, digest in recorded.tables.items():
        now = found.manifest.tables[name].digest if name in found.tables else "none"
        if now != digest:
            yield f"{version} (table {name})", digest, now


def freeze_version(catalog: Catalog, version: str, root: Path, today: str | None = None) -> str:
    """Freeze a version and return the digest of its release; ``validate`` then refuses changes to it.

    Writes the digests to the version's file, and its lock and its changes to
    files beside it; the version gets the date ``today``, if it is given. Raises ``SourceError`` if the version was
    published with another digest, if its number is too small for its changes, or if its summary still says that it
    is in preparation.
    """
    recorded, summary = catalog.release(version).digest, catalog.release(version).summary
    if recorded is None and IN_PREPARATION.casefold() in summary.casefold():
        raise SourceError(
            f"the summary in releases/{version}.yaml still says {IN_PREPARATION!r}: describe what the version changes"
        )
    release = build_release(catalog, version)
    if recorded not in (None, release.digest):
        raise SourceError(
            f"version {version} was published with digest {recorded[:12]}, but now has digest {release.digest[:12]}"
        )
    folder = root / "releases"
    texts = {folder / f"{version}{LOCK_SUFFIX}": render_lock(lock(catalog, version))}
    if recorded is None:
        path = folder / f"{version}.yaml"
        texts[path] = f"{_dated(path.read_text('utf-8'), today).rstrip()}\n{_record(release)}"
    before = [v for v in catalog.versions if version_key(v) < version_key(version)]
    if before:
        changes = compare(Revision(before[-1], catalog, before[-1]), Revision(version, catalog, version))
        problem = number_problem(before[-1], version, changes)
        if problem is not None:
            raise SourceError(problem)
        texts[folder / f"{version}.changes.json"] = render_difference(changes, "json") + "\n"
    write_files(texts)
    return release.digest


def _dated(text: str, today: str | None) -> str:
    """The text of a version's file with another date."""
    return text if today is None else re.sub(r"^date:.*$", f"date: {today}", text, count=1, flags=re.MULTILINE)


def _record(release: Release) -> str:
    """The lines with the digests for the version's file."""
    tables = "".join(f'  {name}: "{entry.digest}"\n' for name, entry in sorted(release.manifest.tables.items()))
    return f'digest: "{release.digest}"\ntables:\n{tables}'
