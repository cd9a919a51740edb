"""Where the terms lie and what is there: files in, documents out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holisticbias.errors import SourceError
from holisticbias.source.document import Document, read_document, read_json

Kind = Literal[
    "descriptors", "nouns", "templates", "releases", "subsets", "sources", "waivers", "intersections", "locks"
]

FOLDERS: tuple[Kind, ...] = ("descriptors", "nouns", "templates", "releases", "subsets")
SINGLE_FILES: tuple[Kind, ...] = ("sources", "waivers", "intersections")
NAMES = (*FOLDERS, *(f"{kind}.yaml" for kind in SINGLE_FILES))
SOURCES_FILE = "sources.yaml"
LOCK_SUFFIX = ".lock.json"
PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A document and the kind of file that it is."""

    kind: Kind
    document: Document


def find_source(start: Path | None = None, *, to_write: bool = False) -> Path:
    """The folder of terms: the nearest one at or above ``start``, or, to read, the one shipped with the package."""
    start = (start or Path.cwd()).resolve()
    shipped = PACKAGE / "data"
    checkout = PACKAGE.parents[1]
    folders = [start, *start.parents] if to_write else [start, *start.parents, shipped, checkout]
    for folder in folders:
        if is_source(folder):
            return folder
    raise SourceError(
        f"no folder at or above {start} holds descriptors/, nouns/ and templates/: name one with --source"
    )


def is_source(folder: Path) -> bool:
    """Whether a folder holds terms."""
    return all((folder / name).is_dir() for name in ("descriptors", "nouns", "templates"))


def read_source(root: Path) -> tuple[SourceFile, ...]:
    """Every YAML file of a folder of terms, sorted by name within its kind."""
    if not is_source(root):
        raise SourceError(f"{root} is no folder of terms: it needs descriptors/, nouns/ and templates/")
    files = [SourceFile(kind, read_document(path, shown_path(path))) for kind, path in _yaml_files(root)]
    locks = sorted((root / "releases").glob(f"*{LOCK_SUFFIX}"))
    files += [SourceFile("locks", read_json(path, shown_path(path))) for path in locks]
    return tuple(files)


def term_files(root: Path) -> tuple[Path, ...]:
    """The paths of the YAML files of a folder of terms."""
    return tuple(path for _, path in _yaml_files(root))


def _yaml_files(root: Path) -> Iterator[tuple[Kind, Path]]:
    for kind in FOLDERS:
        yield from ((kind, path) for path in sorted((root / kind).glob("*.y*ml")))
    for kind in SINGLE_FILES:
        if (root / f"{kind}.yaml").exists():
            yield kind, root / f"{kind}.yaml"


def shown_path(path: Path) -> str:
    """A file's path as messages show it: relative to the current folder where it lies in it."""
    path, here = path.parent.resolve() / path.name, Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def kind_of(path: Path, document: Document) -> Kind:
    """The kind of a file that stands alone: by its folder's name, else by what it holds."""
    if path.name.endswith(LOCK_SUFFIX):
        return "locks"
    if path.parent.name in FOLDERS:
        return next(kind for kind in FOLDERS if kind == path.parent.name)
    keys: tuple[Kind, ...] = ("subsets", "descriptors", "nouns", "templates", "sources", "waivers", "intersections")
    held = document.data if isinstance(document.data, dict) else {}
    marks = {
        "subsets": "subset",
        "descriptors": "descriptors",
        "nouns": "nouns",
        "templates": "templates",
        "sources": "sources",
        "waivers": "waivers",
        "intersections": "exclusions",
    }
    for kind in keys:
        if marks[kind] in held:
            return kind
    return "releases" if "version" in held else "descriptors"
