from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import RunError
from holisticbias_eval.results.answer_columns import missing_problem, type_problem
from holisticbias_eval.results.run import CANDIDATES, LINES, PAIRS, RESPONSES, RESULT, SCORES, Run, read_run, write_run


@pytest.fixture
def copy(run: Run, tmp_path: Path) -> Path:
    write_run(run, tmp_path)
    return tmp_path


def test_what_is_written_is_read(run: Run, copy: Path) -> None:
    read = read_run(copy)
    assert read.result == run.result
    assert read.answers.equals(run.answers)
    assert read.tables.keys() == run.tables.keys()
    assert all(read.tables[name].equals(run.tables[name]) for name in run.tables)
    lines = (copy / RESULT).read_text("utf-8").splitlines()
    assert sum('"measure":' in line for line in lines) == len(run.result.figures), "a figure takes one line"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (RESULT, b"", "is damaged or of another version"),
        (RESULT, b"{", "is damaged or of another version"),
        (RESULT, b'{"schema_version": 1}', "schema_version: 1 is read by versions up to v3.0.0: evaluate again"),
        (RESULT, b'{"schema_version": 3}', "schema_version: 3 is of a later version of holisticbias: update it"),
        (RESULT, b'{"schema_version": 2}', "is damaged or of another version: signature: the key is missing"),
        (RESULT, b"\xff\xfe", "is damaged or of another version"),
        (SCORES.file, b"", "cannot be read"),
        (SCORES.file, b"PAR1 but no table PAR1", "cannot be read"),
        (RESULT, None, "is not a run: it has no result.json"),
        (SCORES.file, None, "is not a run: it has no scores.parquet, or another table of answers"),
    ],
)
def test_damaged_runs_are_refused(copy: Path, name: str, content: bytes | None, message: str) -> None:
    (copy / name).unlink() if content is None else (copy / name).write_bytes(content)
    with pytest.raises(RunError, match=message):
        read_run(copy)


def test_a_folder_of_runs_is_no_run_but_says_which_it_holds(run: Run, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        write_run(run, tmp_path / "runs" / name)
    for folder, named in ((tmp_path / "runs", "one, two"), (tmp_path, "runs/one, runs/two")):
        with pytest.raises(RunError, match=f"holds 2 runs: name one of them, as {named}"):
            read_run(folder)


def test_what_is_no_run_is_refused(copy: Path, tmp_path: Path) -> None:
    pq.write_table(pq.read_table(copy / SCORES.file).drop_columns(["perplexity"]), copy / SCORES.file)
    for path, says in ((copy, "has no column perplexity"), (tmp_path / "none", "does not exist"),
                       (copy / RESULT, "is not a run: it is a file; make one with holisticbias evaluate")):  # fmt: skip
        with pytest.raises(RunError, match=says):
            read_run(path)


def test_a_column_that_stands_twice_is_refused(copy: Path) -> None:
    table = pq.read_table(copy / SCORES.file)
    pq.write_table(table.append_column("perplexity", table["perplexity"]), copy / SCORES.file)
    with pytest.raises(RunError, match=rf"{SCORES.file} .*must have one column perplexity"):
        read_run(copy)


def test_answers_that_cannot_be_measured() -> None:
    for says, (kind, columns) in {
        "column dimension lacks values": (SCORES, {"dimension": [None], "group": ["a"], "sentence": ["b"]}),
        "column group lacks values": (SCORES, {"dimension": ["d"], "group": pa.nulls(1), "sentence": ["b"]}),
        "column specification lacks values": (PAIRS, {"pair_id": ["1"], "specification": [None], "attribute": ["a"]}),
        "column text lacks values": (LINES, {"line_id": ["1"], "text": [None]}),
        "column x.class has a class without a name": (
            RESPONSES, {"response_id": ["1"], "group": ["a"], "axis": [None], "x.class": [""]},
        ),
        "column line is not one value but date32[day]": (LINES, {"line": [date(2026, 1, 1)]}),
        "column label is not one value but string_view": (CANDIDATES, {"label": pa.array(["a"], pa.string_view())}),
    }.items():  # fmt: skip
        table = pa.table(columns)
        assert (type_problem(table.schema) or missing_problem(table, kind.of(columns).filled)) == says
