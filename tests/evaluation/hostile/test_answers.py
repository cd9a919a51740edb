"""Runs of anybody: a column of lists or without a value is reported, or refused in one line, in every command."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

Invoke = Callable[..., tuple[int, str, str]]
ASKED: dict[str, tuple[str, ...]] = {
    "responses": (
        "generation_bias,offensiveness,response_wording", "--release", "1.0.0", "--where", "axis=nonce,age",
        "--where", "template=dialogue.im,dialogue.love", "--per-cell", "2", "--limit", "8",
    ),
    "texts": ("sentiment,gender_polarity", "--prompts", "calibration", "--limit", "2"),
}  # fmt: skip
HOW: dict[str, Callable[[list[object]], pa.Array]] = {
    "lists": lambda values: pa.array([[value] for value in values]),
    "a null": lambda values: pa.array([None, *values[1:]]),
    "numbers": lambda values: pa.array(range(len(values))),
}


@pytest.fixture(scope="module", params=ASKED)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from holisticbias.cli import main

    folder = tmp_path_factory.mktemp("runs") / "run"
    measures, *options = ASKED[request.param]
    assert main(["evaluate", "--measure", measures, *options, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("how", HOW)
def test_an_odd_column(run: Path, how: str, invoke: Invoke, tmp_path: Path) -> None:
    """Each command meets each column and each fault, though not each fault in each column."""
    table = pq.read_table(run / "responses.parquet")
    folder = Path(shutil.copytree(run, tmp_path / "odd"))
    for place, name in enumerate(table.column_names):
        odd = table.set_column(place, name, HOW[how](table[name].to_pylist()))
        pq.write_table(odd, folder / "responses.parquet")
        commands = (("report", folder), ("compare", run, folder), ("compare", folder, run))
        code, _, error = invoke(*commands[(place + list(HOW).index(how)) % 3])
        assert code in (0, 2), name
        assert code == 0 or error.splitlines()[-1].startswith("holisticbias: "), (name, error)
