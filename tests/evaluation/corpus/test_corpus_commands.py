"""``holisticbias corpus annotate`` and ``holisticbias corpus split`` from the command line."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from click.testing import CliRunner, Result
from tests.evaluation.corpus.invented import examples, invented

from full_disk import full_disk
from holisticbias.errors import HolisticBiasError
from holisticbias_eval.commands.annotate import command as annotate
from holisticbias_eval.commands.split import command as split
from holisticbias_eval.corpus.examples import write_examples
from holisticbias_eval.corpus.split_folder import is_split, read_part
from holisticbias_eval.corpus.splitting import COLUMNS
from holisticbias_eval.errors import CorpusError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with examples and their specification."""
    write_examples(pa.Table.from_pylist(examples(6)), tmp_path / "examples.parquet")
    content = invented().model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    (tmp_path / "invented.yaml").write_text(yaml.safe_dump(content), "utf-8")
    return tmp_path


def run(command: Any, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(one) for one in arguments])


def fill(path: Path, biased: set[str]) -> None:
    """Label an annotator's file."""
    rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"))))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "Label": int(row["ID"] in biased)} for row in rows)


def test_from_examples_to_a_split(folder: Path) -> None:
    """Two annotators disagree on one sentence, and find another not biased."""
    made = run(annotate, folder / "examples.parquet", "--out", folder / "files", "--annotators", "a, b")
    assert made.exit_code == 0, made.output
    assert "a: 18 examples" in made.output
    ids = {str(row["id"]) for row in examples(6)}
    fill(folder / "files" / "a.csv", ids - {"stad-0"})
    fill(folder / "files" / "b.csv", ids - {"stad-0", "elm-1"})
    files = [folder / "files" / f"{name}.csv" for name in "ab"]
    joined = run(annotate, folder / "examples.parquet", "--out", folder / "labelled.parquet", "--labels", *files)
    assert joined.exit_code == 0, joined.output
    assert "raw agreement of pairs of labels" in joined.output
    assert [line.split()[1:] for line in joined.output.splitlines() if line.strip().startswith("own.invented")] == [
        ["18", "1", "16", "1", "0"]
    ]
    done = run(
        split, folder / "labelled.parquet", "--specification", folder / "invented.yaml", "--out", folder / "split",
        "--test", 2, "--validation", 1, "--seed", 3,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Left out: 1 examples: annotators disagree" in done.output
    assert is_split(folder / "split")
    for part, rows in (("train", 16 - 9), ("validation", 12), ("test", 24)):
        table = read_part(folder / "split", part)
        assert (table.column_names, len(table)) == (list(COLUMNS), rows)
    record = json.loads((folder / "split" / "split.json").read_bytes())
    assert (record["specification"], record["seed"], record["labelled"]) == ("own.invented", 3, True)
    assert record["left_out"] == {"not biased": 1, "annotators disagree": 1}


def make_split(folder: Path, *more: object) -> Result:
    specification, out = folder / "invented.yaml", folder / "split"
    return run(split, folder / "examples.parquet", "--specification", specification, "--out", out, *more)


def test_what_cannot_be_split_leaves_no_folder_and_no_other_folder_is_replaced(folder: Path) -> None:
    done = make_split(folder, "--test", 4, "--validation", 4)
    assert isinstance(done.exception, HolisticBiasError)
    assert "there are blicket 6, stad 6, elm 6: give smaller numbers" in str(done.exception)
    assert not (folder / "split").exists()
    (folder / "split").mkdir()
    (folder / "split" / "own.txt").write_text("mine", "utf-8")
    assert "holds something else" in str(make_split(folder).exception)
    assert [path.name for path in (folder / "split").iterdir()] == ["own.txt"]


def test_examples_that_cannot_be_split_name_their_file(folder: Path) -> None:
    rows = [{**row, "dimension": "own.other"} for row in examples(1)]
    write_examples(pa.Table.from_pylist(rows), folder / "examples.parquet")
    message = f"{folder / 'examples.parquet'}: no example of own.invented can be used (other dimension: 3)"
    assert str(make_split(folder).exception).startswith(message)


def test_wrong_options(folder: Path) -> None:
    path = folder / "examples.parquet"
    assert "files with labels follow --labels" in run(annotate, path, path, "--out", folder / "x").output
    assert "name the annotators" in str(run(annotate, path, "--out", folder / "x").exception)
    wrong = run(annotate, path, "--out", folder / "x.txt", "--labels", path)
    assert "must end in" in str(wrong.exception)
    run(annotate, path, "--out", folder / "files", "--annotators", "a")
    fill(labels := folder / "files" / "a.csv", set())
    joined = run(annotate, path, "--out", folder / "labelled.jsonl", "--labels", labels)
    assert "Labels of one annotator" in joined.output
    labels.write_text("ID,Label\nstad-0,1\nelm-0,1\nstad-0,0\n", "utf-8")
    joined = run(annotate, path, "--out", folder / "labelled.jsonl", "--labels", labels)
    assert "1 ids in several rows, such as stad-0 (a.csv: row 1 and a.csv: row 3)" in joined.output
    for out in (path, labels):
        before = out.read_bytes()
        assert "would be lost" in str(run(annotate, path, "--out", out, "--labels", labels).exception)
        assert out.read_bytes() == before


def test_without_room_for_the_report_no_table_is_written(folder: Path) -> None:
    run(annotate, path := folder / "examples.parquet", "--out", folder / "files", "--annotators", "a,b")
    for name in "ab":
        fill(folder / "files" / f"{name}.csv", set())
    files, made = sorted((folder / "files").glob("*.csv")), folder / "made"
    arguments = (path, "--labels", *files, "--out", made / "labelled.csv")
    assert run(annotate, *arguments).exit_code == 0
    table, report = made / "labelled.csv", made / "labelled.agreement.json"
    size = report.stat().st_size
    assert size > table.stat().st_size
    table.write_bytes(b"old")
    report.write_bytes(b"old")
    with full_disk(size - 1):
        assert "File too large" in str(run(annotate, *arguments).exception)
    assert table.read_bytes() == report.read_bytes() == b"old"
    assert {file.name for file in made.iterdir()} == {table.name, report.name}


def test_a_broken_split(folder: Path) -> None:
    """Without labels all examples count as biased."""
    done = make_split(folder)
    assert done.exit_code == 0, done.output
    assert "The examples have no labels: all count as biased." in done.output
    (folder / "split" / "test.parquet").write_bytes(b"broken")
    with pytest.raises(CorpusError, match="make the split again"):
        read_part(folder / "split", "test")
    pq.write_table(pa.table({"sentence": ["x"]}), folder / "split" / "test.parquet")
    with pytest.raises(CorpusError, match="has no column dimension"):
        read_part(folder / "split", "test")
