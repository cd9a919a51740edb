"""Annotation is a round trip: files for annotators, their labels, and how far they agree."""

import gzip
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.corpus.invented import example, examples
from tests.evaluation.corpus.label_files import cells, label

from holisticbias.errors import OutputError
from holisticbias.spreadsheet import id_forms, marked_id, restored_columns, safe_cell
from holisticbias_eval.corpus.annotating import Annotated, annotate, join_labels
from holisticbias_eval.corpus.annotation_files import AnnotatorLabel, make_annotation_files, read_label_files
from holisticbias_eval.corpus.examples import read_examples
from holisticbias_eval.corpus.settings import AnnotationSettings
from holisticbias_eval.errors import CorpusError, TableError
from known import known
from label_studio import choices, exported
from row_files import write_table

HOSTILE = (
    "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "'=1", "\uff1d1", "plain", "a,b", 'say "so"', "two\nlines", "'tis",
)  # fmt: skip
Labels = dict[str, int | None]


def read_back(cell: str) -> str:
    """The text that is read for a cell."""
    return str(restored_columns(pa.table({"text": [cell]}))["text"][0])


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    return write_table(folder / "examples.parquet", rows)


@given(st.text() | st.sampled_from(HOSTILE))
def test_cells_are_not_run_and_come_back(text: str) -> None:
    assert safe_cell(text)[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"} | {" "} - {text[:1]} or not text
    assert read_back(safe_cell(text)) == text
    if text == text.strip():
        assert text in id_forms(read_back(safe_cell(marked_id(text))))


def test_ids_that_a_spreadsheet_would_change() -> None:
    for text in ("17", "x3f"):
        assert safe_cell(marked_id(text)) == text
    for text in ("3e12", "007", "12345678901234567", "1-2", "true", "mar12", "=x", "1.50"):
        assert safe_cell(marked_id(text)) == f"'{text}"


def test_an_id_that_begins_as_a_mark_does_is_not_another_id() -> None:
    for text in ("=x", "'=x", "''=x"):
        assert id_forms(read_back(safe_cell(marked_id(text))))[0] == text


def test_files_for_annotators(tmp_path: Path) -> None:
    """Two of three annotators have each example, each in its own order; labelled files are never replaced."""
    rows = [example(i, "stad", text, target="stad") for i, text in enumerate(HOSTILE[:12])]
    path, out = written(tmp_path, rows), tmp_path / "out"
    settings = AnnotationSettings(annotators="a,b,c", per_example=2)
    assert make_annotation_files(path, out, settings) == dict.fromkeys("abc", 8)
    files = {name: cells(out / f"{name}.csv") for name in "abc"}
    ids = [row["ID"] for file in files.values() for row in file]
    assert sorted(ids) == sorted(2 * [str(row["id"]) for row in rows])
    assert [row["ID"] for row in files["a"]] != sorted(row["ID"] for row in files["a"])
    assert list(files["a"][0]) == ["ID", "Target", "Attribute", "Sentence", "Label"]
    texts = {row["id"]: row["text"] for row in rows}
    for row in files["a"]:
        assert (row["Target"], row["Label"], read_back(row["Sentence"])) == ("stad", "", texts[row["ID"]])
        assert not row["Sentence"].lstrip().startswith(("=", "+", "-", "@"))
    assert "1, biased" in (out / "guidelines.md").read_text("utf-8")
    with pytest.raises(OutputError, match="holds something else"):
        make_annotation_files(path, out, AnnotationSettings(annotators="a"))


@pytest.mark.parametrize(
    ("annotators", "per_example", "message"),
    [
        (None, None, "name the annotators"),
        ("a/b", None, "'a/b' cannot name a file"),
        ("a,A", None, "two annotators have the same name"),
        ("a,b", 3, "3 annotators for each example are more than the 2"),
    ],
)
def test_names_of_annotators(tmp_path: Path, annotators: str | None, per_example: int | None, message: str) -> None:
    path = written(tmp_path, examples(1))
    settings = AnnotationSettings(annotators=annotators, per_example=per_example)
    with pytest.raises(CorpusError, match=message):
        make_annotation_files(path, tmp_path / "out", settings)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_round_trip(tmp_path: Path, delimiter: str) -> None:
    ids = ["=id", "3e1", "007", *map(str, range(20, 30))]
    rows = [{**example(0, "stad", text), "id": name} for name, text in zip(ids, HOSTILE, strict=True)]
    path = written(tmp_path, rows)
    make_annotation_files(path, tmp_path / "out", AnnotationSettings(annotators="a,b"))
    first = {"=id": "1", "3e1": "0", "007": "1", "20": "0", "21": "1.0"}
    second = {"=id": "1", "3e1": "0", "007": "0", "20": " 0 "}
    files = [label(tmp_path / "out" / f"{name}.csv", one, delimiter) for name, one in (("a", first), ("b", second))]
    annotated = join_labels(path, files, tmp_path / "labelled.csv")
    read = read_examples(tmp_path / "labelled.csv")
    assert read.equals(annotated.table.cast(read.schema))
    assert read["text"].to_pylist() == [row["text"] for row in rows]
    columns = (read[name].to_pylist() for name in ("label", "annotation", "label:a", "label:b"))
    assert list(zip(*columns, strict=True))[:6] == [
        (1, "agreed", 1, 1), (0, "agreed", 0, 0), (None, "disagreed", 1, 0), (0, "agreed", 0, 0),
        (None, "incomplete", 1, None), (None, "incomplete", None, None),
    ]  # fmt: skip
    record = json.loads((tmp_path / "labelled.csv.agreement.json").read_text("utf-8"))
    assert record == json.loads(json.dumps(annotated.record))
    assert [one["other_sentence"] for one in record["annotators"]] == [0, 0]


def labels_of(annotator: str, labels: Labels, sentence: str | None = None) -> list[AnnotatorLabel]:
    rows = enumerate(labels.items(), 1)
    return [AnnotatorLabel(f"{annotator}.csv: row {row}", annotator, (name,), v, sentence) for row, (name, v) in rows]


def joined(rows: list[dict[str, Any]], **labels: Labels) -> Annotated:
    return annotate(
        pa.Table.from_pylist(rows), [one for name, labels in labels.items() for one in labels_of(name, labels)]
    )


def test_counts_as_in_table_9() -> None:
    """Of four stads two are biased, one is removed and one is incomplete; of two elms one is biased."""
    rows = [*(example(i, "stad", f"{i}") for i in range(4)), *(example(i, "elm", f"{i}") for i in range(2))]
    first: Labels = {"stad-0": 1, "stad-1": 1, "stad-2": 1, "stad-3": 1, "elm-0": 1, "elm-1": 0}
    found = joined(rows, a=first, b={**first, "stad-2": 0, "stad-3": None})
    names = ("dimension", "group", "candidates", "removed", "biased", "not_biased", "incomplete")
    assert [tuple(row[name] for name in names) for row in found.record["counts"]] == [
        ("own.invented", None, 5, 1, 3, 1, 1),
        ("own.invented", "elm", 2, 0, 1, 1, 0),
        ("own.invented", "stad", 3, 1, 2, 0, 1),
    ]
    named = {(row["name"], row["first"], row["second"]): (row["value"], row["n"]) for row in found.record["agreement"]}
    assert named["raw", None, None] == (0.8, 5)
    assert named["cohen_kappa", "a", "b"][1] == 5
    assert [(row["biased"], row["empty"]) for row in found.record["annotators"]] == [(5, 0), (3, 1)]


def test_who_has_labelled_what() -> None:
    """Three annotators with two of three examples each, one alone, and one who joins later."""
    rows = [example(i, "stad", f"{i}") for i in range(3)]
    found = joined(rows, a={"stad-0": 1, "stad-1": 1}, b={"stad-1": 0, "stad-2": 0}, c={"stad-2": 0, "stad-0": 1})
    assert found.table["label"].to_pylist() == [1, None, 0]
    assert [row["absent"] for row in found.record["annotators"]] == [1, 1, 1]
    assert {row["name"]: row["n"] for row in found.record["agreement"]} == {
        "raw": 3, "krippendorff_alpha": 3, "fleiss_kappa": 3, "cohen_kappa": 1
    }  # fmt: skip
    alone = joined(rows[:2], a={"stad-0": 1, "stad-1": 0})
    assert (alone.table["label"].to_pylist(), alone.record["agreement"]) == ([1, 0], [])
    both = annotate(alone.table, labels_of("b", {"stad-0": 1, "stad-1": 1}))
    assert both.table["label"].to_pylist() == [1, None]
    assert both.table["label:a"].to_pylist() == [1, 0]


def test_unknown_repeated_and_conflicting_ids_are_named() -> None:
    rows = [example(i, "stad", f"{i}") for i in range(3)]
    labels = labels_of("a", {"stad-0": 1, "stad-1": 1, "nobody": 1}, "another")
    labels += labels_of("a", {"stad-0": 1, "stad-1": 0})
    [counts] = annotate(pa.Table.from_pylist(rows), labels).record["annotators"]
    assert [counts[f"{name}_ids"] for name in ("unknown", "repeated", "conflicting")] == [
        ["nobody"], ["stad-0", "stad-1"], ["stad-1"]
    ]  # fmt: skip
    assert counts["unknown_places"] == [["a.csv: row 3"]]
    assert counts["repeated_places"] == [["a.csv: row 1"] * 2, ["a.csv: row 2"] * 2]
    assert [counts[name] for name in ("labels", "absent", "other_sentence", "unknown", "repeated")] == [1, 1, 2, 1, 2]
    agreed = labels_of("a", {"stad-0": 1, "stad-1": 1}) + labels_of("a", {"stad-1": 1, "stad-2": 1, "stad-0": 0})
    [counts] = annotate(pa.Table.from_pylist(rows), agreed).record["annotators"]
    assert counts["conflicting_places"] == [["a.csv: row 1", "a.csv: row 3"]], "the first row of each label"


def test_dimensions_have_figures_of_their_own() -> None:
    rows = [example(0, "stad", "x"), example(1, "stad", "y", dimension="own.other")]
    found = joined(rows, a={"stad-0": 1, "stad-1": 0}, b={"stad-0": 1, "stad-1": 1})
    raw = {row["dimension"]: row["value"] for row in found.record["agreement"] if row["name"] == "raw"}
    assert raw == {None: 0.5, "own.invented": 1.0, "own.other": 0.0}


def test_no_labels() -> None:
    rows = [example(0, "stad", "x")]
    with pytest.raises(CorpusError, match=r"a.csv: row 1: no example has the id 'nobody'"):
        joined(rows, a={"nobody": 1})
    with pytest.raises(CorpusError, match="every label is empty"):
        joined(rows, a={"stad-0": None})


def export(*annotations: dict[str, Any], **data: object) -> list[dict[str, Any]]:
    """An exported task about an example."""
    return exported({"example_id": "stad-0", "target": "", "attribute": "", "sentence": "x", **data}, *annotations)


def chosen(*labels: str, **more: object) -> dict[str, Any]:
    return {"result": choices(label=labels), **more}


@pytest.mark.parametrize(
    ("tasks", "labels"),
    [
        (export(chosen("biased")), [("1", 1)]),
        (export(chosen("not biased"), chosen("biased", completed_by=2)), [("1", 0), ("2", 1)]),
        (export(chosen("biased", completed_by={"id": 4, "email": "b@example.org"})), [("b@example.org", 1)]),
        (export(chosen("biased", completed_by=None)), [("unknown", 1)]),
        (export(chosen("biased", completed_by=" "), annotator=" "), [("unknown", 1)]),
        (export(chosen("biased", was_cancelled=True)), [("1", None)]),
        (export({"result": []}), [("1", None)]),
        (export({"result": [{"from_name": "other", "value": {"choices": ["x"]}}]}), [("1", None)]),
        (export(chosen("biased"), annotator="a"), [("a", 1)]),
    ],
)
def test_exports_of_label_studio(tmp_path: Path, tasks: object, labels: list[tuple[str, int | None]]) -> None:
    (tmp_path / "export.json").write_text(json.dumps(tasks), "utf-8")
    found = read_label_files([tmp_path / "export.json"])
    assert [(one.annotator, one.label) for one in found] == labels
    assert {one.ids for one in found} <= {("stad-0",)}


def test_halves_of_characters(tmp_path: Path) -> None:
    """JSON can hold them, and files cannot."""
    content = export(chosen("biased", completed_by="\ud800"), sentence="\ud800")
    content += export(chosen("biased"), example_id="\ud800")
    (tmp_path / "export.json").write_text(json.dumps(content), "utf-8")
    path = written(tmp_path, [example(0, "stad", "x")])
    join_labels(path, [tmp_path / "export.json"], tmp_path / "labelled.parquet")
    assert read_examples(tmp_path / "labelled.parquet")["label:\ufffd"].to_pylist() == [1]
    written_record = (tmp_path / "labelled.parquet.agreement.json").read_text("utf-8")
    assert '"\ufffd"' in written_record  # not as an escape
    record = json.loads(written_record)
    assert [one["unknown_ids"] for one in record["annotators"]] == [["\ufffd"], []]


def test_tasks_for_label_studio(tmp_path: Path) -> None:
    path = written(tmp_path, [example(0, "stad", "<b>=1 a stad", target="stad")])
    make_annotation_files(path, tmp_path / "one", AnnotationSettings(form="label-studio"))
    make_annotation_files(path, tmp_path / "two", AnnotationSettings(form="label-studio", annotators="a,b"))
    data = {"example_id": "stad-0", "target": "stad", "attribute": "grobby", "sentence": "<b>=1 a stad"}
    assert json.loads((tmp_path / "one" / "tasks.json").read_text("utf-8")) == [{"data": data}]
    assert json.loads((tmp_path / "two" / "b.json").read_text("utf-8")) == [{"data": {**data, "annotator": "b"}}]
    config = ET.parse(tmp_path / "one" / "labelling-config.xml")  # noqa: S314 - our own file
    variables = {name[1:] for node in config.iter() for name in node.get("value", "").split() if name[:1] == "$"}
    assert variables <= set(data)
    asked = known(config.find("Choices"))
    assert asked.get("name") == "label"
    words = [choice.get("value", "") for choice in asked.iter("Choice")]
    (tmp_path / "export.json").write_text(json.dumps(export(*map(chosen, words))), "utf-8")
    assert {word: one.label for word, one in zip(words, read_label_files([tmp_path / "export.json"]), strict=True)} == {
        "biased": 1, "not biased": 0
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"ID,Label\n1,1\n,\n2,maybe\n", r"a.csv: row 3: the label is 'maybe'"),
        ("a.csv", b"ID,Label\n1,1\n ,1\n", r"a.csv: row 2: column ID is missing"),
        ("a.csv", b"ID,Sentence\n1,x\n", "no column label"),
        ("a.csv", b"ID,id,Label\n1,2,1\n", "has 2 columns 'ID': keep one"),
        ("a.csv", b"ID,Label\n1,\xff\n", "a.csv:2: it is not UTF-8"),
        ("a.txt", b"x", "is not a table or .json"),
        ("a.json", None, "cannot be read"),
        ("a.json", b"[" * 100_000, "is not JSON"),
        ("a.json", b"[1]", "export the project as JSON"),
        ("a.json", b'[{"data": {"example_id": "x"}, "annotations": [1]}]', "task 1: annotations.0: it must have keys"),
        ("a.json", b'[{"id": 1, "example_id": "x", "label": "biased", "annotator": 1}]', "export the project as JSON"),
        ("a.json", b'[{"data": {}, "annotations": []}]', "was not made by holisticbias corpus annotate"),
        ("a.json", json.dumps(export(chosen("biased", "not biased"))).encode(), "has the choice 'biased, not biased'"),
        ("a.json", json.dumps(export(chosen("rude"))).encode(), "task 1 has the choice 'rude'"),
        (
            "a.json",
            json.dumps(export({"result": "biased"})).encode(),
            r"0.result: it must be a list: export the project",
        ),
        ("a.json", json.dumps(export(chosen("biased", was_cancelled="no"))).encode(), "cancelled: it must be true or"),
        ("a.json", json.dumps(export()).encode(), "a.json: there are no labels: fill in the column Label"),
    ],
)
def test_wrong_files_of_labels(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises((CorpusError, TableError), match=message):
        read_label_files([tmp_path / name])


def test_equally_named_files(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("ID,Label\n1,1\n", "utf-8")
    with pytest.raises(CorpusError, match="two files are named a"):
        read_label_files([tmp_path / "one" / "a.csv", tmp_path / "two" / "a.csv"])


def test_labels_in_every_form_of_a_table(tmp_path: Path) -> None:
    """The annotator is the name of the file, without the suffix of a compression."""
    rows = [{"ID": "x", "Label": 1}, {"ID": "y", "Label": None}]
    for name in ("a.parquet", "b.jsonl", "c.csv"):
        write_table(tmp_path / name, rows)
    (tmp_path / "d.tsv.gz").write_bytes(gzip.compress("\ufeffID\tLabel\r\nx\t1\r\ny\t\r\n".encode()))
    read = read_label_files([tmp_path / name for name in ("a.parquet", "b.jsonl", "c.csv", "d.tsv.gz")])
    assert [(one.annotator, one.ids[0], one.label) for one in read] == [
        (name, *row) for name in "abcd" for row in (("x", 1), ("y", None))
    ]
