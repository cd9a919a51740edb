from pathlib import Path

import pytest

from tests.golden.inputs import write_inputs
from tests.golden.recording import RECORDED, differences, names, record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs, and a place for the outputs."""
    made = tmp_path_factory.mktemp("golden")
    (made / "in").mkdir()
    write_inputs(made / "in")
    return made


@pytest.mark.parametrize("name", names())
def test_what_a_command_gives_is_as_recorded(name: str, folder: Path) -> None:
    recorded = (RECORDED / f"{name}.txt").read_text("utf-8").splitlines()
    assert not differences(recorded, record(name, folder))
