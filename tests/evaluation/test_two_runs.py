"""Reading two runs to compare them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from holisticbias_eval.errors import RunError
from holisticbias_eval.prompts.prompts import UNIQUE
from holisticbias_eval.report.runs import comparison_report
from holisticbias_eval.report.write import render
from holisticbias_eval.results.compare import compare_runs
from holisticbias_eval.results.run import RESULT, SCORES, Run, read_run, write_run
from holisticbias_eval.results.two_runs import checked_table, read_two_runs, read_two_tables

DETAILS = {"descriptor", "template"}


@pytest.fixture
def folders(tiny_run: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A run, and the same run with other scores."""
    made = read_run(tiny_run)
    scores = made.answers
    place = scores.column_names.index("perplexity")
    reverse = pa.array(scores["perplexity"].to_numpy()[::-1])
    return tiny_run, written(replace(made, answers=scores.set_column(place, "perplexity", reverse)), tmp_path / "other")


def written(run: Run, folder: Path) -> Path:
    folder.mkdir()
    write_run(run, folder)
    return folder


def shown(first: Run, second: Run) -> tuple[str, bytes]:
    compared = compare_runs(first, second)
    return compared.model_dump_json(), render(comparison_report(compared, second), "html", None)


def is_shared(one: pa.ChunkedArray, other: pa.ChunkedArray) -> bool:
    return all(
        a is b or (a is not None and b is not None and a.address == b.address)
        for a, b in zip(one.chunk(0).buffers(), other.chunk(0).buffers(), strict=True)
    )


def test_they_compare_as_whole_runs_do(folders: tuple[Path, Path]) -> None:
    read, whole = read_two_runs(*folders), [read_run(folder) for folder in folders]
    assert shown(*read) == shown(whole[0], whole[1])


def test_runs_of_other_sentences_compare_as_whole_runs_do(folders: tuple[Path, Path], tmp_path: Path) -> None:
    made = read_run(folders[1])
    fewer = replace(made, answers=made.answers.slice(5))
    changed = made.answers.set_column(1, "text", pa.array([f"{text}!" for text in made.answers["text"].to_pylist()[:9]]
                                                         + made.answers["text"].to_pylist()[9:]))  # fmt: skip
    for name, run in (("fewer", fewer), ("changed", replace(made, answers=changed))):
        folder = written(run, tmp_path / name)
        assert shown(*read_two_runs(folders[0], folder)) == shown(read_run(folders[0]), read_run(folder))


def test_equal_columns_are_held_once_and_texts_as_numbers(folders: tuple[Path, Path]) -> None:
    one, other = (run.answers for run in read_two_runs(*folders))
    for name in UNIQUE:
        assert one[name].to_pylist() == other[name].to_pylist() == list(range(one.num_rows))
    assert {name for name in one.column_names if not is_shared(one[name], other[name])} == {"perplexity"}


def test_only_what_is_asked_for_is_numbered(folders: tuple[Path, Path]) -> None:
    first, second = (checked_table(folder / SCORES.file) for folder in folders)
    one, other = read_two_tables(first, second, ["text", "nll"], ["text"])
    assert one["text"].to_pylist() == other["text"].to_pylist() == pq.read_table(first.path)["text"].to_pylist()
    assert (one.column_names, other.column_names) == (["text", "nll"], ["text"])


@pytest.mark.parametrize("form", ["as written", "one line"])
def test_figures_of_a_descriptor_in_a_template_are_left_out(folders: tuple[Path, Path], form: str) -> None:
    whole = read_run(folders[1]).result
    if form == "one line":
        content = json.loads((folders[1] / RESULT).read_bytes())
        (folders[1] / RESULT).write_text(json.dumps(content), "utf-8")
    found = read_two_runs(*folders)[1].result
    assert found.figures == tuple(f for f in whole.figures if not DETAILS.issubset(f.keys))
    assert 0 < len(found.figures) < len(whole.figures)
    assert found.model_copy(update={"figures": whole.figures}) == whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"unit":"perplexity"', '"unit":7'),
        ('"measure":"medians"', '"measure":null'),
        ('"figures": [', '"figures": [,'),
        ('"signature": {', '"signature": {{'),
        ("\n  ]\n}\n", "\n  ]\n"),
    ],
)
def test_damage_is_named_as_in_a_whole_run(folders: tuple[Path, Path], old: str, new: str) -> None:
    path = folders[1] / RESULT
    content = path.read_text("utf-8")
    assert old in content
    path.write_text(new.join(content.rsplit(old, 1)), "utf-8")
    with pytest.raises(RunError) as whole:
        read_run(folders[1])
    with pytest.raises(RunError) as read:
        read_two_runs(*folders)
    assert str(read.value) == str(whole.value)


def test_scores_that_cannot_be_read_are_named(folders: tuple[Path, Path]) -> None:
    path = folders[1] / SCORES.file
    path.write_bytes(b"PAR1 but no table PAR1")
    with pytest.raises(RunError, match=r"other/scores\.parquet cannot be read"):
        read_two_runs(*folders)
