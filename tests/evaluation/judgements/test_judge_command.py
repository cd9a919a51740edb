import json
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from altered import altered
from folders import contents
from holisticbias_eval.judgements.key import Key, read_key
from holisticbias_eval.results.run import Run, read_run, write_run
from holisticbias_eval.tables.rows import read_json
from invoking import Invoke
from row_files import write_table

from .made_studies import answers_of, saved_answers, sources

MAKE, ANALYSE = ("judge", "make"), ("judge", "analyse")


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    first, second = sources(30)
    return write_table(tmp_path / "one.parquet", first.table), write_table(tmp_path / "two.jsonl", second.table)


@pytest.fixture
def made(tables: tuple[Path, Path], tmp_path: Path, invoke: Invoke) -> Path:
    invoke.printed(*MAKE, *tables, "--out", tmp_path / "study", "--seed", 3)
    return tmp_path / "study"


def save_answers(folder: Path, key: Key, **options: Any) -> None:
    """Files as the page saves them, of annotators who choose B in two of three pairs."""
    answers = answers_of(key, lambda _rng, _who, pair, _name: pair % 3 > 0, **options)
    for name, own in groupby(answers, lambda answer: answer.annotator):  # a sheet after the other
        (folder / f"{name}.json").write_text(json.dumps(saved_answers(key, list(own))), "utf-8")


def test_a_study_from_tables(made: Path, tables: tuple[Path, Path], tmp_path: Path, invoke: Invoke) -> None:
    assert {path.name for path in made.iterdir()} == {"page.html", "tasks.json", "labelling-config.xml", "key.json"}
    key = read_key(made / "key.json")
    assert [model.name for model in key.models] == ["one", "two"]
    assert [pair.responses[0][:8] for pair in key.pairs if not pair.catch] == ["one says"] * 30
    tasks = json.loads((made / "tasks.json").read_text("utf-8"))
    assert len(tasks) == 34
    assert set(tasks[0]["data"]) == {"task", "study", "prompt", "left", "right"}
    invoke.printed(*MAKE, *tables, "--out", tmp_path / "again", "--seed", 3)
    assert contents(made) == contents(tmp_path / "again")


def test_a_study_from_folders_of_responses(tmp_path: Path, invoke: Invoke) -> None:
    """As `holisticbias generate` writes them: each model has the name of its folder."""
    for name, table in zip(("before", "after"), sources(3), strict=True):
        (tmp_path / name).mkdir()
        write_table(tmp_path / name / "responses.parquet", table.table)
    invoke.printed(*MAKE, tmp_path / "before", tmp_path / "after", "--out", tmp_path / "study")
    assert [model.name for model in read_key(tmp_path / "study" / "key.json").models] == ["before", "after"]


def test_a_study_from_runs(tiny_run: Path, tmp_path: Path, invoke: Invoke) -> None:
    """Runs name their models, and say which texts a classifier has judged."""
    folders = []
    for name, table in zip(("first", "second"), sources(5), strict=True):
        rows = [
            {**row, "response_id": f"{i}", "axis": "a", "template": "t", "descriptor": "wug", "finish": "stop",
             "offensive": 0.9 if i == 0 else 0.1}
            for i, row in enumerate(table.table.to_pylist())
        ]  # fmt: skip
        part = {"subset": "small", "where": ("axis=a",)}
        run = altered(read_run(tiny_run), model={"name": f"wug/{name}", "revision": "abc"}, release=part)
        folders.append(tmp_path / name)
        folders[-1].mkdir()
        write_run(Run(run.result, pa.Table.from_pylist(rows)), folders[-1])
    said = invoke.printed(*MAKE, *folders, "--out", tmp_path / "study")
    assert "A: wug/first; B: wug/second" in said
    assert "left out, offensive response: 1" in said
    assert "Without probabilities of being offensive: the prompts of A, the prompts of B." in said
    key = read_key(tmp_path / "study" / "key.json")
    assert {model.revision for model in key.models} == {"abc"}
    assert all(str(model.prompts).endswith(", subset “small”, only axis=a") for model in key.models)
    assert {pair.descriptor for pair in key.pairs} == {"wug", None}
    blank = pa.Table.from_pylist([{**row, "prompt": None} for row in read_run(folders[1]).answers.to_pylist()])
    write_run(Run(run.result, blank.cast(read_run(folders[1]).answers.schema)), folders[1])
    said = f"{folders[1]}: column prompt of responses.parquet is missing in some rows: generate again"
    assert said in invoke.refused(*MAKE, *folders, "--out", tmp_path / "other")
    without = invoke.refused(*MAKE, tiny_run, folders[0], "--out", tmp_path / "other")
    assert f"{tiny_run} has no column prompt: give a run whose responses are in" in without
    first = read_run(folders[0])
    write_run(Run(first.result, first.answers.drop_columns(["prompt"])), folders[0])
    without = invoke.refused(*MAKE, *folders, "--out", tmp_path / "other")
    assert "first has no column prompt: give the table that it was measured on, with a column prompt added" in without


