"""A specification's file."""

from pathlib import Path

import pytest
import yaml
from tests.evaluation.stereotypes.sentences_by_hand import OWN


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The specification of invented words as a file."""
    path = tmp_path / "invented.yaml"
    path.write_text(yaml.safe_dump(OWN), "utf-8")
    return path
