"""Read Parquet files of others in bounded memory: a few kilobytes can hold rows and texts that take all memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.release.file_limits import require_file
from holisticbias.release.pages import is_encrypted, read_pages

_ROWS_PER_BYTE = 1  # real tables take about ten bytes a row
_VALUES_PER_BYTE = 50  # of all columns together; real tables have less than 5
_EXPANSION = 200  # real tables expand by less than 20
_SPARE = 1_000_000
_CODED, _PREFIXED = (2, 8), 7  # encodings: by a dictionary, and texts by what they share with the text before
_WIDEST = 64  # bytes of a value of fixed length


@dataclass(frozen=True, slots=True)
class BoundedFile:
    """A Parquet file whose pages may be read: its size, its footer, and its columns of texts with a dictionary."""

    path: Path
    size: int
    footer: pq.FileMetaData
    coded: tuple[str, ...]

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema that the file was written with."""
        return self.footer.schema.to_arrow_schema()

    def read(self, columns: Sequence[str] | None = None, encoded: Sequence[str] = ()) -> pa.Table:
        """The table, or some of its columns, with the types that it was written with; ``encoded`` with dictionaries."""
        schema = self.schema
        chosen = None if columns is None else list(columns)
        for name in chosen or ():
            if len(schema.get_all_field_indices(name)) != 1:
                raise pa.ArrowInvalid(f"{self.path} must have one column {name}")
        with pq.ParquetFile(self.path, metadata=self.footer, read_dictionary=[*encoded, *self.coded]) as file:
            table = file.read(columns=chosen)
        return self.with_types(table if chosen is None else table.select(chosen), schema, encoded)

    def with_types(self, table: pa.Table, schema: pa.Schema, encoded: Sequence[str] = ()) -> pa.Table:
        """A table of this file that was read with dictionaries, with the types of a schema but for ``encoded``.

        Raises ``pa.ArrowInvalid`` if its texts would take too much memory, or are not UTF-8.
        """
        size = sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)
        if size > 64 * _SPARE + _EXPANSION * self.size:
            raise pa.ArrowInvalid(f"{self.path} expands from {self.size:,} to {size:,} bytes: it is not read")
        for place, field in enumerate(table.schema):
            kind = (
                field.type if field.name in encoded else schema.field(schema.get_all_field_indices(field.name)[0]).type
            )
            if kind != field.type:
                table = table.set_column(place, field.with_type(kind), table.column(place).cast(kind))
        table.validate(full=True)
        return table


def read_footer(path: Path) -> pq.FileMetaData:
    """The footer of a file, which may lie: see ``check_parquet``.

    Raises ``pa.ArrowInvalid`` if it is encrypted, or declares more rows than a table of that size can have, and
    ``OSError`` or ``pa.ArrowException`` if the file cannot be read.
    """
    size = require_file(path).stat().st_size
    footer = pq.read_metadata(path)
    if is_encrypted(path):
        raise pa.ArrowInvalid(f"{path} has encrypted columns: save it without encryption")
    rows = max(footer.num_rows, sum(footer.row_group(i).num_rows for i in range(footer.num_row_groups)))
    if rows > _SPARE + _ROWS_PER_BYTE * size:
        raise pa.ArrowInvalid(f"{path} declares {rows:,} rows in {size:,} bytes: it is not read")
    return footer


def check_parquet(path: Path) -> BoundedFile:
    """Check what the pages of a file hold before they are read, whatever its footer says.

    Raises ``pa.ArrowInvalid`` if it is more than a table of that size can have, and ``OSError`` or
    ``pa.ArrowException`` if the file cannot be read.
    """
    footer, size = read_footer(path), path.stat().st_size
    values, data, coded = 0, 0, set()
    for page in read_pages(path, footer):
        values, data = values + page.values, data + page.size
        if page.values and page.encoding in _CODED:
            coded.add(page.column)
        elif page.encoding == _PREFIXED:
            raise pa.ArrowInvalid(f"{path} has texts in DELTA_BYTE_ARRAY, which is not read: save it without")
    if values > 64 * _SPARE + _VALUES_PER_BYTE * size:
        raise pa.ArrowInvalid(f"{path} declares {values:,} values in {size:,} bytes: it is not read")
    if data > 64 * _SPARE + _EXPANSION * size:
        raise pa.ArrowInvalid(f"{path} expands from {size:,} to {data:,} bytes: it is not read")
    columns = [footer.schema.column(i) for i in range(footer.num_columns)]
    wide = next((c.name for c in columns if c.physical_type == "FIXED_LEN_BYTE_ARRAY" and c.length > _WIDEST), None)
    if wide is not None:
        raise pa.ArrowInvalid(f"{path} has the column {wide} with values of fixed length, which are too long")
    texts = tuple(c.path for c in columns if c.physical_type == "BYTE_ARRAY" and c.path in coded)
    return BoundedFile(path, size, footer, texts)


def _text_bytes(values: pa.Array) -> int:
    """The bytes of the texts that have a dictionary, each as often as it stands in a row."""
    kind = values.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text_bytes(values.flatten())
    if pa.types.is_struct(kind):
        return sum(map(_text_bytes, values.flatten()))
    if not pa.types.is_dictionary(kind) or not _is_text(kind.value_type):
        return 0
    return pc.sum(pc.take(pc.binary_length(values.dictionary), values.indices)).as_py() or 0


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))
