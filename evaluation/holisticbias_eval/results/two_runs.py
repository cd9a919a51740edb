"""Read two runs that are compared: columns that both have are held once, and what no comparison uses is not kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter, ValidationError

from holisticbias.release.bounded import BoundedFile, check_parquet
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import compared_columns, is_compared
from holisticbias_eval.prompts.prompts import UNIQUE
from holisticbias_eval.results.run import (
    AFTER_FIGURES,
    BEFORE_FIGURES,
    Result,
    Run,
    Tables,
    answer_columns,
    open_run,
    read_result,
    reading,
    refuse_infinite,
    refuse_missing,
)

_BYTES_AT_ONCE = 1 << 20
_BEFORE, _AFTER = BEFORE_FIGURES.encode(), AFTER_FIGURES.encode()
_FIGURES = TypeAdapter(tuple[Figure, ...])


def read_two_runs(first: Path, second: Path) -> tuple[Run, Run]:
    """Read two runs with the figures and the columns that comparing them uses; ``RunError`` if one is damaged.

    If the ids of all sentences or all texts are the same in both, the column has the number of each row instead: a
    comparison asks only which are equal, and texts take more memory than all other columns.
    """
    kinds, contents = zip(*(open_run(folder) for folder in (first, second)), strict=True)
    folders = (first, second)
    results = [_read_compared(folder, content) for folder, content in zip(folders, contents, strict=True)]
    del contents
    wanted = [compared_columns(result.signature.measures) for result in results]
    one, other = files = tuple(checked_table(f / kind.file) for f, kind in zip(folders, kinds, strict=True))
    names = [answer_columns(*found) for found in zip(files, kinds, wanted, strict=True)]
    numbered = UNIQUE if None not in wanted else ()
    answers = read_two_tables(one, other, names[0], names[1], numbered)
    for file, table in zip(files, answers, strict=True):
        refuse_missing(file.path, table)
    runs = (Run(r, a, Tables(f, k)) for r, a, f, k in zip(results, answers, folders, kinds, strict=True))
    return next(runs), next(runs)


def _read_compared(folder: Path, content: bytes) -> Result:
    """The result with the figures that a comparison uses."""
    start = content.find(_BEFORE)
    if start >= 0 and content.endswith(_AFTER):
        try:
            figures = tuple(_compared(_in_parts(content, start + len(_BEFORE), len(content) - len(_AFTER))))
            result = Result.model_validate_json(content[:start] + _BEFORE + _AFTER)
            return refuse_infinite(folder, result.model_copy(update={"figures": figures}))
        except ValidationError:
            pass  # reading the whole says where the error is
    result = read_result(folder, lambda: Result.model_validate_json(content))
    return refuse_infinite(folder, result.model_copy(update={"figures": tuple(filter(is_compared, result.figures))}))


def _in_parts(content: bytes, start: int, end: int) -> Iterator[bytes]:
    """The figures between two places, one per line, as JSON lists of a bounded size."""
    while start < end:
        found = content.find(b"\n", start + _BYTES_AT_ONCE, end)
        stop = end if found < 0 else found
        yield b"[" + content[start:stop].rstrip(b", \n") + b"]"
        start = stop + 1


def _compared(parts: Iterable[bytes]) -> Iterator[Figure]:
    for part in parts:
        yield from filter(is_compared, _FIGURES.validate_json(part))


def read_two_tables(
    one: BoundedFile, other: BoundedFile, names: Sequence[str], others: Sequence[str], numbered: Sequence[str] = ()
) -> tuple[pa.Table, pa.Table]:
    """Read the columns ``names`` of the first table and ``others`` of the second; equal columns share their memory.

    A column in ``numbered`` becomes the numbers of the rows if it is equal in both. Raises ``RunError`` if a table
    cannot be read.
    """
    same = {name for name in numbered if name in names and name in others and _is_equal(one, other, name)}
    held = {name: _row_numbers(one) if name in same else _read_column(one, name) for name in names}
    found = {
        name: held[name] if name in same else _shared(_read_column(other, name), held.get(name)) for name in others
    }
    return _table(held), _table(found)


def checked_table(path: Path) -> BoundedFile:
    """A table whose pages may be read; ``RunError`` if not."""
    with reading(path):
        return check_parquet(path)


def _table(columns: Mapping[str, pa.ChunkedArray]) -> pa.Table:
    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def _row_numbers(file: BoundedFile) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(np.arange(file.footer.num_rows, dtype=np.int32))])


def _read_column(file: BoundedFile, name: str) -> pa.ChunkedArray:
    """A column; numbers are in one piece, so that they become arrays without a copy."""
    with reading(file.path):
        column = file.read([name])[name]
    return pa.chunked_array([column.combine_chunks()]) if pa.types.is_floating(column.type) else column


def _shared(column: pa.ChunkedArray, like: pa.ChunkedArray | None) -> pa.ChunkedArray:
    """The other column if it is equal, so that both tables share its memory; else the column."""
    return like if like is not None and column.equals(like) else column


def _is_equal(first: BoundedFile, second: BoundedFile, name: str) -> bool:
    """Whether a column is the same in two files with row groups of the same sizes; repeated texts stay codes."""
    with _opened(first) as one, _opened(second) as other:
        sizes = [[file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] for file in (one, other)]
        return sizes[0] == sizes[1] and all(
            one.read_row_group(i, columns=[name]).equals(other.read_row_group(i, columns=[name]))
            for i in range(one.num_row_groups)
        )


@contextmanager
def _opened(file: BoundedFile) -> Iterator[pq.ParquetFile]:
    with (
        reading(file.path),
        pq.ParquetFile(file.path, metadata=file.footer, read_dictionary=list(file.coded)) as opened,
    ):
        yield opened
