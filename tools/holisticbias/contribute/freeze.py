"""Freeze a version of the terms: record its digests, lock and changes."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from holisticbias.contribute import release_files
from holisticbias.contribute.authoring import edited_files
from holisticbias.contribute.diff import compare_versions
from holisticbias.contribute.diff_report import render_difference
from holisticbias.contribute.entry_text import Edit
from holisticbias.errors import OutputError, SourceError
from holisticbias.output import clean_up, write_files
from holisticbias.release.build import build_release
from holisticbias.release.release import Release
from holisticbias.rules.published import lock, render_lock
from holisticbias.rules.validate import load_catalog, valid_catalog
from holisticbias.source.folder import LOCK_SUFFIX, SINGLE_FILES, folder_kind, read_source, term_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.version_files import IN_PREPARATION
from holisticbias.terms.versions import NEXT, version_key

_SOURCES = SINGLE_FILES[:1]  # the kind of the only file that freezing changes outside the folders


def moved_versions(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """Published versions that no longer compile to their digest, as (version, recorded digest, digest now)."""
    for version in catalog.published:
        recorded, found = catalog.release(version), build_release(catalog, version)
        if found.digest != recorded.digest:
            yield version, str(recorded.digest), found.digest
            continue
        for name, digest in recorded.tables.items():
            now = found.manifest.tables[name].digest if name in found.tables else "none"
            if now != digest:
                yield f"{version} (table {name})", digest, now


def freeze(root: Path, version: str | None, today: str) -> tuple[str, str]:
    """Freeze a version, or complete its record if it is frozen; returns its number and its digest.

    Without a version, or with a new number, ``next`` gets the number that is given or that follows from its changes;
    without ``next``, the newest version is meant. A frozen version cannot change: its file gets the digests and the
    date ``today``, and its lock and its changes are written beside it. Nothing is written before all is checked.
    Freezing ``next`` begins by renaming its file and ends by replacing it: after an interruption, a second call
    continues.

    Raises ``SourceError`` if the version was published with another digest, if its number is too small for its changes,
    or if its summary still says that it is in preparation.
    """
    clean_up(term_files(root))
    for lock_file in (root / "releases").glob(f"*{LOCK_SUFFIX}"):
        file = lock_file.with_name(f"{lock_file.name.removesuffix(LOCK_SUFFIX)}.yaml")
        if file.is_file() and "\ndigest:" not in file.read_text("utf-8"):
            lock_file.unlink()  # an interrupted call left it
    number = started = release_files.interrupted_number(root)
    if number is None:
        catalog = load_catalog(root)
        if NEXT not in catalog.versions or version in catalog.versions:
            return _freeze_as_it_is(root, catalog, version or catalog.versions[-1], today)
        number = _number(catalog, version)
    elif version not in (None, number):
        raise SourceError(f"freezing {number} was interrupted: finish it with holisticbias releases --freeze {number}")
    before, file = (root / "releases" / f"{name}.yaml" for name in (started or NEXT, number))
    texts = {edit.path: edit.text or "" for edit in release_files.renamed(root, NEXT, number)}
    return number, _write(root, number, before, file, texts, today)


def _freeze_as_it_is(root: Path, catalog: Catalog, version: str, today: str) -> tuple[str, str]:
    """Freeze a version that has its number; of a frozen version, write the record again."""
    file = root / "releases" / f"{version}.yaml"
    text = file.read_text("utf-8")
    if catalog.release(version).digest is None:
        return version, _write(root, version, file, file, {file: text}, today)
    digest, texts = _record(catalog, version, file, text, today)
    write_files(texts)
    return version, digest


def _write(root: Path, version: str, before: Path, file: Path, texts: Mapping[Path, str], today: str) -> str:
    """Check and write a version that is frozen: its entries, its lock and changes, and last its file; its digest.

    ``texts`` has the files that differ from those in ``root``, among them the version's ``file``, which is ``before``
    until writing begins.
    """
    texts, moved = release_files.gathered(root, texts, version)
    removed = [Edit(path, "descriptors", None) for path in (before, file.with_name(f"{version}{LOCK_SUFFIX}"), *moved)]
    edits = [Edit(path, kind, text) for path, text in texts.items() for kind in folder_kind(path) or _SOURCES]
    catalog = valid_catalog(edited_files(read_source(root), [*removed, *edits]), "nothing was written")
    if IN_PREPARATION.casefold() in catalog.release(version).summary.casefold():
        raise SourceError(
            f"the summary in releases/{before.name} still says {IN_PREPARATION!r}: describe what the version changes"
        )
    digest, record = _record(catalog, version, file, texts[file], today)
    try:
        before.rename(file)
        try:
            write_files({path: text for path, text in {**texts, **record}.items() if path != file})
        except OutputError:  # none was written
            file.rename(before)
            raise
        for path in moved:
            path.unlink()
            with suppress(OSError):  # the folder has other files
                path.parent.rmdir()
        write_files({file: record[file]})
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"run holisticbias releases --freeze {version} to finish") from error
    return digest


def _number(catalog: Catalog, wanted: str | None) -> str:
    """The number for ``next``: the one that is wanted, else the one that its changes need."""
    for fix in release_files.fixes(catalog):
        raise SourceError(f"{fix} is in preparation and comes before next: freeze it first, with --freeze {fix}")
    if wanted is not None:
        release_files.refuse_number(catalog, wanted, "the next version")
        return wanted
    if not catalog.published:
        raise SourceError("no version is published yet: give the first one a number, as in --freeze 1.0.0")
    newest = catalog.published[-1]
    bump = compare_versions(catalog, newest, NEXT).bump
    if bump == "none":
        raise SourceError(f"nothing has changed since {newest}; to repeat its last steps: --freeze {newest}")
    return release_files.following(newest, bump)


def _record(catalog: Catalog, version: str, path: Path, text: str, today: str) -> tuple[str, dict[Path, str]]:
    """The digest of a version, and its file, lock and changes as they are when it is frozen.

    ``text`` is the version's file as it is now, and ``path`` its place.
    """
    recorded = catalog.release(version).digest
    texts: dict[Path, str] = {}
    before = [v for v in catalog.versions if version_key(v) < version_key(version)]
    if before:
        changes = compare_versions(catalog, before[-1], version, samples=10)
        problem = release_files.number_problem(before[-1], version, changes)
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


def _frozen(text: str, release: Release, today: str) -> str:
    """The text of a version's file with its date and its digests."""
    undated = re.sub(r"^date:.*\n", "", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"^(version:.*\n)", rf"\1date: {today}\n", undated, flags=re.MULTILINE)
    tables = "".join(f'  {name}: "{entry.digest}"\n' for name, entry in sorted(release.manifest.tables.items()))
    return f'{text.rstrip()}\ndigest: "{release.digest}"\ntables:\n{tables}'
