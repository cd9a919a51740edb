"""Read texts about groups that were made elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ResponsesError
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.pipeline.response_files import read_responses
from holisticbias_eval.pipeline.text_files import read_texts
from holisticbias_eval.prompts.group_words import given_words
from holisticbias_eval.prompts.texts import MODEL, Making, Part, model_texts
from holisticbias_eval.results.signature import ReleaseSignature
from holisticbias_eval.tasks.collected import PromptsAsked

_NAMES = ("domain", "group", "subject", "item")
_RUN = ("response_id", "prompt", "persona", "response", "finish", "tokens", "reasoning")
_LONG = pa.large_string()


def read_given_texts(path: Path, part: Part | None) -> PromptsAsked:
    """Read texts from a table with ``group`` and either ``text``, or ``response`` and ``prompt`` to join.

    ``domain, subject, forms, person, item, source, finish`` are read if they are there; ``source`` is ``model`` or
    ``human``.
    Raises ``ResponsesError`` with what to change.
    """
    table = read_responses(path, ())
    given = "text" in table.column_names
    if given and part is not None:
        raise ResponsesError(f"--measured is for responses with prompts: {path} has texts, which are measured whole")
    if given:
        read = read_texts(path)
        table = pa.table({name: table[name] for name in _RUN if name in table.column_names} | dict(_columns(read)))
    elif not {"group", "response"} <= {*table.column_names}:
        found = ", ".join(map(repr, table.column_names[:8]))[:200]
        raise ResponsesError(
            f"{path}: a table of texts about groups has the columns group and text, or group, prompt and response; "
            f"this file has {found}"
        )
    else:
        for name in (name for name in _NAMES if name in table.column_names):
            table = table.set_column(table.column_names.index(name), name, _text(path, table[name], name))
        for name, values in given_words(path, table):
            table = table.set_column(table.column_names.index(name), name, values)
        _refuse_missing(path, table)
    own = part or ("whole" if "prompt" in table.column_names else "continuation")
    made = _filled(table) if given else model_texts(_filled(table), Making(own))
    measured = "the column text" if given else own
    signature = ReleaseSignature(version="none", subset=None, digest=file_sha256(path), prompts=path.stem)
    return PromptsAsked(made, made.slice(0, 0), own, path.stem, signature, {"measured_part": measured})


def _filled(table: pa.Table) -> pa.Table:
    """The table with the columns of a run: texts without a prompt have an empty one, and rows are numbered."""
    defaults = {
        "response_id": [str(row) for row in range(1, table.num_rows + 1)],
        "prompt": [""] * table.num_rows,
        "persona": [""] * table.num_rows,
        "finish": ["stop"] * table.num_rows,
    }
    for name, values in defaults.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.array(values, _LONG))
    if "response" not in table.column_names:
        table = table.append_column("response", table["text"])
    if "source" not in table.column_names and "text" in table.column_names:
        table = table.append_column("source", pa.array([MODEL] * table.num_rows, pa.string()))
    return table


def _columns(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    yield from zip(table.column_names, table.columns, strict=True)


def _refuse_missing(path: Path, table: pa.Table) -> None:
    for name in (name for name in ("group", "domain", "prompt") if name in table.column_names):
        missing = pc.sum(pc.equal(pc.fill_null(table[name], ""), "")).as_py()
        if missing:
            raise ResponsesError(f"{path}: column {name} is missing in {missing:,} rows: every row needs a value")


def _text(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(_LONG)
    except pa.ArrowException as error:
        raise ResponsesError(f"{path}: column {name} is not text but {str(column.type)[:80]}") from error