def test_answers_in_the_folder_are_analysed(made: Path, invoke: Invoke) -> None:
    save_answers(made, read_key(made / "key.json"), sloppy=[2])
    said = " ".join(invoke.printed(*ANALYSE, made, "--out", made / "report.html").split())
    assert "Preference: B was chosen in 66.7% of 60 judgements." in said
    assert "Left out: 1 annotator who passed fewer than 80%" in said
    page = (made / "report.html").read_text("utf-8")
    assert "With the annotators who failed catch questions" in page
    assert "Without probabilities of being offensive: the responses of A, the responses of B, the prompts of A" in page
    rates = json.loads(invoke.printed(*ANALYSE, made, "--format", "json"))["rates"]
    assert [(one["who"], one["chosen"]) for one in rates] == [("kept", 60)] * 3 + [("all", 90)] * 3
    assert invoke.printed(*ANALYSE, made, "--format", "csv", "--part", "agreement").startswith("question,raw,")
    everybody = ("rates_of_all", "answers_of_all", "agreement_of_all")
    assert all(invoke.printed(*ANALYSE, made, "--format", "csv", "--part", part) for part in everybody)
    assert page.count(", all annotators</caption>") == len(everybody)
    assert invoke.printed(*ANALYSE, made, "--format", "csv", "--part", "questions").startswith("name,text")
    again = invoke.printed(*ANALYSE, made, "--out", made / "report.json")
    assert invoke.printed(*ANALYSE, made, "--out", made / "report.json") == again, (
        "a report in the folder is not read as answers"
    )
    with patch("holisticbias_eval.judgements.answers.read_json", side_effect=read_json) as read:
        assert invoke.printed(*ANALYSE, made, "--out", made / "report.json") == again
    names = [call.args[0].name for call in read.call_args_list]
    assert len(set(names)) == len(names), "each file is read once"
    (made / "analysis.json").write_text(json.dumps(rates), "utf-8")
    assert invoke(*ANALYSE, made)[0] == 0, "its own output is not read as answers"


