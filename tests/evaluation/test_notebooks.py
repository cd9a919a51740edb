"""The notebooks of the documentation run from start to end; they are kept without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLISTICBIAS_CACHE", str(tmp_path / "cache"))
    notebook = nbformat.reads(path.read_text("utf-8"), 4)  # type: ignore[no-untyped-call] # nbformat has no types
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "a notebook is kept without its outputs"
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [kind for cell in code for output in cell.outputs for kind in output.get("data", {})]
    assert {"text/html", "text/plain"} <= {*shown}


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["compare-two-models", "measure-a-model", "own-texts"]
