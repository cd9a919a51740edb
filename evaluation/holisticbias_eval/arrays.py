"""Types of arrays, division without a denominator of 0, further columns of a table, and work on all cores."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    import torch

    Tensor: TypeAlias = torch.Tensor
else:
    Tensor = Any  # torch is imported when a model is loaded

T = TypeVar("T")
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]
Numbers = Floats | Int32s | Ints

ROUNDING = 1e-12
"""Computed values that differ by less than this share of them are equal."""


def divide(numerator: Numbers, denominator: Numbers) -> Floats:
    """The quotient, NaN unless the denominator is above 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator > 0, numerator / denominator, np.nan)


def with_columns(table: pa.Table, columns: pa.Table | Mapping[str, pa.Array | pa.ChunkedArray]) -> pa.Table:
    """The table with these columns, arrays by name or of another table; a column with the name of one is replaced."""
    for name in columns.column_names if isinstance(columns, pa.Table) else columns:
        place, column = table.schema.get_field_index(name), columns[name]
        table = table.append_column(name, column) if place < 0 else table.set_column(place, name, column)
    return table


def map_in_threads(function: Callable[..., T], *arguments: Iterable[Any]) -> Iterator[T]:
    """The results in order, computed by one thread per core, 32 at most: more take time from each other.

    A matrix product then uses one thread: its own threads would wait for those of the others most of the time.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(32, os.cpu_count() or 1)) as workers:
        yield from workers.map(function, *arguments)
