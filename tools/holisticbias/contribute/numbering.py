"""The version in preparation: call it ``next``, give it its number, or begin a version with a fix alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import Edit, apply_edits, prepare_version
from holisticbias.errors import SourceError
from holisticbias.output import write_files
from holisticbias.source.folder import FOLDERS, kind_files
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
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
