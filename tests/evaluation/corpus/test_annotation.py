"""Annotation is a round trip: files for annotators, their labels, and how far they agree."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.corpus.invented import example, examples

from holisticbias.errors import OutputError
from holisticbias.spreadsheet import cell_text, id_forms, safe_cell, safe_id
from holisticbias_eval.corpus.annotating import Annotated, GroupCounts, annotate, join_labels
from holisticbias_eval.corpus.annotation_files import AnnotatorLabel, make_annotation_files, read_label_files
from holisticbias_eval.corpus.examples import read_examples, write_examples
from holisticbias_eval.errors import CorpusError

HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "'=1",
    "\uff1d1",
    "plain",
    "a,b",
    'say "so"',
    "two\nlines",
    "'tis",
)


def written(folder: Path, rows: list[dict[str, Any]], suffix: str = ".parquet") -> Path:
    path = folder / f"examples{suffix}"
    write_examples(pa.Table.from_pylist(rows), path)
    return path


def cells(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def label(path: Path, labels: dict[str, str], delimiter: str = ",") -> Path:
    """Fill in the labels of an annotator, by id."""
    rows = cells(path)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows({**row, "Label": labels.get(row["ID"].lstrip("'"), "")} for row in rows)
    return path


@given(st.text() | st.sampled_from(HOSTILE))
def test_cells_are_not_run_and_come_back(text: str) -> None:
    assert safe_cell(text)[:1] not in {"=", "+", "-", "@", "\t", "\r", "\n"} | {" "} - {text[:1]} or not text
    assert cell_text(safe_cell(text)) == text
    if text == text.strip():
        assert text in id_forms(safe_id(text))


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("17", "17"), ("x3f", "x3f"), ("3e12", "'3e12"), ("007", "'007"), ("12345678901234567", "'12345678901234567"),
        ("1-2", "'1-2"), ("true", "'true"), ("mar12", "'mar12"), ("=x", "'=x"), ("1.50", "'1.50"),
    ],
)  # fmt: skip
def test_ids_that_a_spreadsheet_would_change(text: str, cell: str) -> None:
    assert safe_id(text) == cell


def test_files_for_annotators(tmp_path: Path) -> None:
    rows = [example(i, "stad", text, target="stad") for i, text in enumerate(HOSTILE)]
    assert make_annotation_files(written(tmp_path, rows), tmp_path / "out", "csv", ["a", "b"]) == dict.fromkeys(
        "ab", 13
    )
    found = cells(tmp_path / "out" / "a.csv")
    assert list(found[0]) == ["ID", "Target", "Attribute", "Sentence", "Label"]
    assert {row["ID"]: cell_text(row["Sentence"]) for row in found} == {row["id"]: row["text"] for row in rows}
    assert {row["Target"] for row in found} == {"stad"}
    assert {row["Label"] for row in found} == {""}
    assert not [row for row in found if row["Sentence"].lstrip().startswith(("=", "+", "-", "@"))]
    assert "1, biased" in (tmp_path / "out" / "guidelines.md").read_text("utf-8")
    assert [row["ID"] for row in found] != [row["ID"] for row in cells(tmp_path / "out" / "b.csv")]


def test_annotators_take_turns(tmp_path: Path) -> None:
    path = written(tmp_path, examples(4))
    assert make_annotation_files(path, tmp_path / "out", "csv", ["a", "b", "c"], per_example=2) == dict.fromkeys(
        "abc", 8
    )
    ids = [row["ID"] for name in "abc" for row in cells(tmp_path / "out" / f"{name}.csv")]
    assert sorted(ids) == sorted(2 * [str(row["id"]) for row in examples(4)])


@pytest.mark.parametrize(
    ("annotators", "per_example", "message"),
    [
        ([], None, "name the annotators"),
        (["a/b"], None, "'a/b' cannot name a file"),
        (["a", "A"], None, "two annotators have the same name"),
        (["a", "b"], 3, "3 annotators for each example are more than the 2"),
    ],
)
def test_names_of_annotators(tmp_path: Path, annotators: list[str], per_example: int | None, message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        make_annotation_files(
            written(tmp_path, examples(1)), tmp_path / "out", "csv", annotators, per_example=per_example
        )
    assert not (tmp_path / "out").exists()


def test_labelled_files_are_not_replaced(tmp_path: Path) -> None:
    path = written(tmp_path, examples(2))
    make_annotation_files(path, tmp_path / "out", "csv", ["a"])
    with pytest.raises(OutputError, match="holds something else"):
        make_annotation_files(path, tmp_path / "out", "csv", ["a"])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_round_trip(tmp_path: Path, delimiter: str) -> None:
    ids = ["=id", "3e1", "007", *map(str, range(20, 30))]
    rows = [{**example(0, "stad", text), "id": name} for name, text in zip(ids, HOSTILE, strict=True)]
    path = written(tmp_path, rows)
    make_annotation_files(path, tmp_path / "out", "csv", ["a", "b"])
    first = {"=id": "1", "3e1": "0", "007": "1", "20": "0", "21": "1.0"}
    second = {"=id": "1", "3e1": "0", "007": "0", "20": " 0 "}
    files = [
        label(tmp_path / "out" / "a.csv", first, delimiter), label(tmp_path / "out" / "b.csv", second, delimiter)
    ]  # fmt: skip
    annotated = join_labels(path, files, tmp_path / "labelled.csv")
    read = read_examples(tmp_path / "labelled.csv")
    assert read.equals(annotated.table.cast(read.schema))
    assert read["text"].to_pylist() == [row["text"] for row in rows]
    found = {row["id"]: (row["label"], row["annotation"], row["label:a"], row["label:b"]) for row in read.to_pylist()}
    assert list(found.values())[:6] == [
        (1, "agreed", 1, 1),
        (0, "agreed", 0, 0),
        (None, "disagreed", 1, 0),
        (0, "agreed", 0, 0),
        (None, "incomplete", 1, None),
        (None, "incomplete", None, None),
    ]
    record = json.loads((tmp_path / "labelled.agreement.json").read_text("utf-8"))
    assert record == json.loads(json.dumps(annotated.record()))
    assert [one["other_sentence"] for one in record["annotators"]] == [0, 0]


def given_labels(annotator: str, labels: dict[str, int | None]) -> list[AnnotatorLabel]:
    return [AnnotatorLabel(annotator, (name,), found, None) for name, found in labels.items()]


def joined(rows: list[dict[str, Any]], **labels: dict[str, int | None]) -> Annotated:
    given = [one for name, found in labels.items() for one in given_labels(name, found)]
    return annotate(pa.Table.from_pylist(rows), given)


def test_counts_as_in_table_9() -> None:
    """Of four stads two are biased, one is removed and one is incomplete; of two elms one is biased."""
    rows = [*(example(i, "stad", f"{i}") for i in range(4)), *(example(i, "elm", f"{i}") for i in range(2))]
    first: dict[str, int | None] = {"stad-0": 1, "stad-1": 1, "stad-2": 1, "stad-3": 1, "elm-0": 1, "elm-1": 0}
    found = joined(rows, a=first, b={**first, "stad-2": 0, "stad-3": None})
    assert found.counts == (
        GroupCounts("own.invented", None, 5, 1, 3, 1, 1),
        GroupCounts("own.invented", "elm", 2, 0, 1, 1, 0),
        GroupCounts("own.invented", "stad", 3, 1, 2, 0, 1),
    )
    named = {(one.name, one.first, one.second): (one.value, one.n) for one in found.agreement}
    assert named["raw", None, None] == (0.8, 5)
    assert named["cohen_kappa", "a", "b"][1] == 5
    assert found.annotators[1].empty == 1


def test_three_annotators_who_each_see_two_thirds() -> None:
    rows = [example(i, "stad", f"{i}") for i in range(3)]
    found = joined(rows, a={"stad-0": 1, "stad-1": 1}, b={"stad-1": 0, "stad-2": 0}, c={"stad-2": 0, "stad-0": 1})
    assert found.table["label"].to_pylist() == [1, None, 0]
    assert [one.absent for one in found.annotators] == [1, 1, 1]
    assert {one.name: one.n for one in found.agreement} == {
        "raw": 3, "krippendorff_alpha": 3, "fleiss_kappa": 3, "cohen_kappa": 1
    }  # fmt: skip


def test_unknown_repeated_and_conflicting_ids_are_named() -> None:
    rows = [example(i, "stad", f"{i}") for i in range(3)]
    given = given_labels("a", {"stad-0": 1, "stad-1": 1, "nobody": 1})
    given += given_labels("a", {"stad-0": 1, "stad-1": 0})
    [counts] = annotate(pa.Table.from_pylist(rows), given).annotators
    assert (counts.unknown_ids, counts.repeated_ids, counts.conflicting_ids) == (
        ("nobody",), ("stad-0", "stad-1"), ("stad-1",)
    )  # fmt: skip
    assert (counts.labels, counts.absent) == (1, 1)


def test_one_annotator_is_enough_if_there_is_only_one() -> None:
    found = joined([example(0, "stad", "x"), example(1, "stad", "y")], a={"stad-0": 1, "stad-1": 0})
    assert found.table["label"].to_pylist() == [1, 0]
    assert found.agreement == ()


def test_a_further_annotator_joins_later() -> None:
    rows = [example(i, "stad", f"{i}") for i in range(2)]
    first = joined(rows, a={"stad-0": 1, "stad-1": 0})
    both = annotate(first.table, given_labels("b", {"stad-0": 1, "stad-1": 1}))
    assert both.table["label"].to_pylist() == [1, None]
    assert both.table["label:a"].to_pylist() == [1, 0]


def test_dimensions_have_figures_of_their_own() -> None:
    rows = [example(0, "stad", "x"), example(1, "stad", "y", dimension="own.other")]
    found = joined(rows, a={"stad-0": 1, "stad-1": 0}, b={"stad-0": 1, "stad-1": 1})
    raw = {one.dimension: one.value for one in found.agreement if one.name == "raw"}
    assert raw == {None: 0.5, "own.invented": 1.0, "own.other": 0.0}


@pytest.mark.parametrize(
    ("labels", "message"),
    [({"nobody": 1}, "no example has the id 'nobody'"), ({"stad-0": None}, "every label is empty")],
)
def test_no_labels(labels: dict[str, int | None], message: str) -> None:
    with pytest.raises(CorpusError, match=message):
        joined([example(0, "stad", "x")], a=labels)


def export(*annotations: dict[str, Any] | None, **data: object) -> list[dict[str, Any]]:
    """Tasks as Label Studio exports them as JSON."""
    done = [
        {
            "id": 1001 + i,
            "completed_by": 1,
            "was_cancelled": False,
            "ground_truth": False,
            "created_at": "2026-03-09T22:16:08.728353Z",
            "updated_at": "2026-03-09T22:16:08.728378Z",
            "draft_created_at": None,
            "lead_time": 4.288,
            "prediction": {},
            "result_count": 1,
            "unique_id": "7d5b9d10-9f54-4c38-9d54-aa37dd8b7a8d",
            "import_id": None,
            "last_action": None,
            "task": 1,
            "project": 83,
            "updated_by": 1,
            "parent_prediction": None,
            "parent_annotation": None,
            "last_created_by": None,
            **(annotation or {}),
        }
        for i, annotation in enumerate(annotations)
    ]
    return [
        {
            "id": 1,
            "annotations": done,
            "file_upload": "0b3c-tasks.json",
            "drafts": [],
            "predictions": [],
            "data": {"example_id": "stad-0", "target": "", "attribute": "", "sentence": "x", **data},
            "meta": {},
            "created_at": "2026-03-09T21:52:49.513742Z",
            "updated_at": "2026-03-09T22:16:08.746926Z",
            "inner_id": 1,
            "total_annotations": len(done),
            "cancelled_annotations": 0,
            "total_predictions": 0,
            "project": 83,
            "updated_by": 1,
        }
    ]


def chosen(*choices: str, **more: object) -> dict[str, Any]:
    result = {"id": "Dx_aB91ISN", "type": "choices", "origin": "manual", "to_name": "sentence", "from_name": "label"}
    return {"result": [{**result, "value": {"choices": list(choices)}}], **more}


@pytest.mark.parametrize(
    ("tasks", "labels"),
    [
        (export(chosen("biased")), [("1", 1)]),
        (export(chosen("not biased"), chosen("biased", completed_by=2)), [("1", 0), ("2", 1)]),
        (export(chosen("biased", completed_by={"id": 4, "email": "b@example.org"})), [("b@example.org", 1)]),
        (export(chosen("biased", was_cancelled=True)), [("1", None)]),
        (export({"result": []}), [("1", None)]),
        (export({"result": [{"from_name": "other", "value": {"choices": ["x"]}}]}), [("1", None)]),
        (export(chosen("biased"), annotator="a"), [("a", 1)]),
        (export(), []),
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
    assert read_examples(tmp_path / "labelled.parquet")["label:?"].to_pylist() == [1]
    record = json.loads((tmp_path / "labelled.agreement.json").read_text("utf-8"))
    assert [one["unknown_ids"] for one in record["annotators"]] == [["\ud800"], []]


def test_tasks_for_label_studio(tmp_path: Path) -> None:
    path = written(tmp_path, [example(0, "stad", "<b>=1 a stad", target="stad")])
    make_annotation_files(path, tmp_path / "one", "label-studio", [])
    make_annotation_files(path, tmp_path / "two", "label-studio", ["a", "b"])
    data = {"example_id": "stad-0", "target": "stad", "attribute": "grobby", "sentence": "<b>=1 a stad"}
    assert json.loads((tmp_path / "one" / "tasks.json").read_text("utf-8")) == [{"data": data}]
    assert json.loads((tmp_path / "two" / "b.json").read_text("utf-8")) == [{"data": {**data, "annotator": "b"}}]
    config = ET.parse(tmp_path / "one" / "labelling-config.xml")  # noqa: S314 - our own file
    variables = {name[1:] for node in config.iter() for name in node.get("value", "").split() if name[:1] == "$"}
    assert variables <= set(data)
    choices = config.find("Choices")
    assert choices is not None
    assert choices.get("name") == "label"
    for choice in choices.iter("Choice"):
        (tmp_path / "export.json").write_text(json.dumps(export(chosen(choice.get("value", "")))), "utf-8")
        [found] = read_label_files([tmp_path / "export.json"])
        assert found.label == {"biased": 1, "not biased": 0}[choice.get("value", "")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"ID,Label\n1,maybe\n", r"a.csv:2: the label is 'maybe'"),
        ("a.csv", b"ID,Sentence\n1,x\n", "no column label"),
        ("a.csv", b"", "no column id"),
        ("a.csv", b"ID,Label\n1,\xff\n", "not UTF-8"),
        ("a.txt", b"x", "is not .csv or .json"),
        ("a.json", b"{", "is not JSON"),
        ("a.json", b"[" * 100_000, "is not JSON"),
        ("a.json", b"[1]", "export the project as JSON"),
        ("a.json", b'[{"id": 1, "example_id": "x", "label": "biased", "annotator": 1}]', "export the project as JSON"),
        ("a.json", b'[{"data": {}, "annotations": []}]', "was not made by holisticbias corpus annotate"),
        ("a.json", json.dumps(export(chosen("biased", "not biased"))).encode(), "has the choice 'biased, not biased'"),
        ("a.json", json.dumps(export(chosen("rude"))).encode(), "has the choice 'rude'"),
    ],
)
def test_wrong_files_of_labels(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        read_label_files([tmp_path / name])


def test_missing_and_equally_named_files(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot be read"):
        read_label_files([tmp_path / "none.csv"])
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.csv").write_text("ID,Label\n1,1\n", "utf-8")
    with pytest.raises(CorpusError, match="two CSV files are named a"):
        read_label_files([tmp_path / "one" / "a.csv", tmp_path / "two" / "a.csv"])
