"""Commands that are refused: `refused.yaml` has them, with a part of what is said; nothing is written."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from invoking import Invoke


def read_refused() -> Iterator[tuple[str, str, str]]:
    """The terms, the command and a part of the message of each case, with the shared words written out."""
    refused = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text("utf-8"))
    words = {**refused.pop("words"), "LONG": "x" * 201, "FILE": __file__}
    for terms, commands in refused.items():
        for command, said in commands.items():
            written = command
            for name, text in words.items():
                written = written.replace(f"{{{name}}}", text)
            yield terms, written, said


@pytest.fixture
def in_preparation(data: Path) -> Path:
    return data / "two-versions"


@pytest.fixture
def project() -> None:
    """Commands are run at its root."""


@pytest.fixture
def nowhere(invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("terms", "command", "said"), list(read_refused()))
def test_a_command_that_is_refused(
    request: pytest.FixtureRequest, tmp_path: Path, invoke: Invoke, terms: str, command: str, said: str
) -> None:
    folder = request.getfixturevalue(terms)
    source = ("--source", folder) if folder else ()
    errors = invoke.refused(*shlex.split(command.replace("{OUT}", str(tmp_path / "out"))), *source, keeps=folder)
    assert said in errors
    assert re.search("^(Usage|holisticbias): ", errors, re.MULTILINE)
    assert not [word for word in ("should", "pydantic", "\u202e") if word in errors]
    assert [*tmp_path.iterdir()] == []
