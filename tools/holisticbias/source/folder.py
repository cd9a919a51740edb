"""Folders of terms: find them and read their files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

from holisticbias.errors import SourceError
from holisticbias.inputs import refuse_unreadable
from holisticbias.source.document import Document, misplaced, read_document, read_json
from holisticbias.terms.file_kinds import COMPANIONS, GROUP_KEYS, MODELS, TERMS, Kind

FOLDERS: tuple[Kind, ...] = (*TERMS, *COMPANIONS, "releases", "subsets")
SINGLE_FILES: tuple[Kind, ...] = ("sources", "waivers", "intersections")
KINDS: tuple[Kind, ...] = (*FOLDERS, *SINGLE_FILES)
NAMES = (*FOLDERS, *(f"{kind}.yaml" for kind in SINGLE_FILES))
NEW = "new"
"""The folder of each kind of entries with those of versions in preparation, one file each: so that no two contributions
change the same lines. Freezing a version moves them to the files of their groups."""
SOURCES_FILE = "sources.yaml"
LOCK_SUFFIX = ".lock.json"
PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A document and its kind."""

    kind: Kind
    document: Document


def find_source(start: Path | None = None, *, to_write: bool = False) -> Path:
    """The nearest folder of terms at or above ``start``, else, unless it is to be written, the one of the package.

    ``start`` defaults to the current folder. Raises ``SourceError``.
    """
    start = (start or Path.cwd()).resolve()
    shipped = PACKAGE / "data"
    checkout = PACKAGE.parents[1]
    folders = [start, *start.parents] if to_write else [start, *start.parents, shipped, checkout]
    for folder in folders:
        if is_source(folder):
            return folder
    raise SourceError(f"no folder at or above {start} has descriptors/, nouns/ and templates/: name one with --source")


def is_source(folder: Path) -> bool:
    """Whether a folder has the subfolders of a folder of terms."""
    return all((folder / name).is_dir() for name in TERMS)


def read_source(root: Path, *, relative: bool = False) -> tuple[SourceFile, ...]:
    """Read the YAML files and locks of a folder of terms, by kind and name; raises ``SourceError`` if it is not one.

    Documents have the path that messages show, or if ``relative`` the path in the folder.
    """
    with refuse_unreadable(root, SourceError):
        is_folder = is_source(root)
    if not is_folder:
        raise SourceError(f"{root} is not a folder of terms: it needs descriptors/, nouns/ and templates/")

    def name(path: Path) -> str:
        return str(path.relative_to(root)) if relative else shown_path(path)

    found = ((kind, path) for kind in KINDS for path in kind_files(root, kind))
    files = [SourceFile(kind, read_document(path, name(path), root)) for kind, path in found]
    files += [SourceFile(kind, misplaced(name(path))) for kind in FOLDERS for path in _misplaced_files(root, kind)]
    locks = sorted((root / "releases").glob(f"*{LOCK_SUFFIX}"))
    files += [SourceFile("locks", read_json(path, name(path), root)) for path in locks]
    return tuple(files)


def term_files(root: Path) -> tuple[Path, ...]:
    """The paths of the YAML files of a folder of terms."""
    return tuple(path for kind in KINDS for path in kind_files(root, kind))


def require_term_file(path: Path) -> Path:
    """The path, if it is of a YAML file of a folder of terms; else raises ``SourceError``."""
    absolute = path.absolute()
    root = next(filter(is_source, absolute.parents), None)
    if root is None or absolute not in term_files(root):
        raise SourceError(f"{path} is not a YAML file in a folder of terms, such as descriptors/ability.yaml")
    return path


def kind_files(root: Path, kind: Kind) -> tuple[Path, ...]:
    """The paths of the YAML files of one kind in a folder of terms: by name, files of new entries last."""
    if kind in SINGLE_FILES:
        return tuple(path for path in (root / f"{kind}.yaml",) if path.exists())
    folders = (root / kind, root / kind / NEW)[: 2 if kind in GROUP_KEYS else 1]
    return tuple(path for folder in folders for path in sorted(folder.glob("*")) if is_yaml(path))


def _misplaced_files(root: Path, kind: Kind) -> Iterator[Path]:
    """The files among the new entries of a kind that are not read, except hidden files and an editor's copies."""
    folder = root / kind / NEW
    for path in sorted({*folder.rglob("*")} - {*kind_files(root, kind)}):
        parts = path.relative_to(folder).parts
        if path.is_file() and not path.name.endswith("~") and not any(part.startswith(".") for part in parts):
            yield path


def is_yaml(path: PurePath) -> bool:
    """Whether a file is YAML by its name."""
    return path.suffix in (".yaml", ".yml")


def is_new(path: PurePath | str) -> bool:
    """Whether a file has new entries of a group, such as ``descriptors/new/ability.with-a-stoma.yaml``."""
    parents = Path(path).absolute().parents  # the path that messages show begins in the current folder
    return len(parents) > 1 and parents[0].name == NEW and parents[1].name in GROUP_KEYS


def shown_path(path: Path) -> str:
    """A file's path as messages show it: relative to the current folder if it is inside it."""
    path, here = path.parent.resolve() / path.name, Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def kind_of(path: Path, document: Document) -> Kind:
    """The kind of a single file: from its folder's name, else the one with the most of its keys, else descriptors."""
    keys = document.data.keys() if isinstance(document.data, dict) else set[str]()
    alike = {kind: len(keys & model.model_fields.keys()) for kind, model in MODELS.items()}
    likely = max(alike, key=lambda kind: (alike[kind], -len(MODELS[kind].model_fields)))
    return (*folder_kind(path), likely if alike[likely] else "descriptors")[0]


def folder_kind(path: Path) -> tuple[Kind, ...]:
    """The kind of a file by its folder; empty if its folder is not one of a folder of terms."""
    folder = path.absolute().parents[1 if is_new(path) else 0]
    return tuple(kind for kind in FOLDERS if kind == folder.name)
