"""The invented specification as a file."""

from pathlib import Path

import pytest
import yaml
from tests.evaluation.corpus.invented import invented


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the invented specification."""
    content = invented().model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    (tmp_path / "invented.yaml").write_text(yaml.safe_dump(content), "utf-8")
    return tmp_path
