"""``holisticbias corpus retrieve`` from the command line."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.evaluation.corpus.invented import PLURALS

from holisticbias_eval.corpus.examples import COLUMNS, read_examples
from invoking import Invoke
from row_files import as_lines, write_table


def command(folder: Path, *arguments: object, out: str = "out.jsonl") -> tuple[object, ...]:
    fixed = ("--specification", folder / "invented.yaml", "--out", folder / out)
    return ("corpus", "retrieve", *fixed, *arguments)


def rows(folder: Path, out: str = "out.jsonl") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_examples(folder / out).to_pylist()
    return found


def record(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out.jsonl.retrieval.json").read_text())
    return found


BODIES: list[dict[str, Any]] = [
    {"id": "a", "body": "The BLICKETS are Grobby 😀 https://a.b", "created_utc": 1620000000},
    {"id": "b", "body": "Stads flerning", "created_utc": "2021-05-03"},
    {"id": "c", "body": "elmfolk are mizzic", "created_utc": "2019-03-10"},
    {"id": "t1_d", "body": "stads are grobby", "created_utc": "2019-03-09"},
    {"id": "e", "body": "stads are ugsome", "created_utc": "2022-03-10"},
    {"id": "f", "body": "blickets are vime"},
    {"id": "g", "body": "wugs are vime"},
    {"id": "h", "body": "wugs and stads are vime"},
    {"id": "i", "body": "stads are arble", "author": "grob_bot"},
    {"id": "j", "body": "[removed]"},
    {"id": "k", "body": "stads came"},
    {"id": "l", "body": "nobody came"},
    {"id": "m", "body": "  blickets ARE vime"},
]


def test_the_papers_rules(folder: Path, invoke: Invoke) -> None:
    path = write_table(folder / "a.jsonl", BODIES)
    code, said, errors = invoke(*command(folder, path, "--until", "2022-03-10"))
    assert code == 0, errors
    found = rows(folder)
    assert list(found[0]) == list(COLUMNS)
    texts = {one["group"]: one["text"] for one in found if one["group"] != "blicket"}
    assert texts == {"stad": "stads flerning", "elm": "elmfolk are mizzic"}
    (stad,) = (one for one in found if one["group"] == "stad")
    expected = ["own.invented", "stad", "stads", "flern*", "negative", "stads flerning", "b", "2021-05-03"]
    assert [stad[name] for name in COLUMNS[1:]] == expected
    made = record(folder)
    assert made["groups"] == {
        "blicket": {"found": 3, "held": 2, "kept": 1},
        "stad": {"found": 1, "held": 1, "kept": 1},
        "elm": {"found": 1, "held": 1, "kept": 1},
    }
    left_out = {"outside the dates": 2, "written by a bot": 1, "deleted": 1}
    assert made["documents"] == {"read": 13, "mentioning_a_group": 11, "kept_without_a_date": 5, "left_out": left_out}
    assert made["mentions_left_out"] == {"held-out group": 1, "several groups": 2, "no attribute": 1, "repeated": 1}
    assert "Kept: 5 documents without a date" in said
    assert "The texts belong to their authors" in errors


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_examples_are_a_table_of_texts(form: str, folder: Path, invoke: Invoke) -> None:
    path, out = write_table(folder / "a.jsonl", BODIES), folder / f"out.{form}"
    invoke.printed(*command(folder, path, "--unequal", out=out.name))
    found = invoke.figures("measure", "sentiment", out).by("sentiment", "mean", "group")
    assert {figure.keys["group"]: figure.n for figure in found} == {"blicket": 2, "stad": 3, "elm": 1}


def test_documents_of_older_examples_are_read(tmp_path: Path) -> None:
    row = {"dimension": "own.invented", "group": "stad", "text": "stads came", "source": "b"}
    (found,) = read_examples(write_table(tmp_path / "old.csv", [row])).to_pylist()
    assert (found["document"], "source" in found) == ("b", False)
    (found,) = read_examples(write_table(tmp_path / "new.csv", [{**row, "document": "c"}])).to_pylist()
    assert found["document"] == "c"


def test_options(folder: Path, invoke: Invoke) -> None:
    path = write_table(folder / "a.jsonl", BODIES)
    said = invoke.printed(*command(folder, path, "--unequal", "--held-out"))
    assert "without a date" not in said
    assert Counter(one["group"] for one in rows(folder)) == {"blicket": 2, "stad": 3, "elm": 1, "wug": 1}
    invoke.printed(*command(folder, path, "--dated", "--unequal"))
    assert sorted(one["document"] for one in rows(folder)) == ["a", "b", "c", "e", "t1_d"]
    assert record(folder)["documents"]["left_out"]["without a date"] == 5
    invoke.printed(*command(folder, path, "--unequal", "--per-group", 2, "--until", "2022-03-10", "--years", 4))
    assert Counter(one["group"] for one in rows(folder)) == {"blicket": 2, "stad": 2, "elm": 1}
    invoke.printed(*command(folder, path, "--words", 1, "--unequal"))
    assert {one["text"] for one in rows(folder)} == {"stads flerning"}
    assert invoke(*command(folder, path, "--field", "id"))[0] == 1
    without_elm = write_table(folder / "b.jsonl", [*BODIES[:2], BODIES[5]])
    invoke.printed(*command(folder, without_elm))
    assert Counter(one["group"] for one in rows(folder)) == {"blicket": 1, "stad": 1}


def test_what_an_author_withdraws(folder: Path, invoke: Invoke) -> None:
    """By id with or without t1_, by place, and by the example's id."""
    path = write_table(folder / "a.jsonl", [*BODIES, {"body": "elmfolk are vime"}])
    invoke.printed(*command(folder, path, "--unequal"))
    example = next(one["id"] for one in rows(folder) if one["document"] == "f")
    (folder / "gone").write_text(f"t1_a\nd\n\na.jsonl:14\nx\u2028b\n{example}\n", "utf-8")
    invoke.printed(*command(folder, path, "--unequal", "--without", folder / "gone"))
    assert sorted(one["document"] for one in rows(folder)) == ["b", "c", "e"]
    assert record(folder)["documents"]["left_out"]["withdrawn"] == 3
    assert record(folder)["mentions_left_out"]["withdrawn"] == 2
    error = invoke.refused(*command(folder, path, "--without", folder / "absent"))
    assert "give a file with one identifier per line" in error


