"""Tables as Parquet files that say what they hold, to Hugging Face ``datasets`` and to us."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.features import schema_metadata

LABEL = b"holisticbias"
_UNIQUE = ("text", "sentence_id")
_ROWS_IN_GROUP = 1 << 17


def write_parquet(table: pa.Table, path: Path, axes: Sequence[str], label: Mapping[str, str]) -> None:
    """Write a table; ``label`` says which release and table it belongs to."""
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=[name for name in table.column_names if name not in _UNIQUE],
        store_schema=False,  # it would bring coded text back as categories, which are not what readers expect
    ) as writer:
        writer.write_table(table, row_group_size=_ROWS_IN_GROUP)
        writer.add_key_value_metadata({**schema_metadata(table.schema, axes), LABEL: json.dumps(dict(label)).encode()})


def write_shard(table: pa.Table, path: Path, axes: Sequence[str], label: Mapping[str, str]) -> None:
    """Write a part of a table that is too large for one file, in one row group, as fast as may be."""
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        compression_level=1,
        use_dictionary=[name for name in table.column_names if name not in _UNIQUE],
        dictionary_pagesize_limit=1 << 24,
        write_statistics=["axis_1", "axis_2"],
        store_schema=False,
    ) as writer:
        writer.write_table(table, row_group_size=table.num_rows)
        writer.add_key_value_metadata({**schema_metadata(table.schema, axes), LABEL: json.dumps(dict(label)).encode()})


def read_parquet(path: Path) -> pa.Table:
    """The table in a file, text that repeats by its place among the distinct values."""
    names = [field.name for field in pq.read_schema(path) if field.name not in _UNIQUE and field.type == pa.string()]
    return pq.read_table(path, read_dictionary=names).replace_schema_metadata(None)


def read_label(path: Path) -> Mapping[str, str]:
    """Which release and table a file says it belongs to; empty if it does not say."""
    metadata = pq.read_schema(path).metadata or {}
    label = json.loads(metadata.get(LABEL, b"{}"))
    return label if isinstance(label, dict) else {}
