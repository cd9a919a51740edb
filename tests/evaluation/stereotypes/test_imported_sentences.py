"""Sentences of files: a user's table, and invented rows in the forms of the published code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.stereotypes.imported import read_sentences
from invoking import Invoke

OWN = "sentence,attribute,group term\n"
GENERATED = ",Bias Name,Attribute word,Group Term,Generated sentence,Template version,Discarded,Reason for discard\n"
PAIRS = (
    ",group,group_term,template,sent_att_1,sent_att_2,add_refs,att_term_1,att_term_2,label_1,label_2,discarded,"
    "discard_cats,ref_len,trg_len\n"
)
SENTENCE = "A blicket learnt to gimble."
EXPECTED = (1, SENTENCE, "gimble", "blicket", "A_vs_B")

SENTENCES = ("stereotypes", "sentences")


def write(folder: Path, content: str, name: str = "sentences.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


def rows(path: Path) -> list[tuple[object, ...]]:
    """The sentences of a file: row, sentence, attribute, term and, if the file names it, specification."""
    found = [(s.row, s.sentence, s.attribute, s.term, s.specification) for s in read_sentences(path)]
    return [row if row[-1] else row[:-1] for row in found]


def test_a_table_of_sentences(tmp_path: Path) -> None:
    path = write(tmp_path, f'{OWN}"{SENTENCE}",gimble,blicket\n"No, a wug?\nYes.",burble,wug\n,burble,wug\n')
    assert rows(path) == [
        (1, SENTENCE, "gimble", "blicket"),
        (2, "No, a wug?\nYes.", "burble", "wug"),
        (3, "", "burble", "wug"),
    ]
    renamed = write(tmp_path, f"Term,Specification,Attribute,Sentence\nblicket,A_vs_B,gimble,{SENTENCE}\n")
    assert rows(renamed) == [EXPECTED]
    table = pa.table({"group_term": ["blicket"], "attribute": ["gimble"], "sentence": [SENTENCE]})
    pq.write_table(table, tmp_path / "sentences.parquet")
    assert rows(tmp_path / "sentences.parquet") == [(1, SENTENCE, "gimble", "blicket")]


def test_the_published_tables(tmp_path: Path) -> None:
    generated = f"{GENERATED}0,A_vs_B,gimble,blicket,{SENTENCE},a [T] learnt to gimble.,,\n"
    assert rows(write(tmp_path, generated)) == [EXPECTED]
    marked = generated + f"1,A_vs_B,gimble,blicket,{SENTENCE},x,1,I1\n"
    assert [found.is_discarded for found in read_sentences(write(tmp_path, marked))] == [False, True]
    other = "A wug learnt to gimble."
    pairs = f"{PAIRS}0,A_vs_B,gimble,A [T] ...,{SENTENCE},{other},[],blicket,wug,stereotype,anti-stereotype,,,0,1\n"
    assert rows(write(tmp_path, pairs)) == [EXPECTED]
    entry = {"sentence": SENTENCE, "group_term": "blicket", "attribute_term": "gimble"}
    biases = [{"name": "A_vs_B", "Calm": {"gimble": {"sentences": [entry], "t1_shots": []}}}]
    assert rows(write(tmp_path, json.dumps(biases), "made.json")) == [EXPECTED]
    entry["attribute_term"] = "half \ud83d"
    assert rows(write(tmp_path, json.dumps(biases), "made.json"))[0][2] == "half \ufffd"


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("sentence,attribute\nA.,b\n", "a.csv", "a.csv has no column term: a table of sentences has sentence"),
        (f"{OWN}A.,,c\n", "a.csv", "a.csv: row 1: the attribute is missing"),
        (f"{OWN}A.,b,\n", "a.csv", "a.csv: row 1: the term is missing"),
        ("[]", "a.json", "has no sentences"),
        ('[{"name": "x", "A": {"b": {}}}]', "a.json", "is not a gen_json file"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: str, name: str, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        read_sentences(write(tmp_path, content, name))


def test_imported_sentences_are_judged_and_written(invoke: Invoke, own: Path, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        f'{OWN}"{SENTENCE}",gimble,Blicket\nA wug learnt to gimble.,gimble,wug\n"A rath made no gimble.",gimble,rath\n'
        f"A blicket learnt to sing.,sing,blicket\nA bandersnatch learnt to burble.,burble,bandersnatch\n"
        f"I met Fitch who is burble.,burble,fitch\n",
    )
    options = (*SENTENCES, "--specification", own, "--import", path, "--out", tmp_path / "out")
    said = invoke.printed(*options)
    log = pq.read_table(tmp_path / "out" / "requests.parquet").to_pylist()
    unknown = "not-in-specification"
    assert [row["rule"] for row in log] == [None, "repeat", "negation", unknown, unknown, None]
    found: list[dict[str, Any]] = pq.read_table(tmp_path / "out" / "sentences.parquet").to_pylist()
    assert [(row["term"], row["group"], row["slot"], row["source"], row["generator"]) for row in found] == [
        ("blicket", "blickets", 0, "imported", "sentences.csv"),
        ("Fitch", "wugs", 2, "imported", "sentences.csv"),
    ]
    assert "accepted 2 of 6 texts" in said
    assert "3 attributes have too few sentences in the file: see sentences.json" in said
    said = invoke.printed(*options[:-1], tmp_path / "all", "--rules", "none")
    assert "accepted 4 of 6 texts" in said


def test_the_names_of_a_file_find_specifications(invoke: Invoke, own: Path, tmp_path: Path) -> None:
    def options(content: str, out: str = "out") -> tuple[str | Path, ...]:
        return (*SENTENCES, "--import", write(tmp_path, content), "--out", tmp_path / out)

    error = invoke.refused(*options(f'{OWN}"{SENTENCE}",gimble,blicket\n'))
    assert "does not name a specification in every row: give it with --specification" in error
    content = f"{GENERATED}0,A_vs_B,gimble,blicket,{SENTENCE},x,,\n1,C_vs_D,la,le,A le la.,x,,\n"
    assert "there is no specification 'A_vs_B'" in invoke.refused(*options(content))
    assert not (tmp_path / "out").exists()
    code, said, error = invoke(*options(content), "--specification", own)
    assert code == 0
    assert "1 of 2 sentences are of other specifications and are left out" in error
    assert "accepted 1 of 1 texts" in said
    published = f"{GENERATED}0,Math_Arts_vs_Male_Female,poetry,boy,A boy wrote about poetry today.,x,,\n"
    assert "accepted 1 of 1 texts" in invoke.printed(*options(published, "named"))
