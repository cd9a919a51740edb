"""The notebooks of the documentation run from start to end; they are kept without outputs."""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process: a kernel would import everything again."""
    monkeypatch.setenv("HOLISTICBIAS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.reads(path.read_text("utf-8"), 4)  # type: ignore[no-untyped-call] # nbformat has no types
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "a notebook is kept without its outputs"
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # the shell puts its own there
    shell = InteractiveShell.instance()
    with shell.display_trap, capture_output() as shown:
        for cell in code:
            shell.run_cell(cell.source).raise_error()  # type: ignore[no-untyped-call] # IPython has few types
    InteractiveShell.clear_instance()
    assert {"text/html", "text/plain"} <= {kind for output in shown.outputs for kind in output.data}


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["compare-two-models", "measure-a-model", "own-texts"]
