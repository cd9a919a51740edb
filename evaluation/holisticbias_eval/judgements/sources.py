"""Responses of a model to judge: from a run, or from a user's table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.judgements.key import JudgedModel
from holisticbias_eval.judgements.matching import JUDGED
from holisticbias_eval.results.run import RESPONSES, read_run
from holisticbias_eval.tasks.response_files import read_responses

_NEEDED = ("prompt", "response")
_NUMBERS = {"sample": pa.int64(), **dict.fromkeys(JUDGED, pa.float64())}


@dataclass(frozen=True, slots=True)
class JudgedResponses:
    """A model and the table of its responses, with the columns prompt and response."""

    model: JudgedModel
    table: pa.Table


def read_source(path: Path) -> JudgedResponses:
    """Read a run's folder, or a table with prompt and response (.parquet, .csv, .jsonl).

    Raises ``JudgementsError``, ``TableError``, ``RunError`` and ``TableError``.
    """
    if not path.exists():
        raise JudgementsError(f"{path} does not exist: give a run's folder, or a table with prompt and response")
    if not path.is_dir():
        name = path.stem if path.name != RESPONSES.file else path.resolve().parent.name
        return JudgedResponses(JudgedModel(name=name), _with_numbers(path, read_responses(path, _NEEDED)))
    run = read_run(path)
    missing = next((name for name in _NEEDED if name not in run.answers.column_names), None)
    if missing:
        raise JudgementsError(f"{path} has no column {missing}: give a run whose responses are in {RESPONSES.file}")
    if pc.sum(pc.is_null(run.answers["prompt"])).as_py():
        raise JudgementsError(f"{path}: column prompt of {RESPONSES.file} is missing in some rows: generate again")
    signature = run.result.signature
    about = signature.model
    model = JudgedModel(
        name=about.name,
        revision=about.revision,
        weights_sha256=about.weights_sha256,
        prompts=signature.release.prompts or f"release {signature.release.version}",
    )
    return JudgedResponses(model, _with_numbers(path, run.answers))


def _with_numbers(path: Path, table: pa.Table) -> pa.Table:
    """The table with the types of numbers in the columns that have them."""
    for i, name in enumerate(table.column_names):
        if name in _NUMBERS:
            try:
                table = table.set_column(i, name, table[name].cast(_NUMBERS[name]))
            except pa.ArrowException as error:
                raise JudgementsError(f"{path}: column {name} is not numbers: {str(error)[:100]}") from error
    return table
