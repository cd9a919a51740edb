"""Models and runs made by someone who means harm, and odd columns in runs: refused with one line in every command."""

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from columns import with_column
from holisticbias.cli import main
from invoking import Invoke

HERE = Path(__file__).parent
MODELS = sorted((HERE / "models").glob("*.yaml"))
RESULTS = sorted((HERE / "results").glob("*.yaml"))
ANSWERS = sorted((HERE / "answers").glob("*.yaml"))
GGUF = sorted((HERE / "gguf").glob("*.yaml"))
assert all((MODELS, RESULTS, ANSWERS, GGUF))
READERS = [("report",), ("compare",), ("leaderboard", "--contributor", "Ada", "--add")]


def read(path: Path) -> dict[str, Any]:
    case: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return case


def change(file: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    content = json.loads(file.read_text("utf-8"))
    edit(content)
    file.write_text(json.dumps(content).replace("GROW", "e" * 100_000), "utf-8")


def assert_one_line(error: str, expected: str) -> None:
    assert expected in error
    assert "\x1b" not in error
    assert [line for line in error.splitlines() if line.startswith("holisticbias: ")] == error.splitlines()[-1:]


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_is_refused(
    path: Path, copied_model: Callable[[], Path], mini_release_folder: Path, tmp_path: Path, invoke: Invoke
) -> None:
    case, model = read(path), copied_model()
    change(model / "config.json", lambda config: config.update(case.get("config", {})))
    change(model / "tokenizer.json", lambda tokenizer: tokenizer.update(case.get("tokenizer", {})))
    asked = ("--model", model, "--release", mini_release_folder, "--out", tmp_path / "out")
    assert_one_line(invoke.refused("evaluate", *asked), case["says"])
    assert not (tmp_path / "out").exists()


def test_a_run_is_never_written_into_a_release(
    tiny_options: tuple[str, ...], mini_release_folder: Path, invoke: Invoke
) -> None:
    before = sorted(mini_release_folder.rglob("*"))
    for place in ("run", "data/deep/run"):
        said = invoke.refused("evaluate", *tiny_options, "--out", mini_release_folder / place)
        assert_one_line(said, "is inside the release")
    assert sorted(mini_release_folder.rglob("*")) == before


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader[0])
@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_run_is_refused(path: Path, reader: tuple[str, ...], tiny_run: Path, tmp_path: Path, invoke: Invoke) -> None:
    case, run = read(path), Path(shutil.copytree(tiny_run, tmp_path / "run"))

    def edit(result: dict[str, Any]) -> None:
        result["figures"][0].update(case.get("figure", {}))
        result["signature"].update(case.get("signature", {}))

    change(run / "result.json", edit)
    others = [tiny_run] if reader == ("compare",) else []
    assert_one_line(invoke.refused(*reader, run, *others), case["says"])


VALUES: dict[str, Callable[[int], pa.Array]] = {
    "missing": lambda rows: pa.nulls(rows, pa.string()),
    "lists": lambda rows: pa.array([["a"]] * rows),
    "texts": lambda rows: pa.array(["a"] * rows),
    "numbers": lambda rows: pa.array(range(rows)),
    "bytes that are not UTF-8": lambda rows: pa.array([b"\xff"] * rows).view(pa.string()),
    "one long text": lambda rows: pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["a" * 5_000_000])
    ),
}


@pytest.mark.parametrize("path", ANSWERS, ids=lambda path: path.stem)
def test_hostile_answers_are_refused(path: Path, tiny_run: Path, tmp_path: Path, invoke: Invoke) -> None:
    """``rows`` repeats the first row; ``column`` gets other ``values``."""
    case, run = read(path), Path(shutil.copytree(tiny_run, tmp_path / "run"))
    scores = pq.read_table(run / "scores.parquet")
    if "rows" in case:
        scores = scores.slice(0, 1).take(pa.array([0] * case["rows"]))
    if "column" in case:
        scores = with_column(scores, case["column"], VALUES[case["values"]](scores.num_rows))
    pq.write_table(scores, run / "scores.parquet", compression="zstd", store_schema=False)
    assert_one_line(invoke.refused("compare", run, tiny_run), case["says"])


@pytest.mark.parametrize("path", GGUF, ids=lambda path: path.stem)
def test_a_gguf_file_is_refused(path: Path, mini_release_folder: Path, tmp_path: Path, invoke: Invoke) -> None:
    """``header`` lists numbers, each after its form in ``struct``, and texts."""
    case, file = read(path), tmp_path / "model.gguf"
    parts = [struct.pack("<" + part[0], *part[1:]) if isinstance(part, list) else text(part) for part in case["header"]]
    file.write_bytes(b"GGUF" + b"".join(parts) + b"\0" * 64)
    asked = ("--model", file, "--release", mini_release_folder, "--out", tmp_path / "out")
    assert_one_line(invoke.refused("evaluate", *asked), case["says"])


def text(content: str) -> bytes:
    return struct.pack("<Q", len(content)) + content.encode()


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
def answered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    measures, *options = ASKED[request.param]
    assert main(["evaluate", "--measures", measures, *options, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize("how", HOW)
def test_an_odd_column_is_read_or_refused(answered: Path, how: str, invoke: Invoke, tmp_path: Path) -> None:
    """Each command meets each column and each fault, though not each fault in each column."""
    table = pq.read_table(answered / "responses.parquet")
    folder = Path(shutil.copytree(answered, tmp_path / "odd"))
    names = table.column_names
    alike = [name for name in names if name.startswith("p:")][3:]
    for place, name in enumerate(name for name in names if name not in alike):
        odd = table.set_column(names.index(name), name, HOW[how](table[name].to_pylist()))
        pq.write_table(odd, folder / "responses.parquet")
        commands = (("report", folder), ("compare", answered, folder), ("compare", folder, answered))
        code, _, error = invoke(*commands[(place + list(HOW).index(how)) % 3])
        assert code in (0, 2), name
        assert code == 0 or error.splitlines()[-1].startswith("holisticbias: "), (name, error)
