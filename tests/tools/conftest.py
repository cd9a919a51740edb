"""What the tests of the tools share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holisticbias.source.folder import FOLDERS, SINGLE_FILES


@pytest.fixture
def terms_copy(root: Path, tmp_path: Path) -> Path:
    """The repository's terms in a folder of their own, to change."""
    folder = tmp_path / "terms"
    for name in FOLDERS:
        shutil.copytree(root / name, folder / name)
    for name in SINGLE_FILES:
        shutil.copy(root / f"{name}.yaml", folder)
    return folder
