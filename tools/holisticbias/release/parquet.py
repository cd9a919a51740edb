"""Read and write tables as Parquet files, with metadata for Hugging Face ``datasets`` and for this package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.compile.columns import integers, strings
from holisticbias.release.features import AXES, class_names, schema_metadata
from holisticbias.release.file_limits import read_footer, require_file

LABEL = b"holisticbias"
_UNIQUE = ("text", "sentence_id")
_ROWS_IN_GROUP = 1 << 17


def write_parquet(table: pa.Table, path: Path, axes: Sequence[str], label: Mapping[str, str]) -> None:
    """Write a table; ``label`` is its ``Manifest.label``."""
    _write(table, path, axes, label, _ROWS_IN_GROUP, compression_level=3)


def write_shard(table: pa.Table, path: Path, axes: Sequence[str], label: Mapping[str, str]) -> None:
    """Write one file of a table in several files: one row group, fast compression."""
    fast = {"dictionary_pagesize_limit": 1 << 24, "write_statistics": ["axis_1", "axis_2"]}
    _write(table, path, axes, label, table.num_rows, compression_level=1, **fast)


def _write(
    table: pa.Table, path: Path, axes: Sequence[str], label: Mapping[str, str], rows_in_group: int, **settings: object
) -> None:
    table = _as_classes(table, axes)
    with pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        use_dictionary=[name for name in table.column_names if name not in _UNIQUE],
        store_schema=False,  # readers expect text, not categories
        **settings,
    ) as writer:
        writer.write_table(table, row_group_size=rows_in_group)
        writer.add_key_value_metadata({**schema_metadata(table.schema, axes), LABEL: json.dumps(dict(label)).encode()})


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table or some of its columns; repeated text becomes dictionary columns, axes become names."""
    schema = read_footer(path).schema.to_arrow_schema()
    names = [field.name for field in schema if field.name not in (*_UNIQUE, "phrase_id") and field.type == pa.string()]
    table = pq.read_table(path, columns=columns, read_dictionary=names).replace_schema_metadata(None)
    return _as_names(table, class_names(schema.metadata or {}))


def _as_classes(table: pa.Table, axes: Sequence[str]) -> pa.Table:
    """Replace axes by their indices in ``axes``, the form that ``datasets`` reads as ClassLabel."""
    for name in AXES:
        if name in table.column_names:
            chunks = [_class_indices(chunk, axes) for chunk in table[name].chunks]
            table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks, pa.int64()))
    return table


def _class_indices(axis: pa.Array, axes: Sequence[str]) -> pa.Int64Array:
    encoded = axis if pa.types.is_dictionary(axis.type) else axis.dictionary_encode()
    indices = np.array([axes.index(name) for name in encoded.dictionary.to_pylist()], np.int32)
    return integers(indices).take(encoded.indices).cast(pa.int64())


def _as_names(table: pa.Table, classes: Mapping[str, Sequence[str]]) -> pa.Table:
    for name, names in classes.items():
        if name not in table.column_names:
            continue
        chunks = [pa.DictionaryArray.from_arrays(c.cast(pa.int32()), strings(names)) for c in table[name].chunks]
        kind = pa.dictionary(pa.int32(), pa.string())
        table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks, kind))
    return table


def read_label(path: Path) -> Mapping[str, str]:
    """Read the label of a file; empty if it has no label."""
    metadata = pq.read_schema(require_file(path)).metadata or {}
    label = json.loads(metadata.get(LABEL, b"{}"))
    return label if isinstance(label, dict) else {}
