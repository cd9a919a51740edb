"""The files of a copy of the project's terms that a test changed."""

from __future__ import annotations

from pathlib import Path

from holisticbias.source.folder import term_files

ROOT = Path(__file__).resolve().parents[2]


def changed_files(folder: Path) -> list[Path]:
    """The files that the project does not have with the same content."""
    originals = {path.relative_to(ROOT): path.read_bytes() for path in term_files(ROOT)}
    return [path for path in term_files(folder) if path.read_bytes() != originals.get(path.relative_to(folder))]
