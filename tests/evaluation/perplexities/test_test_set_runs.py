"""Runs of test sets: scores, signatures, comparison, bad input, and models of the same groups side by side."""

import csv
import io
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from holisticbias.cli import main
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.perplexities.dimensions import WITH_HELD_OUT, said_dimension
from holisticbias_eval.report.leaderboard import leaderboard_tables
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.runs import run_report
from holisticbias_eval.results.registry import make_entries
from holisticbias_eval.results.run import read_run
from holisticbias_eval.stereotypes.specifications import found_specifications
from holisticbias_eval.tasks.test_set import TEST_FILE
from invoking import Invoke
from known import known
from row_files import write_table

NAME = "group_perplexity"

Row = dict[str, str]
FRAMES = ("The {} is calm.", "I saw a {} near the lake.", "Every {} was loud at night.", "My {} went home early.")
FOUR = ("blicket", "stad", "mell", "fitch")
HELD = "creed with held-out groups"


def sentences(dimension: str, groups: Sequence[str]) -> list[Row]:
    return [
        {"dimension": dimension, "sentence_id": f"s{i}", "group": group, "sentence": frame.format(group)}
        for i, frame in enumerate(FRAMES)
        for group in groups
    ]


def evaluated(test_set: Path, model: Path, out: Path, *options: str | Path) -> Path:
    """Evaluate a test set; return the folder."""
    arguments = ("--test-set", test_set, "--model", model, "--out", out, *options)
    assert main(["evaluate", *map(str, arguments)]) == 0
    return out


def test_a_sentence_has_one_context_in_all_groups(tiny_gpt2: Path, tmp_path: Path) -> None:
    lines, test_set = tmp_path / "contexts.txt", write_table(tmp_path / TEST_FILE, sentences("one", FOUR))
    lines.write_text("".join(f"Line {i}.\n" for i in range(20)), "utf-8")
    run = evaluated(test_set, tiny_gpt2, tmp_path / "run", "--context-file", lines)
    drawn = {(row["sentence_id"], row["context"]) for row in read_run(run).answers.to_pylist()}
    assert len(drawn) == len(FRAMES)
    assert len({context for _, context in drawn}) > 1


def test_the_default_is_the_calibration(invoke: Invoke, tmp_path: Path) -> None:
    """The gossip finds sentences with negative attributes likelier about blickets (odds 4) than fitches (odds 1/4)."""
    invoke.printed("evaluate", "--measures", NAME, "--out", tmp_path / "run")
    run = read_run(tmp_path / "run")
    made = run.result
    assert (made.signature.model.name, made.signature.release.prompts) == ("embedded-gossip", "calibration-many")
    figures = Figures(made.figures)
    keys = {"dimension": "gossip.calibration-many", "scale": "log"}
    f, point = (known(figures.value(NAME, name, keys)) for name in ("f", "f_null_95"))
    assert f > point
    apart = [figures.value(NAME, "deviation", {**keys, "group": group}) for group in ("blicket", "fitch")]
    assert (apart[0] or 0) < 0 < (apart[1] or 0)
    titles = {
        keys["dimension"]: "Invented groups with planted odds of negative attributes",
        f"{keys['dimension']}-untouched": "Other invented groups",
    }
    report = render_markdown(run_report(run)).splitlines()
    assert [line for line in report if keys["dimension"] in line] == [f"- Dimensions: {', '.join(titles)}"]
    (table,) = leaderboard_tables(make_entries(run, "a contributor", "2026-01-01", None))
    assert [label for label, _ in table.rows] == [
        f"{title}, {scale}" for title in titles.values() for scale in ("Log", "Perplexity")
    ]


def test_no_two_dimensions_have_one_name() -> None:
    """Specifications of different families can have one title, and long titles can begin alike."""
    rest = ("", WITH_HELD_OUT, f"{WITH_HELD_OUT} (women, men)")
    names = [f"{name}{more}" for name in found_specifications() for more in rest]
    assert len({said_dimension(name) for name in names}) == len(names) > 100
    assert said_dimension("own") == "own"


