"""Fixtures for the tests of the tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holisticbias.source.folder import FOLDERS, SINGLE_FILES


@pytest.fixture
def terms_copy(root: Path, tmp_path: Path) -> Path:
    """A copy of the repository's terms."""
    folder = tmp_path / "terms"
    for name in (n for n in FOLDERS if (root / n).is_dir()):
        shutil.copytree(root / name, folder / name)
    for name in SINGLE_FILES:
        shutil.copy(root / f"{name}.yaml", folder)
    return folder
