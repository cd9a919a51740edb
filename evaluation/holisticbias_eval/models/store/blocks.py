"""Values computed block by block, each block stored as it is done."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints
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
    held = [store.read(asked)]
    missing = store.missing(asked, held[0])
    progress(asked.num_rows - len(missing))
    names = [name for name in store.schema.names if name not in store.keys]
    for start in range(0, len(missing), block):
        rows = missing[start : start + block]
        columns = [*asked.take(pa.array(rows)).columns, *(pa.array(v) for v in compute(rows, progress).T)]
        made = pa.Table.from_arrays(columns, names=[*asked.column_names, *names]).select(store.schema.names)
        held.append(made.cast(store.schema))
        store.write(held[-1])
    found = store.look_up(asked, pa.concat_tables(held))
    return np.column_stack([found[name].to_numpy() for name in names])
