"""Source files against every rule: a catalog, and all that was found."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from holisticbias.errors import SourceError
from holisticbias.rules import CHECKS, judged
from holisticbias.rules.review import apply_waivers
from holisticbias.source.document import read_document
from holisticbias.source.findings import Finding, render_findings
from holisticbias.source.folder import (
    SINGLE_FILES,
    SourceFile,
    find_source,
    is_source,
    kind_of,
    read_source,
    shown_path,
)
from holisticbias.source.records import parse_files
from holisticbias.terms.catalog import Catalog


def validate_files(files: Iterable[SourceFile]) -> tuple[Catalog, tuple[Finding, ...]]:
    """Every finding, in the order of files and lines, and the catalog of all that could be read."""
    repository, findings = parse_files(files)
    checked = (f for check in CHECKS.values() for f in check(repository))
    return repository.catalog(), tuple(sorted({*findings, *judged(repository, apply_waivers(repository, checked))}))


def validate_paths(paths: Iterable[Path]) -> tuple[Finding, ...]:
    """Findings for whole folders of terms, for files and folders in one, or for files that lie elsewhere."""
    sources: dict[Path, tuple[SourceFile, ...]] = {}
    wanted: dict[Path, set[str]] = {}
    found: set[Finding] = set()
    for path in paths:
        if not path.exists():
            raise SourceError(f"{path}: no such file or folder")
        root = path if is_source(path) else find_source(path if path.is_dir() else path.parent)
        if root not in sources:
            sources[root] = read_source(root)
        held = {f.document.path for f in sources[root]}
        inside = {p for p in held if _absolute(Path(p)).is_relative_to(_absolute(path))}
        if path.is_file() and not inside:
            found.update(_validate_stranger(path, sources[root]))
        elif not inside:
            raise SourceError(
                f"{path} holds no terms: name a folder with descriptors/, nouns/ and templates/, or a file"
            )
        wanted.setdefault(root, set()).update(inside)
    for root, shown in wanted.items():
        if shown:
            found.update(f for f in validate_files(sources[root])[1] if f.path in shown)
    return tuple(sorted(found))


def _absolute(path: Path) -> Path:
    """Where a file lies, without following the file itself: it may be a link to nothing, or to itself."""
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _validate_stranger(path: Path, source: tuple[SourceFile, ...]) -> Iterable[Finding]:
    """The findings of a file outside the folder of terms, in the place of the file that it would replace.

    What is published does not bind it: it is no part of any version.
    """
    shown = shown_path(path)
    document = read_document(path, shown)
    file = SourceFile(kind_of(_absolute(path), document), document)
    others = (f for f in source if not _same_place(f, file))
    found = validate_files([*others, file])[1]
    return (f for f in found if f.path == shown and not f.rule.startswith("published-"))


def _same_place(other: SourceFile, file: SourceFile) -> bool:
    if other.kind != file.kind:
        return False
    keys = ("axis", "gender", "family", "version", "subset", "sources")
    mine, theirs = file.document.data, other.document.data
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return Path(other.document.path).name == Path(file.document.path).name
    return file.kind in SINGLE_FILES or any(k in mine and mine.get(k) == theirs.get(k) for k in keys)


def load_catalog(root: Path | str | None = None) -> Catalog:
    """The catalog of a folder of terms, valid in full.

    ``root`` defaults to the folder at or above the current one, else to the
    terms shipped with the package. Raises ``SourceError`` with the first
    findings if anything is wrong.
    """
    catalog, findings = validate_files(read_source(find_source() if root is None else Path(root)))
    errors = [f for f in findings if f.level == "error"]
    if errors:
        first = render_findings(errors[:1], "text")
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise SourceError(f"the terms are not valid: {first}{more} Run: holisticbias validate")
    return catalog