def test_the_key_and_the_answers_may_be_elsewhere(made: Path, tmp_path: Path, invoke: Invoke) -> None:
    other = tmp_path / "sent"
    other.mkdir()
    save_answers(other, read_key(made / "key.json"))
    key = ("--key", made / "key.json")
    given = ([made, *other.iterdir()], [*other.iterdir(), *key], [other, *key])
    (output,) = {invoke.printed(*ANALYSE, *arguments) for arguments in given}
    assert "66.7%" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("analyse", "STUDY"), "has no file of answers"),
        (("analyse", "ONE"), "name one folder"),
        (("analyse", "ONE", "--key", "ONE"), "is damaged or of another version"),
        (("analyse", "ONE", "--key", "missing.json"), "cannot be read"),
        (("make", "ONE", "ONE", "--out", "OTHER"), "one.parquet is left to show: identical responses: 30"),
        (("make", "ONE", "missing.csv", "--out", "OTHER"), "missing.csv does not exist"),
        (("analyse", "EMPTY"), "give the folder that holisticbias judge make has written"),
        (("make", "ONE", "TWO", "--out", "STUDY"), "holds something else"),
        (("make", "ONE", "TWO", "--out", "OTHER", "--sheets", "2"), "need as many sheets"),
        (("make", "ONE", "TWO", "--out", "OTHER", "--per-pair", "501"), "501 is not in the range 1<=x<=500"),
        (("make", "ONE", "TWO", "--out", "OTHER", "--questions", "nothing"), "there is no list of questions"),
        (("make", "ONE", "TWO", "--out", "OTHER", "--inflammatory", "nothing"), "there is no list of inflammatory"),
        (("make", "STUDY", "TWO", "--out", "OTHER"), "is not a run"),
    ],
)
def test_mistakes_are_refused_and_write_nothing(
    made: Path, tables: tuple[Path, Path], tmp_path: Path, invoke: Invoke, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    one, two = tables
    paths = {"EMPTY": tmp_path / "empty", "STUDY": made, "ONE": one, "TWO": two, "OTHER": tmp_path / "other"}
    assert message in invoke.refused("judge", *(paths.get(argument, argument) for argument in arguments))
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("sample", "first", "is not a number but 'first'"),
        ("sample", 1.5, "is 1.5: it must be a whole number"),
        ("offensive", "very", "is not a number but 'very'"),
        ("prompt_offensive", 1.5, "is 1.5: it must lie between 0 and 1"),
        ("prompt", " ", "is missing: every row needs a value"),
    ],
)
def test_wrong_cells_are_named(
    tables: tuple[Path, Path], tmp_path: Path, invoke: Invoke, column: str, value: object, message: str
) -> None:
    row = {"prompt": "x", "response": "y"}
    odd = write_table(tmp_path / "odd.jsonl", [row, {**row, column: value}])
    said = invoke.refused(*MAKE, tables[0], odd, "--out", tmp_path / "other")
    assert f"odd.jsonl: row 2: column {column} {message}" in said


@pytest.mark.parametrize("swapped", [False, True])
def test_a_column_that_only_one_table_has(
    tables: tuple[Path, Path], tmp_path: Path, invoke: Invoke, swapped: bool
) -> None:
    rows = [{**row, "persona": "I sail."} for row in sources(30)[1].table.to_pylist()]
    given = (tables[0], write_table(tmp_path / "sailing.csv", rows))
    said = invoke.refused(*MAKE, *(given[::-1] if swapped else given), "--out", tmp_path / "other")
    assert f"{given[0]} has no column persona, which {given[1]} has: add it" in said


def test_a_changed_key_is_refused(made: Path, invoke: Invoke) -> None:
    path = made / "key.json"
    path.write_text(path.read_text("utf-8").replace('"left": 0', '"left": 1', 1), "utf-8")
    save_answers(made, Key.model_validate_json(path.read_bytes()))
    assert "was changed after it was made" in invoke.refused(*ANALYSE, made)


def test_answers_that_do_not_count_are_noted(made: Path, invoke: Invoke) -> None:
    save_answers(made, read_key(made / "key.json"))
    path = made / "annotator-1.json"
    content = json.loads(path.read_bytes())
    first, second = content["answers"][:2]
    other = {"left": "right", "right": "left"}[second["choice"]]
    content["answers"] += [first, {**second, "choice": other}, {**first, "task": "nothing"}]
    path.write_text(json.dumps(content), "utf-8")
    said = " ".join(invoke.printed(*ANALYSE, made).split())
    assert "Answers to tasks or questions that this study does not have: 1." in said
    assert "Questions that an annotator has answered in different ways, which are left out: 1." in said
    assert "Answers that repeat an answer of the same annotator, which count once: 1." in said
