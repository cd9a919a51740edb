"""The classifiers that measures start, and ``holisticbias classify``."""

import json
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.classifying import SETTINGS
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers import READERS
from holisticbias_eval.readers.judging import JudgingOptions, choose_judges, describe_judges, start_judges
from holisticbias_eval.readers.labels import LabelReader, OffensivenessReader, StylesReader
from holisticbias_eval.readers.reader import Reader
from holisticbias_eval.tasks.response_files import read_responses
from invoking import Invoke
from quiet import QUIET
from row_files import write_table

Command = tuple[object, ...]
_T = {"axis": "nonce", "template": "T"}
ROWS: list[dict[str, Any]] = [
    {**_T, "descriptor": "blicket", "response": "Nice blickets!", "finish": "stop", "k": 1},
    {**_T, "descriptor": "blicket", "response": "No,\nno. Nice.", "finish": "length", "k": 2},
    {**_T, "descriptor": "doff", "response": "Nice", "finish": "refused", "k": 3},
    {**_T, "descriptor": "doff", "response": "", "finish": "stop", "k": 4},
    {**_T, "descriptor": "doff", "response": None, "finish": "stop", "k": 5},
    {**_T, "descriptor": "doff", "response": "NA", "finish": None, "k": 6},
]


@pytest.fixture
def kind_or_grumpy(lexicon_card: Callable[..., Path]) -> Path:
    phrases = {"kind": ["nice"], "grumpy": ["no", "blickets"]}
    return lexicon_card({"phrases": phrases, "otherwise": "curious"}, offensive="grumpy")


@pytest.fixture
def command(kind_or_grumpy: Path) -> Command:
    """The command that judges with this classifier."""
    return ("classify", "--classifier", kind_or_grumpy, "--responses")


def test_a_users_table_is_judged(command: Command, invoke: Invoke, tmp_path: Path) -> None:
    file, out = write_table(tmp_path / "responses.csv", ROWS), tmp_path / "judged.parquet"
    _, said, errors = invoke(*command, file, "--out", out)
    expected = f"judged 3 of 6 responses; mentions replaced: 1; wrote {out}"
    assert expected in said + errors
    table = pq.read_table(out)
    assert table.column_names == [*ROWS[0], "judged", "p:kind", "p:curious", "p:grumpy", "offensive"]
    assert table["judged"].to_pylist()[:3] == ["Nice left-handed!", "No,\nno. Nice.", None]
    assert table["p:kind"].to_pylist() == [1, pytest.approx(1 / 3), None, None, None, 0]
    assert table["p:curious"].to_pylist() == [0, 0, None, None, None, 1]
    assert table["p:grumpy"].to_pylist() == [0, pytest.approx(2 / 3), None, None, None, 0]
    assert table["offensive"].to_pylist() == table["p:grumpy"].to_pylist()
    assert table["k"].to_pylist() == [1, 2, 3, 4, 5, 6]
    settings = json.loads(table.schema.metadata[SETTINGS])
    assert (settings["classifier"], settings["censoring"][:11]) == ("made-up", "left-handed")


def test_without_censoring_and_without_a_descriptor(command: Command, invoke: Invoke, tmp_path: Path) -> None:
    whole = write_table(tmp_path / "whole.parquet", ROWS[:1])
    alone = write_table(tmp_path / "alone.parquet", [{"response": "Nice blickets!", "p:kind": 0.5, "p:old": 0.5}])
    for file, options in ((whole, ["--no-censor"]), (alone, [])):
        out = tmp_path / "judged.csv"
        invoke.printed(*command, file, "--out", out, *options)
        table = pa.csv.read_csv(out)
        assert table["judged"].to_pylist() == ["Nice blickets!"]
        assert table["p:kind"].to_pylist() == [0.5]
        assert table["p:grumpy"].to_pylist() == [0.5]
        assert "p:old" not in table.column_names


def test_the_name_of_the_output_is_checked_first(command: Command, invoke: Invoke, tmp_path: Path) -> None:
    error = invoke.refused(*command, tmp_path / "none.csv", "--out", tmp_path / "judged.txt")
    assert "judged.txt: its name must end in .parquet, .csv or .jsonl" in error


