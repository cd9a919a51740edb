"""Reading two runs to compare them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from holisticbias_eval.errors import RunError
from holisticbias_eval.report.runs import comparison_report
from holisticbias_eval.report.write import render
from holisticbias_eval.results.compare import compare_runs, read_two_runs
from holisticbias_eval.results.run import SCORES, Run, read_run, write_run


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


def test_damage_is_named_as_in_a_whole_run(folders: tuple[Path, Path]) -> None:
    path = folders[1] / SCORES.file
    path.write_bytes(b"PAR1 but no table PAR1")
    with pytest.raises(RunError, match=r"other/scores\.parquet cannot be read") as whole:
        read_run(folders[1])
    with pytest.raises(RunError) as read:
        read_two_runs(*folders)
    assert str(read.value) == str(whole.value)
