"""``holisticbias corpus annotate`` and ``corpus split``."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluation.corpus.invented import examples
from tests.evaluation.corpus.label_files import label

from full_disk import full_disk
from holisticbias_eval.corpus.split_folder import is_split, read_part
from holisticbias_eval.corpus.splitting import COLUMNS
from holisticbias_eval.errors import CorpusError
from invoking import Invoke
from row_files import write_table

IDS = {str(row["id"]) for row in examples(6)}
ANNOTATE = ("corpus", "annotate")


@pytest.fixture
def folder(folder: Path) -> Path:
    """A folder with examples and their specification."""
    write_table(folder / "examples.parquet", examples(6))
    return folder


@pytest.fixture
def split(folder: Path) -> tuple[object, ...]:
    """The command that splits the examples."""
    fixed = ("--specification", folder / "invented.yaml", "--out", folder / "split")
    return ("corpus", "split", folder / "examples.parquet", *fixed)


def fill(folder: Path, **biased: set[str]) -> list[Path]:
    """Label the files of annotators: 1 for these ids."""
    return [label(folder / f"{name}.csv", {one: str(int(one in ids)) for one in IDS}) for name, ids in biased.items()]


def test_from_examples_to_a_split(folder: Path, split: tuple[object, ...], invoke: Invoke) -> None:
    """Two annotators disagree on one sentence, and find another not biased."""
    path, labelled = folder / "examples.parquet", folder / "labelled.parquet"
    said = invoke.printed(*ANNOTATE, path, "--out", folder / "files", "--annotators", "a, b")
    assert "a: 18 examples" in said
    files = fill(folder / "files", a=IDS - {"stad-0"}, b=IDS - {"stad-0", "elm-1"})
    said = invoke.printed(*ANNOTATE, path, "--out", labelled, "--labels", *files)
    assert "raw agreement of pairs of labels" in said
    assert [line.split()[1:] for line in said.splitlines() if line.strip().startswith("own.invented")] == [
        ["18", "1", "16", "1", "0"]
    ]
    said = invoke.printed(*split[:2], labelled, *split[3:], "--test", 2, "--validation", 1, "--seed", 3)
    assert "Left out: 1 example: annotators disagree" in said
    assert is_split(folder / "split")
    for part, rows in (("train", 16 - 9), ("validation", 12), ("test", 24)):
        table = read_part(folder / "split", part)
        assert (table.column_names, len(table)) == (list(COLUMNS), rows)
    record = json.loads((folder / "split" / "split.json").read_bytes())
    assert (record["specification"], record["seed"], record["labelled"]) == ("own.invented", 3, True)
    assert (record["left_out"], record["held_out"]) == ({"not biased": 1, "annotators disagree": 1}, ["wug"])


def test_what_cannot_be_split_leaves_no_folder_and_no_other_folder_is_replaced(
    folder: Path, split: tuple[object, ...], invoke: Invoke
) -> None:
    said = invoke.refused(*split, "--test", 4, "--validation", 4)
    assert "there are blicket 6, stad 6, elm 6: give smaller numbers" in said
    assert not (folder / "split").exists()
    rows = [{**row, "dimension": "own.other"} for row in examples(1)]
    write_table(folder / "examples.parquet", rows)
    message = f"{folder / 'examples.parquet'}: no example of own.invented can be used (other dimension: 3)"
    assert message in invoke(*split)[2]
    (folder / "split").mkdir()
    (folder / "split" / "own.txt").write_text("mine", "utf-8")
    assert "holds something else" in invoke.refused(*split)
    assert [path.name for path in (folder / "split").iterdir()] == ["own.txt"]


def test_wrong_options(folder: Path, invoke: Invoke) -> None:
    path, labelled = folder / "examples.parquet", folder / "labelled.jsonl"
    assert "files with labels follow --labels" in invoke.refused(*ANNOTATE, path, path, "--out", folder / "x")
    assert "must end in" in invoke.refused(*ANNOTATE, path, "--out", folder / "x.txt", "--labels", path)
    invoke.printed(*ANNOTATE, path, "--out", folder / "files", "--annotators", "a")
    (labels,) = fill(folder / "files", a=set())
    said = invoke.printed(*ANNOTATE, path, "--out", labelled, "--labels", labels)
    assert "Labels of one annotator" in said
    labels.write_text("ID,Label,Sentence\nstad-0,1,Other.\nelm-0,1,\nstad-0,0,\n", "utf-8")
    said = invoke.printed(*ANNOTATE, path, "--out", labelled, "--labels", labels)
    assert "    3 rows with another sentence than the example: are they of this table?\n" in said
    assert "1 ids in several rows, such as stad-0 (a.csv: row 1 and a.csv: row 3)" in said
    for out in (path, labels):
        before = out.read_bytes()
        assert "would be lost" in invoke.refused(*ANNOTATE, path, "--out", out, "--labels", labels)
        assert out.read_bytes() == before


def test_without_room_for_the_report_no_table_is_written(folder: Path, invoke: Invoke) -> None:
    path, made = folder / "examples.parquet", folder / "made"
    invoke.printed(*ANNOTATE, path, "--out", folder / "files", "--annotators", "a,b")
    files = fill(folder / "files", a=set(), b=set())
    command = (*ANNOTATE, path, "--labels", *files, "--out", made / "labelled.csv")
    invoke.printed(*command)
    table, report = made / "labelled.csv", made / "labelled.csv.agreement.json"
    size = report.stat().st_size
    assert size > table.stat().st_size
    table.write_bytes(b"old")
    report.write_bytes(b"old")
    with full_disk(size - 1):
        code, _, errors = invoke(*command)
    assert (code, "File too large" in errors) == (2, True)
    assert table.read_bytes() == report.read_bytes() == b"old"
    assert {file.name for file in made.iterdir()} == {table.name, report.name}


def test_a_broken_split(folder: Path, split: tuple[object, ...], invoke: Invoke) -> None:
    """Without labels all examples count as biased."""
    code, _, errors = invoke(*split)
    assert (code, "The examples have no labels: all count as biased." in errors) == (0, True)
    (folder / "split" / "test.parquet").write_bytes(b"broken")
    with pytest.raises(CorpusError, match="make the split again"):
        read_part(folder / "split", "test")
    pq.write_table(pa.table({"sentence": ["x"]}), folder / "split" / "test.parquet")
    with pytest.raises(CorpusError, match="has no column dimension"):
        read_part(folder / "split", "test")
