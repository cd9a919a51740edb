"""The command, run in the process of the tests."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from folders import contents
from holisticbias.cli import main

if TYPE_CHECKING:
    from holisticbias_eval.figures import Figures


class Invoke:
    """Run ``holisticbias`` in this process; returns exit code, output and errors."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> tuple[int, str, str]:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def printed(self, *arguments: object) -> str:
        """The output of a command that ends well."""
        code, said, errors = self(*arguments)
        assert code == 0, errors
        return said

    def figures(self, *arguments: object) -> Figures:
        """The figures that a command prints as JSON."""
        from holisticbias_eval.figures import Figure, Figures

        found = json.loads(self.printed(*arguments, "--format", "json"))["figures"]
        return Figures(Figure.model_validate(figure) for figure in found)

    def answered(self, answers: Sequence[str], *arguments: object) -> tuple[int, str]:
        """Run a command that asks, with answers to its questions; returns exit code, and output with errors."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))
            code, said, errors = self(*arguments)
        return code, said + errors

    def refused(self, *arguments: object, keeps: Path | None = None) -> str:
        """The errors of a command that refuses a mistake, without a traceback; a folder that it ``keeps`` as it is."""
        before = contents(keeps) if keeps else {}
        code, _, errors = self(*arguments)
        assert code == 2, errors
        assert "Traceback" not in errors
        assert not keeps or contents(keeps) == before
        return errors
