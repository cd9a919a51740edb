"""The number of a version: whether it says how much changes, and the version in preparation that has none yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from holisticbias.contribute.authoring import Edit, apply_edits, find_file, prepare_version, written
from holisticbias.contribute.diff import Bump, Difference, compare
from holisticbias.contribute.revisions import Revision
from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.source.folder import FOLDERS, is_new, kind_files
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import GROUP_KEYS, entries_key, place_among
from holisticbias.terms.versions import NEXT, is_number, version_key

_KEYS = ("since", "until", "version")


def use_next(catalog: Catalog, root: Path) -> tuple[Path, ...]:
    """Create the version ``next``, and let it have all that other versions in preparation have.

    Returns the files that changed.
    """
    return tuple(_gather(catalog, root, NEXT))


def begin_fix(catalog: Catalog, root: Path, version: str) -> tuple[Path, ...]:
    """Create a version in preparation that comes before ``next``, or give it another number.

    Returns the files that changed. Raises ``SourceError`` if the number is taken, or not above those of all published
    versions.
    """
    if catalog.published and version_key(version) <= version_key(catalog.published[-1]):
        raise SourceError(f"a fix comes after {catalog.published[-1]}, so {version} cannot be its number")
    return tuple(_gather(catalog, root, version))


def withdraw(catalog: Catalog, root: Path, version: str, reason: str, today: str) -> tuple[Path, ...]:
    """Record that a published version is withdrawn; returns the file that changed. Raises ``SourceError``."""
    release = catalog.release(version)
    if release.digest is None:
        raise SourceError(f"version {version} is not published, so it cannot be withdrawn: change it")
    if release.withdrawn is not None:
        raise SourceError(f"version {version} is withdrawn already, since {release.withdrawn.date}")
    path = root / "releases" / f"{version}.yaml"
    content = read_editable(path.read_text("utf-8"))
    content["withdrawn"] = written({"date": DoubleQuotedScalarString(today), "reason": reason})
    return apply_edits(root, [Edit(path, "releases", canonical_text(content, "releases"))])


def fixes(catalog: Catalog) -> tuple[str, ...]:
    """The versions in preparation that have a number."""
    return tuple(v for v in catalog.versions if v not in catalog.published and v != NEXT)


def _gather(catalog: Catalog, root: Path, into: str) -> Iterator[Path]:
    """Create a version in preparation with the entries of the others that have a number, and remove their files."""
    others = [v for v in fixes(catalog) if v != into]
    yield from apply_edits(root, prepare_version(catalog, root, into))
    for old in others:
        yield from apply_edits(root, [edit for edit in renamed(root, old, into) if edit.kind != "releases"])
        former, file = (root / "releases" / f"{version}.yaml" for version in (old, into))
        if into not in catalog.versions:  # else its own summary stays
            write_files({file: former.read_text("utf-8").replace(f"version: {old}", f"version: {into}")})
        former.unlink()


def renamed(root: Path, old: str, new: str) -> Iterator[Edit]:
    """The files that name a version, with another name in its place."""
    for kind in FOLDERS:
        for path in kind_files(root, kind):
            text = path.read_text("utf-8")
            content = read_editable(text) if old in text else None
            if content is not None and _rename(content, old, new):
                target = path.with_name(f"{new}.yaml") if kind == "releases" else path
                yield Edit(target, kind, canonical_text(content, kind))


def gathered(root: Path, texts: Mapping[Path, str], version: str) -> tuple[dict[Path, str], tuple[Path, ...]]:
    """Move the new entries of a version to the files of their groups.

    ``texts`` has the files that differ from those in ``root``. Returns them with the files that change, and the files
    of new entries that are then to be removed. An entry that is in the file of its group already is not added again.
    """
    changed, moved = dict(texts), []
    for kind in GROUP_KEYS:
        for path in (path for path in kind_files(root, kind) if is_new(path)):
            content = read_editable(changed.get(path) or path.read_text("utf-8"))
            entries = content[entries_key(kind)]
            if any(entry.get("since") != version for entry in entries):
                continue
            target = find_file(root, kind, "/".join(str(content[key]) for key in GROUP_KEYS[kind]))
            group = read_editable(changed.get(target) or target.read_text("utf-8"))
            for entry in entries:
                _insert(group[entries_key(kind)], entry)
            changed[target] = canonical_text(group, kind)
            changed.pop(path, None)
            moved.append(path)
    return changed, tuple(moved)


def _insert(entries: CommentedSeq, entry: CommentedMap) -> None:
    if entry["id"] not in {other["id"] for other in entries}:
        keys = [other.get("bucket") or other.get("group") for other in entries]
        entries.insert(place_among(keys, entry.get("bucket") or entry.get("group")), entry)


def _rename(node: object, old: str, new: str) -> int:
    """Replace a version in a node and below; return how often it was there."""
    if isinstance(node, CommentedSeq):
        return sum(_rename(part, old, new) for part in node)
    if not isinstance(node, CommentedMap):
        return 0
    named = [key for key in _KEYS if node.get(key) == old]
    node.update(dict.fromkeys(named, new))
    return len(named) + sum(_rename(part, old, new) for part in node.values())


def interrupted_number(root: Path) -> str | None:
    """The number that an interrupted ``releases --freeze`` was giving to ``next``; None if none was interrupted.

    Freezing begins by renaming ``releases/next.yaml``, and ends by writing the number into it.
    """
    for path in sorted((root / "releases").glob("*.yaml")):
        if is_number(path.stem) and f"\nversion: {NEXT}\n" in f"\n{path.read_text('utf-8')}":
            return path.stem
    return None


_BUMPS: tuple[Bump, ...] = ("none", "patch", "minor", "major")


def number_problem(old: str, new: str, changes: Difference) -> str | None:
    """Explain why the number of a version is too low for its changes since an older version; None if it is not."""
    step = _step(old, new)
    if _BUMPS.index(step) >= _BUMPS.index(changes.bump):
        return None
    return (
        f"{new} is a {step} version after {old}, but its changes need a {changes.bump} version, "
        f"such as {following(old, changes.bump)}"
    )


def preparation_problem(catalog: Catalog) -> str | None:
    """Explain why the number of a fix in preparation is too low; None if it is not.

    The number of ``next`` follows from its changes when it is frozen.
    """
    for version in catalog.versions if catalog.published else ():
        if version != NEXT and version not in catalog.published:
            old = catalog.published[-1]
            changes = compare(Revision(old, catalog, old), Revision(version, catalog, version), samples=0)
            problem = number_problem(old, version, changes)
            if problem is not None:
                return f"{problem}: run holisticbias releases --fix {following(old, changes.bump)}"
    return None


def following(old: str, bump: Bump) -> str:
    """The next version number after ``old`` for a kind of change."""
    major, minor, patch = version_key(old)
    return {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(bump, f"{major}.{minor}.{patch + 1}")


def _step(old: str, new: str) -> Bump:
    """The first part of the version number that differs."""
    pairs = zip(_BUMPS[:0:-1], version_key(old), version_key(new), strict=True)
    return next((bump for bump, a, b in pairs if a != b), "none")
