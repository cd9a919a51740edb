"""Read a user's prompts from a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.models.generation.requests import RESPONSE_FIELDS
from holisticbias_eval.table_files import read_table

COLLECTED = "prompts.parquet"
"""The table in a folder that ``holisticbias corpus collect`` wrote."""
MADE = ("response_id", "sample", *(name for name, _ in RESPONSE_FIELDS))


def read_prompts(path: Path, samples: int) -> pa.Table:
    """Read prompts: a text file with one prompt per line, or CSV, JSON lines or Parquet with a column ``prompt``.

    Each prompt stands ``samples`` times, with ``sample`` counting equal prompts.
    Other columns are kept; a column ``persona`` is read before the prompt.
    Raises ``EvaluationError`` if the file is unusable.
    """
    path = prompts_file(path)
    table = (
        _lines(path)
        if path.suffix.lower() == ".txt"
        else read_table(path, {"prompt": pa.large_string(), "persona": pa.large_string()})
    )
    if "prompt" not in table.column_names:
        raise SelectionError(f"{path} has no column prompt; it has {', '.join(map(repr, table.column_names[:8]))}")
    taken = [name for name in MADE if name in table.column_names]
    if taken:
        raise SelectionError(f"{path} has a column {taken[0]}, which the responses have: rename it")
    texts = [text or "" for text in table["prompt"].cast(pa.large_string()).to_pylist()]
    empty = next((i for i, text in enumerate(texts) if not text.strip()), None)
    if empty is not None:
        raise SelectionError(f"{path}: row {empty + 1}: the prompt is empty")
    if not texts:
        raise SelectionError(f"{path} has no prompts")
    rows = [i for i in range(len(texts)) for _ in range(samples)]
    return _numbered(table.take(pa.array(rows)), rows)


def prompts_file(path: Path) -> Path:
    """The table of prompts in a folder that ``holisticbias corpus collect`` wrote, or the file itself."""
    return path / COLLECTED if (path / COLLECTED).is_file() else path


def _lines(path: Path) -> pa.Table:
    try:
        lines = path.read_bytes().decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SelectionError(f"{path} cannot be read as prompts: {reason}") from error
    return pa.table({"prompt": pa.array([line.strip() for line in lines if line.strip()], pa.large_string())})


def _numbered(table: pa.Table, rows: list[int]) -> pa.Table:
    """Add an id, the persona if there is none, and the number of each prompt among equal ones."""
    if "persona" not in table.column_names:
        table = table.append_column("persona", pa.array([""] * len(table), pa.large_string()))
    personas = [text or "" for text in table["persona"].cast(pa.large_string()).to_pylist()]
    table = table.set_column(table.column_names.index("persona"), "persona", pa.array(personas, pa.large_string()))
    seen: Counter[tuple[str, str]] = Counter()
    samples = []
    for key in zip(table["prompt"].to_pylist(), personas, strict=True):
        samples.append(seen[key])
        seen[key] += 1
    draws: Counter[int] = Counter()
    ids = []
    for row in rows:
        ids.append(f"{row + 1}/{draws[row]}")
        draws[row] += 1
    table = table.append_column("response_id", pa.array(ids))
    return table.append_column("sample", pa.array(samples, pa.int32()))
