"""List the versions of the terms, and freeze one: record its digests, lock and changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from holisticbias.contribute.authoring import edited_files
from holisticbias.contribute.diff import compare
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.entry_text import Edit
from holisticbias.contribute.release_files import (
    fixes,
    following,
    gathered,
    interrupted_number,
    number_problem,
    renamed,
)
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.output import clean_up, write_files
from holisticbias.release.build import build_release
from holisticbias.release.release import Release
from holisticbias.rules.published import lock, render_lock
from holisticbias.rules.validate import load_catalog, validate_files
from holisticbias.source.findings import one_line, render_findings
from holisticbias.source.folder import LOCK_SUFFIX, folder_kind, read_source, term_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.version_files import IN_PREPARATION
from holisticbias.terms.versions import NEXT, version_key


@dataclass(frozen=True, slots=True)
class Version:
    """A version in ``releases/`` with its numbers of entries.

    ``digest`` is null until it is published, and ``withdrawn`` unless it was withdrawn.
    """

    version: str
    date: str | None
    summary: str
    digest: str | None
    descriptors: int
    nouns: int
    templates: int
    groups: int
    prompts: int
    specifications: int
    withdrawn: str | None = None


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
        descriptors=len(held.descriptors),
        nouns=sum(len(g.nouns) for g in held.genders),
        templates=len(held.templates),
        groups=sum(len(f.entries) for f in held.collections),
        prompts=sum(len(f.entries) for f in held.prompts),
        specifications=sum(len(f.entries) for f in held.specifications),
        withdrawn=None if file.withdrawn is None else f"{file.withdrawn.date}: {file.withdrawn.reason}",
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
    """Freeze a version that has a number and return the digest of its release; it cannot change after that.

    Writes the digests to the version's file, and its lock and its changes to
    files beside it; the version gets the date ``today``, if it is given. Raises ``SourceError`` if the version was
    published with another digest, if its number is too small for its changes, or if its summary still says that it
    is in preparation.
    """
    path = root / "releases" / f"{version}.yaml"
    text = path.read_text("utf-8")
    if catalog.release(version).digest is None:
        return _write(root, version, path, path, {path: text}, today)
    digest, texts = _record(catalog, version, path, text, today)
    write_files(texts)
    return digest


def freeze(root: Path, version: str | None, today: str) -> tuple[str, str]:
    """Freeze a version, or complete its record if it is frozen; returns its number and its digest.

    Without a version, or with a new number, ``next`` gets the number that is given or that follows from its changes;
    without ``next``, the newest version is meant. Nothing is written before all is checked. Freezing ``next`` begins
    by renaming its file and ends by replacing it: after an interruption, a second call continues. Raises
    ``SourceError``; see ``freeze_version``.
    """
    for folder in {path.parent for path in term_files(root)}:
        clean_up(folder)
    started = interrupted_number(root)
    if started is None:
        catalog = load_catalog(root)
        if NEXT not in catalog.versions or version in catalog.versions:
            version = version or catalog.versions[-1]
            return version, freeze_version(catalog, version, root, today)
        version = _number(catalog, version)
    elif version not in (None, started):
        raise SourceError(
            f"freezing {started} was interrupted: finish it with holisticbias releases --freeze {started}"
        )
    number = started or str(version)
    before, file = (root / "releases" / f"{name}.yaml" for name in (started or NEXT, number))
    texts = {edit.path: edit.text or "" for edit in renamed(root, NEXT, number)}
    return number, _write(root, number, before, file, texts, today)


def _write(root: Path, version: str, before: Path, file: Path, texts: Mapping[Path, str], today: str | None) -> str:
    """Check and write a version that is frozen: its entries, its lock and changes, and last its file; its digest.

    ``texts`` has the files that differ from those in ``root``, among them the version's ``file``, which is ``before``
    until writing begins.
    """
    texts, moved = gathered(root, texts, version)
    removed = [Edit(path, "descriptors", None) for path in (before, file.with_name(f"{version}{LOCK_SUFFIX}"), *moved)]
    edits = [Edit(path, kind, text) for path, text in texts.items() for kind in folder_kind(path)]
    catalog, findings = validate_files(edited_files(read_source(root), [*removed, *edits]))
    for finding in findings:
        if finding.level == "error":
            raise SourceError(f"nothing was written: {one_line(render_findings([finding], 'text'))}")
    if IN_PREPARATION.casefold() in catalog.release(version).summary.casefold():
        raise SourceError(
            f"the summary in releases/{before.name} still says {IN_PREPARATION!r}: describe what the version changes"
        )
    digest, record = _record(catalog, version, file, texts[file], today)
    before.rename(file)
    write_files({path: text for path, text in {**texts, **record}.items() if path != file})
    for path in moved:
        path.unlink()
        with suppress(OSError):  # the folder has other files
            path.parent.rmdir()
    write_files({file: record[file]})
    return digest


def _number(catalog: Catalog, wanted: str | None) -> str:
    """The number for ``next``: the one that is wanted, else the one that its changes need."""
    for fix in fixes(catalog):
        raise SourceError(f"{fix} is in preparation and comes before next: freeze it first, with --freeze {fix}")
    if not catalog.published:
        if wanted is None:
            raise SourceError("no version is published yet: give the first one a number, as in --freeze 1.0.0")
        return wanted
    newest = catalog.published[-1]
    if wanted is not None:
        if version_key(wanted) <= version_key(newest):
            raise SourceError(f"the next version comes after {newest}, so {wanted} cannot be its number")
        return wanted
    bump = compare(Revision(newest, catalog, newest), Revision(NEXT, catalog, NEXT), samples=0).bump
    if bump == "none":
        raise SourceError(f"nothing has changed since {newest}; to repeat its last steps: --freeze {newest}")
    return following(newest, bump)


def _record(catalog: Catalog, version: str, path: Path, text: str, today: str | None) -> tuple[str, Mapping[Path, str]]:
    """The digest of a version, and its file, lock and changes as they are when it is frozen.

    ``text`` is the version's file as it is now, and ``path`` its place.
    """
    recorded = catalog.release(version).digest
    texts: dict[Path, str] = {}
    before = [v for v in catalog.versions if version_key(v) < version_key(version)]
    if before:
        changes = compare(Revision(before[-1], catalog, before[-1]), Revision(version, catalog, version))
        problem = number_problem(before[-1], version, changes)
        if problem is not None:
            raise SourceError(problem)
        texts[path.with_name(f"{version}.changes.json")] = render_difference(changes, "json") + "\n"
    release = build_release(catalog, version)
    if recorded not in (None, release.digest):
        raise SourceError(
            f"version {version} was published with digest {recorded[:12]}, but now has digest {release.digest[:12]}"
        )
    texts[path.with_name(f"{version}{LOCK_SUFFIX}")] = render_lock(lock(catalog, version))
    if recorded is None:
        texts[path] = _frozen(text, release, today)
    return release.digest, texts


def _frozen(text: str, release: Release, today: str | None) -> str:
    """The text of a version's file with its date and its digests."""
    if today is not None:
        undated = re.sub(r"^date:.*\n", "", text, count=1, flags=re.MULTILINE)
        text = re.sub(r"^(version:.*\n)", rf"\1date: {today}\n", undated, flags=re.MULTILINE)
    tables = "".join(f'  {name}: "{entry.digest}"\n' for name, entry in sorted(release.manifest.tables.items()))
    return f'{text.rstrip()}\ndigest: "{release.digest}"\ntables:\n{tables}'