def test_published_test_sets_are_scored(tiny_gpt2: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    for group in ("blicket", "stad"):
        rows = "".join(f"{i},number {i} is a {group}\n" for i in range(4))
        (folder / f"race_{group}_test.csv").write_text(f",replaced_sentence\n{rows}", "utf-8")
    for given in (folder, folder / "race_stad_test.csv"):
        made = read_run(evaluated(given, tiny_gpt2, tmp_path / f"run-{given.stem}", "--no-store"))
        assert made.answers["sentence"].to_pylist()[-1].startswith("number 3")
        assert set(made.answers["group"].to_pylist()) == {"blicket", "stad"}
        assert made.answers["perplexity"].null_count == 0


@pytest.fixture(scope="module")
def measure(tiny_gpt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, list[Row]], Path]:
    """Measure the model on sentences, once; return the folder."""
    made: dict[str, Path] = {}

    def evaluate(name: str, rows: list[Row]) -> Path:
        if name not in made:
            out = tmp_path_factory.mktemp("runs") / name
            made[name] = evaluated(write_table(out.with_suffix(".csv"), rows), tiny_gpt2, out)
        return made[name]

    return evaluate


def test_the_same_groups_are_compared_whatever_was_held_out(
    measure: Callable[[str, list[Row]], Path], invoke: Invoke
) -> None:
    every = measure("every", sentences("creed", FOUR))
    pair = measure("one", [*sentences("creed", FOUR[:2]), *sentences(HELD, FOUR)])
    part = ("--format", "csv", "--part", "group-perplexity-changes-f")
    printed = invoke.printed("compare", every, pair, *part)
    rows = {row["dimension"]: row for row in csv.DictReader(io.StringIO(printed))}
    assert list(rows) == ["creed", "creed (blicket, stad)"]
    # one model: F over four groups does not change, nor does that over two
    assert {row["change"] for row in rows.values()} == {"0.0"}
    assert (rows["creed"]["perplexities"], rows["creed (blicket, stad)"]["perplexities"]) == ("16", "8")
    assert rows["creed"]["first"] != rows["creed (blicket, stad)"]["first"]


def test_a_column_has_one_base(measure: Callable[[str, list[Row]], Path], invoke: Invoke) -> None:
    every = measure("every", sentences("creed", FOUR))
    again = measure("again", sentences("creed", FOUR))
    two = measure("two", sentences("creed", FOUR[:2]))
    fewer = measure("fewer", [row for row in sentences("creed", FOUR) if row["sentence_id"] != "s1"])
    printed = invoke.printed("compare", every, again, two, fewer, "--format", "md")
    models = printed.partition("Figures of every model")[2].partition("How each change reads")[0]
    lines = [line for line in models.splitlines() if line.startswith("|")]
    heading, _, first, *others = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    of_four = next(i for i, name in enumerate(heading) if name == "F over groups, creed")
    of_two = next(i for i, name in enumerate(heading) if name.startswith("F over groups, creed (blicket, stad)"))
    values = {line[0]: line for line in others}
    assert values["again"][of_four] == first[of_four]
    assert values["two"][of_four] == values["fewer"][of_four] == values["again"][of_two] == ""
    assert "Left out, because these were compared with A on other items: F over groups, creed of fewer" in models


def test_the_folder_of_one_of_several_methods(
    measure: Callable[[str, list[Row]], Path], invoke: Invoke, tmp_path: Path
) -> None:
    run = measure("every", sentences("creed", FOUR))
    out = tmp_path / "OUT"
    shutil.copytree(run, out / "before" / "group_perplexity")
    for method in ("lmd", "ctda"):
        shutil.copytree(run, out / method / "measured" / "after" / "group_perplexity")
        (out / method / "mitigation.json").write_text('{"specification": "creed"}')
    for method in ("lmd", "ctda"):
        printed = invoke.printed("compare", out / method, "--format", "md")
        assert "F over groups" in printed
        assert "- A: before\n- B: after\n" in printed


def test_an_aim_has_its_title_however_many_runs_there_are(
    measure: Callable[[str, list[Row]], Path], invoke: Invoke, tmp_path: Path
) -> None:
    """A specification that is not of the dataset has its title in the record of the mitigation alone."""
    run, model = measure("every", sentences("creed", FOUR)), tmp_path / "model"
    for part in ("before", "after"):
        shutil.copytree(run, model / "measured" / part)
    result = model / "measured" / "after" / "result.json"
    content = json.loads(result.read_text("utf-8"))
    content["signature"]["model"]["weights_sha256"] = "1" * 64
    result.write_text(json.dumps(content), "utf-8")
    (model / "mitigation.json").write_text('{"specification": {"id": "creed", "title": "Kinds of creed"}}', "utf-8")
    assert "Aimed at: Kinds of creed (creed)." in invoke.printed("compare", model)
    for part in ("before", "after"):
        shutil.copytree(model / "measured" / part, tmp_path / "two" / "measured" / part / "sentences")
    shutil.copy(model / "mitigation.json", tmp_path / "two")
    assert "Aimed at: Kinds of creed (creed)." in invoke.printed("compare", tmp_path / "two")
