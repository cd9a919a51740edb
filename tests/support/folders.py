"""Contents of folders, and changes of their files."""

from __future__ import annotations

import shutil
from pathlib import Path

from holisticbias.rules.validate import validate_paths
from holisticbias.source.folder import FOLDERS, SINGLE_FILES, term_files
from holisticbias.source.layout import stale_files

ROOT = Path(__file__).resolve().parents[2]


def copy_terms(root: Path, folder: Path) -> Path:
    """Copy the terms of a repository to a new folder."""
    for name in (n for n in FOLDERS if (root / n).is_dir()):
        shutil.copytree(root / name, folder / name)
    for name in SINGLE_FILES:
        shutil.copy(root / f"{name}.yaml", folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """The content of each file, by its path in the folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def replaced(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file, which must have it."""
    text = path.read_text("utf-8")
    assert old in text, f"{path} does not have {old!r}"
    path.write_text(text.replace(old, new, 1), "utf-8")


def is_clean(folder: Path) -> bool:
    """Whether terms follow every rule, and the files that differ from the project's are in canonical layout."""
    originals = {path.relative_to(ROOT): path.read_bytes() for path in term_files(ROOT)}
    changed = [path for path in term_files(folder) if path.read_bytes() != originals.get(path.relative_to(folder))]
    return validate_paths([folder]) == () and stale_files(changed) == ()
