"""Read a user's table of scored lines, of classified candidates, or of another program's numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ScoresError
from holisticbias_eval.models.likelihood.scores import Scores, with_scores
from holisticbias_eval.pipeline.retain_command import Reported
from holisticbias_eval.pipeline.score_columns import names_of, numbers_of, probabilities_of, read_columns
from holisticbias_eval.prompts.lines import line_table
from holisticbias_eval.tasks.results import reported_table


def read_line_scores(path: Path) -> pa.Table:
    """Read ``text, nll, tokens``, one row per line of a text; ``tokens`` is 0 for a line without a scored token."""
    table = _read(path, ("text",), ("nll", "tokens"))
    texts = names_of(path, table["text"], "text").to_pylist()
    nll, tokens = (_known(path, table[name], name) for name in ("nll", "tokens"))
    if (tokens < 0).any() or (tokens != tokens.round()).any():
        raise ScoresError(f"{path}: column tokens must be whole numbers from 0")
    lines = line_table([text.replace("\n", " ") for text in texts])
    if lines.num_rows != len(texts):
        raise ScoresError(f"{path}: column text is blank in {len(texts) - lines.num_rows:,} rows: leave them out")
    size = np.array([len(text.encode()) for text in lines["text"].to_pylist()])
    return with_scores(lines, Scores(nll, tokens.astype(np.int32), size.astype(np.int32)))


def read_candidate_scores(path: Path) -> pa.Table:
    """Read ``dialogue, label, probability``, one row per candidate; a label is 1 or 0, a probability that of 1."""
    table = _read(path, ("dialogue",), ("label", "probability"))
    label = _known(path, table["label"], "label")
    if not np.isin(label, (0, 1)).all():
        raise ScoresError(f"{path}: column label must be 1 or 0 in every row")
    columns = {
        "candidate_id": pa.array([str(i) for i in range(table.num_rows)], pa.string()),
        "dialogue": names_of(path, table["dialogue"], "dialogue"),
        "label": pa.array(label.astype(np.int64)),
        "probability": probabilities_of(path, table["probability"], "probability"),
    }
    return pa.table(columns)


def read_result_scores(path: Path) -> pa.Table:
    """Read ``task, metric, value``, one row per number."""
    table = _read(path, ("task", "metric"), ("value",))
    columns = (names_of(path, table[name], name).to_pylist() for name in ("task", "metric"))
    values = _known(path, table["value"], "value").tolist()
    return reported_table(tuple(Reported(*row) for row in zip(*columns, values, strict=True)))


def _read(path: Path, texts: Sequence[str], numbers: Sequence[str]) -> pa.Table:
    def choose(found: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        lacking = [name for name in (*texts, *numbers) if name not in found]
        if lacking:
            wanted, has = ", ".join((*texts, *numbers)), ", ".join(map(repr, found[:8]))
            raise ScoresError(f"{path} has no column {lacking[0]}: this table has {wanted}; the file has {has}")
        return texts, numbers

    return read_columns(path, choose)


def _known(path: Path, column: pa.ChunkedArray, name: str) -> np.ndarray:
    """A column of numbers without a missing value."""
    numbers = numbers_of(path, column, name)
    values: np.ndarray = pc.fill_null(numbers, float("nan")).to_numpy()
    if not np.isfinite(values).all():
        raise ScoresError(f"{path}: column {name} has no number in {int((~np.isfinite(values)).sum()):,} rows")
    return values
