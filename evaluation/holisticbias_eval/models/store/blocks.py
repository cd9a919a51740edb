"""Values computed block by block, each block stored as it is done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.models.store.shards import ShardStore
from holisticbias_eval.progress import Progress


def values_by_block(
    asked: pa.Table,
    compute: Callable[[Ints, Progress], Floats],
    store: ShardStore | None,
    block: int,
    progress: Progress,
) -> Floats:
    """The values of each row of keys: shape ``[rows, values]``.

    ``compute`` gives the values of the rows that the store does not hold, at most ``block`` rows at once. The store's
    columns are its keys, which ``asked`` has, and then the values as floats; NaN is stored too. Without a store all
    rows are computed at once.
    """
    if store is None:
        return compute(np.arange(asked.num_rows), progress)
    first, which = distinct_rows(asked)
    distinct = asked.take(pa.array(first))
    values, missing = read_values(store, distinct)
    progress(distinct.num_rows - len(missing))
    for start in range(0, len(missing), block):
        rows = missing[start : start + block]
        values[rows] = compute(first[rows], progress)
        columns = [*distinct.take(pa.array(rows)).columns, *map(pa.array, values[rows].T)]
        names = [*asked.column_names, *(name for name in store.schema.names if name not in store.keys)]
        store.write(pa.Table.from_arrays(columns, names=names).select(store.schema.names))
    return values[which]


def read_values(store: ShardStore, asked: pa.Table) -> tuple[Floats, Ints]:
    """The stored values of distinct keys, shape ``[rows, values]``, and the rows that are not held, which have NaN."""
    values = np.full((asked.num_rows, len(store.schema) - len(store.keys)), np.nan)
    known = np.zeros(asked.num_rows, np.bool_)
    for places, rows in store.held(asked, known):
        values[places] = np.column_stack([column.to_numpy() for column in rows.columns])
    return values, np.flatnonzero(~known)
