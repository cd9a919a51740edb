"""Name the version in preparation: create it, or rename it in ``releases/`` and in every entry."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from holisticbias.contribute.authoring import Edit, apply_edits, prepare_version
from holisticbias.errors import SourceError
from holisticbias.source.folder import FOLDERS
from holisticbias.source.layout import canonical_text, read_editable
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.versions import version_key

_KEYS = ("since", "until", "version")


def set_next_version(catalog: Catalog, root: Path, version: str, today: str) -> tuple[Path, ...]:
    """Create the version in preparation, or give it another number, and return the files that changed.

    Raises ``SourceError`` if the number is taken, or not above those of all other versions.
    """
    prepared = tuple(v for v in catalog.versions if v not in catalog.published)[-1:]
    if version in prepared:
        return ()
    others = [v for v in catalog.versions if v not in prepared]
    if others and version_key(version) <= version_key(others[-1]):
        raise SourceError(f"the next version comes after {others[-1]}, so {version} cannot be its number")
    if not prepared:
        return apply_edits(root, prepare_version(catalog, root, version, today))
    written = apply_edits(root, list(_renamed_files(root, prepared[0], version)))
    (root / "releases" / f"{prepared[0]}.yaml").unlink()
    return written


def _renamed_files(root: Path, old: str, new: str) -> Iterator[Edit]:
    for kind in FOLDERS:
        for path in sorted((root / kind).glob("*.y*ml")):
            text = path.read_text("utf-8")
            if old not in text:
                continue
            content = read_editable(text)
            if _rename(content, old, new):
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