def test_json_lines_hold_lists_and_csv_does_not(command: Command, invoke: Invoke, tmp_path: Path) -> None:
    row = {**ROWS[0], "scores": [1, float("nan")], "at": date(2026, 1, 2)}
    file = write_table(tmp_path / "responses.parquet", [row])
    out, lines = tmp_path / "judged.csv", tmp_path / "judged.jsonl"
    assert "CSV cannot hold the table, write .parquet" in invoke.refused(*command, file, "--out", out)
    assert not out.exists()
    invoke.printed(*command, file, "--out", lines)
    row = json.loads(lines.read_text("utf-8"))
    assert (row["scores"], row["at"], row["p:kind"], row["offensive"]) == ([1, None], "2026-01-02", 1, 0)


def test_an_ending_that_no_response_has_and_text_that_is_not_utf_8_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("axis,template,descriptor,response,finish\na,b,c,d,eos\n", "utf-8")
    with pytest.raises(EvaluationError, match="column finish is 'eos': write stop or"):
        read_responses(tmp_path / "x.csv")
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])
    table = pa.Table.from_pylist(ROWS[:1])
    pq.write_table(table.set_column(3, "response", broken), tmp_path / "x.parquet")
    with pytest.raises(EvaluationError, match="cannot be read as a table"):
        read_responses(tmp_path / "x.parquet")


STYLES, OFFENSIVE = "calibration-styles", "calibration-offensiveness"
OWN = {"go-emotions": STYLES, "toxicity": OFFENSIVE}
LABELS, BOTH = (StylesReader,), (OffensivenessReader, StylesReader)


@pytest.mark.parametrize(
    ("readers", "named", "styles", "offensive"),
    [
        (LABELS, (), STYLES, None),
        (BOTH, (), STYLES, OFFENSIVE),
        (BOTH, (OFFENSIVE, STYLES), STYLES, OFFENSIVE),
        (BOTH, ("vader",), "vader", OFFENSIVE),
        (BOTH, (OFFENSIVE,), STYLES, OFFENSIVE),
        (LABELS, (OFFENSIVE,), OFFENSIVE, None),  # any classifier has styles
    ],
)
def test_classifiers_of_responses(
    readers: Sequence[type[LabelReader]], named: tuple[str, ...], styles: str, offensive: str | None, tmp_path: Path
) -> None:
    options = JudgingOptions(named, store=tmp_path)
    judges = start_judges(choose_judges(readers, OWN, options), options, QUIET)
    cards = {reader: judge.card.id for reader, judge in judges.items()}
    assert (cards["styles"], cards.get("offensiveness")) == (styles, offensive)
    assert list(describe_judges(judges.values())) == list(cards.values())
    assert all(judge.store is not None for judge in judges.values())


@pytest.mark.parametrize(
    ("readers", "named", "message"),
    [
        (LABELS, (OFFENSIVE, STYLES), f"--classifier: {OFFENSIVE} and {STYLES} are both for styles: name one"),
        (BOTH, (STYLES, "vader"), f"--classifier: {STYLES} and vader are both for styles: name one"),
        ((OffensivenessReader,), (STYLES,), f"{STYLES} names no offensive label: its card needs offensive: LABEL"),
        ((READERS["sentiment"],), (STYLES,), f"--classifier {STYLES}: no measure of this run uses it"),
    ],
)
def test_classifiers_that_do_not_fit(readers: Sequence[type[Reader]], named: tuple[str, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        choose_judges(readers, OWN, JudgingOptions(named))
    assert str(caught.value) == message


@pytest.fixture
def of_task(lexicon_card: Callable[..., Path]) -> Callable[[str], str]:
    """The card of a lexicon that both readers of texts can read, for a task."""
    labels = ["positive", "negative"]
    lexicon = {"labels": labels, "phrases": {"positive": ["a"]}}

    def write(task: str) -> str:
        made = lexicon_card(lexicon, labels=labels, offensive="negative", task=task)
        return str(made.rename(made.with_name(f"{task}.yaml")))

    return write


def test_a_classifier_of_texts_is_for_the_reader_of_its_task(of_task: Callable[[str], str]) -> None:
    readers = [READERS["toxicity"], READERS["regard"], READERS["sentiment"]]
    files = of_task("regard"), of_task("toxicity")
    assert choose_judges(readers, {}, JudgingOptions(files)) == {"regard": files[0], "toxicity": files[1]}
    assert choose_judges([READERS["sentiment"]], {}, JudgingOptions()) == {}
    with pytest.raises(EvaluationError, match="are both for toxicity: name one"):
        choose_judges(readers[:1], {}, JudgingOptions((files[1], files[1])))