def many(count: int) -> list[dict[str, Any]]:
    """More sentences of some groups than of others, each twice."""
    return [
        {"id": f"{i}", "body": f"gate {i // 2} {PLURALS[place]} are grobby"}
        for i in range(count)
        for place in range(3)
        if i % (place + 1) == 0
    ]


def test_equal_numbers_whatever_the_order(folder: Path, invoke: Invoke) -> None:
    """The same draw for any order of documents; another for another seed."""
    forth, back = many(200), many(200)[::-1]
    texts = []
    for given, seed, out in ((forth, 0, "out.parquet"), (back, 0, "out.csv"), (forth, 1, "out.jsonl")):
        path = write_table(folder / "a.jsonl", given)
        invoke.printed(*command(folder, path, "--per-group", 20, "--seed", seed, out=out))
        found = rows(folder, out)
        assert Counter(one["group"] for one in found) == {"blicket": 20, "stad": 20, "elm": 20}
        assert len({one["id"] for one in found}) == len({one["text"] for one in found}) == 60
        texts.append([one["text"] for one in found])
    assert texts[0] == texts[1] != texts[2]


def test_several_files_with_bad_lines_and_a_cut_archive(folder: Path, invoke: Invoke) -> None:
    packed = zstandard.ZstdCompressor().compress(as_lines(many(2_000)))
    (folder / "a.zst").write_bytes(packed[:-2000])
    (folder / "b.txt").write_text("the stads are\x1b[31m grobby\n\xff")
    (folder / "c.jsonl").write_text("oops\n")
    files = (folder / name for name in ("a.zst", "b.txt", "c.jsonl"))
    code, _, errors = invoke(*command(folder, *files, "--unequal"))
    assert code == 0
    assert "Not read to the end: a.zst: its compressed data ends in the middle; what was" in errors
    assert "Skipped: 1 lines, the first c.jsonl:1: not a JSON object" in errors
    assert len(rows(folder)) > 300
    assert "\x1b" not in "".join(one["text"] for one in rows(folder))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "none of 0 documents mentions a group of own.invented"),
        (
            '{"body": "nobody"}\nx\n',
            "none of 2 documents mentions a group .*; 1 lines are not valid, the first a.jsonl:2",
        ),
        ('{"body": "stads came"}\n', r"but no sentence can be kept \(no attribute: 1\)"),
        ('{"body": "wugs are grobby"}\n', r"no sentence can be kept \(held-out group: 1\)"),
        ('{"said": "stads are grobby"}\n', "no row has a text in the field body, text, comment: .* found 'said'"),
    ],
)
def test_nothing_found(folder: Path, invoke: Invoke, content: str, message: str) -> None:
    (folder / "a.jsonl").write_text(content)
    code, _, error = invoke(*command(folder, folder / "a.jsonl"))
    assert (code, bool(re.search(message, error))) == (1, True), error
    assert sorted(one.name for one in folder.iterdir()) == ["a.jsonl", "invented.yaml"]


def test_mistakes_are_found_before_reading(folder: Path, invoke: Invoke) -> None:
    path, text = write_table(folder / "a.jsonl", BODIES), folder / "b.txt"
    text.write_text("stads are grobby\n", "utf-8")
    for arguments, out, message in (
        ((path,), "out.txt", "must end in"),
        ((path,), "", "must end in"),
        ((path,), "a.jsonl", "a.jsonl is read, and would be lost"),
        ((path, "--years", 2), "out.csv", "--years is for runs with --until"),
        ((path, "--until", "2022-03-10", "--years", 1000), "out.csv", None),
        ((path, "--until", "0900-03-10", "--years", 1000), "out.csv", "there is no year -100"),
        ((path, "--until", "soon"), "out.csv", "soon"),
        ((path, "--paragraphs"), "out.csv", "--paragraphs is for text files: here it has no effect"),
        ((text, "--field", "body"), "out.csv", "--field is for JSON and datasets: here it has no effect"),
        ((path, text, "--paragraphs", "--field", "body"), "out.csv", None),
    ):
        code, _, errors = invoke(*command(folder, *arguments, out=out))
        assert (code == 0) == (message is None)
        assert message is None or message in errors
