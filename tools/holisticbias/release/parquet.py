"""Read and write tables as Parquet files, with metadata for Hugging Face ``datasets`` and for this package."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from holisticbias.compile.columns import compact, strings
from holisticbias.compile.lazy_tables import ROWS
from holisticbias.errors import ReleaseError
from holisticbias.inputs import require_file
from holisticbias.release.bounded import check_parquet

LABEL = b"holisticbias"
_LARGE = 200_000_000  # bytes of a file
_UNIQUE = ("text", "sentence_id")
_FILTERED = ("axis", "axis_1", "axis_2", "template_id")  # a reader skips row groups by them; other columns are in each


def write_parquet(parts: Iterable[pa.Table], path: Path, label: Mapping[str, str]) -> None:
    """Write a table in parts, in row groups of at most ``ROWS`` rows; for ``label`` see ``ReleasePart.label``."""
    _write(_row_groups(parts), path, label, compression_level=3)


def write_shard(table: pa.Table, path: Path, label: Mapping[str, str]) -> None:
    """Write one file of a table in several files: one row group, fast compression."""
    _write(iter((table,)), path, label, compression_level=1, dictionary_pagesize_limit=1 << 24)


def _write(groups: Iterator[pa.Table], path: Path, label: Mapping[str, str], **settings: object) -> None:
    first = next(groups)
    with pq.ParquetWriter(
        path,
        first.schema,
        compression="zstd",
        use_dictionary=[name for name in first.column_names if name not in _UNIQUE],
        store_schema=False,  # readers expect text, not categories
        write_statistics=[name for name in first.column_names if name in _FILTERED],
        **settings,
    ) as writer:
        writer.write_table(first, row_group_size=max(1, first.num_rows))
        for group in groups:
            writer.write_table(group, row_group_size=max(1, group.num_rows))
        writer.add_key_value_metadata({LABEL: json.dumps(dict(label)).encode()})


def _row_groups(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Join small parts and cut large ones; the dictionaries of a group have only the texts of its phrases."""
    waiting: list[pa.Table] = []
    for part in parts:
        if waiting and sum(p.num_rows for p in waiting) + part.num_rows > ROWS:
            yield _joined(waiting)
            waiting = []
        if part.num_rows > ROWS:
            yield from (_compacted(part.slice(start, ROWS)) for start in range(0, part.num_rows, ROWS))
        else:
            waiting.append(part)
    if waiting:
        yield _joined(waiting)


def _joined(parts: Sequence[pa.Table]) -> pa.Table:
    """One table with one dictionary for each column: a row group with several would be stored as plain text."""
    parts = [part for part in parts if part.num_rows] or parts[:1]
    return parts[0] if len(parts) == 1 else pa.concat_tables(parts).unify_dictionaries()


def _compacted(part: pa.Table) -> pa.Table:
    whole = part.combine_chunks()
    columns = [pa.chunked_array([compact(c) for c in column.chunks], column.type) for column in whole.columns]
    return pa.Table.from_arrays(columns, names=whole.column_names)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Read a table or some of its columns; repeated text becomes dictionary columns, axes become names."""
    file = check_parquet(path)
    schema = file.schema
    table = file.read(columns, encoded=_repeated(schema)).replace_schema_metadata(None)
    return _as_names(table, class_names(schema.metadata or {}))


def read_parts(path: Path) -> Iterator[pa.Table]:
    """Read a table in parts of at most ``ROWS`` rows, with the column types of ``read_parquet``."""
    checked = check_parquet(path)
    schema = checked.schema
    classes, encoded = class_names(schema.metadata or {}), [*_repeated(schema), *checked.coded]
    with pq.ParquetFile(path, metadata=checked.footer, read_dictionary=encoded, pre_buffer=False) as file:
        for group in range(checked.footer.num_row_groups):
            for part in _parts_of_group(file, group):
                plain = checked.with_types(part.replace_schema_metadata(None), schema, _repeated(schema))
                yield _as_names(plain, classes)
            if checked.size > _LARGE:
                pa.default_memory_pool().release_unused()  # takes time, but Arrow keeps more with each row group


def _parts_of_group(file: pq.ParquetFile, group: int) -> Iterator[pa.Table]:
    """Read a row group, in batches only if it is large: a reader of batches keeps twice the memory."""
    if file.metadata.row_group(group).num_rows <= ROWS:
        yield file.read_row_group(group)
    else:
        yield from (pa.Table.from_batches([batch]) for batch in file.iter_batches(ROWS, row_groups=[group]))


def _repeated(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if field.name not in (*_UNIQUE, "phrase_id") and field.type == pa.string()]


def _as_names(table: pa.Table, classes: Mapping[str, Sequence[str]]) -> pa.Table:
    for name, names in classes.items():
        if name not in table.column_names:
            continue
        chunks = [pa.DictionaryArray.from_arrays(c.cast(pa.int32()), strings(names)) for c in table[name].chunks]
        kind = pa.dictionary(pa.int32(), pa.string())
        table = table.set_column(table.column_names.index(name), name, pa.chunked_array(chunks, kind))
    return table


def read_label(path: Path) -> Mapping[str, str]:
    """Read the label of a file, without values that are not text; empty if it has no label."""
    metadata = pq.read_schema(require_file(path)).metadata or {}
    label = json.loads(metadata.get(LABEL, b"{}"))
    pairs = label.items() if isinstance(label, dict) else ()
    return {name: text for name, text in pairs if isinstance(text, str)}


Feature = dict[str, Any]


def class_names(metadata: Mapping[bytes, bytes]) -> Mapping[str, Sequence[str]]:
    """Class names of each ClassLabel column in a schema's ``huggingface`` key, which releases had before 3.1.0.

    Raises ``ReleaseError`` if the key does not have the form that ``datasets`` writes.
    """
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}")).get("info", {}).get("features", {})
        found = {name: feature["names"] for name, feature in features.items() if feature.get("_type") == "ClassLabel"}
    except (AttributeError, KeyError, ValueError, RecursionError) as error:
        raise ReleaseError("the key huggingface of a Parquet file does not have the form of datasets") from error
    if not all(isinstance(n, str) for names in found.values() for n in (names if isinstance(names, list) else [None])):
        raise ReleaseError("the key huggingface of a Parquet file has classes without names")
    return found


def card_features(schema: pa.Schema) -> list[Feature]:
    """Column types in the format of a dataset card's YAML header."""
    return [_card_feature(field.type, field.name) for field in schema]


def _card_feature(kind: pa.DataType, name: str) -> Feature:
    if pa.types.is_list(kind):
        inner = kind.value_type
        fields = [_card_feature(f.type, f.name) for f in inner] if pa.types.is_struct(inner) else "string"
        return {"name": name, "list": fields}
    return {"name": name, "dtype": _value_type(kind)}


def _value_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "bool"
    return str(kind) if pa.types.is_integer(kind) else "string"
