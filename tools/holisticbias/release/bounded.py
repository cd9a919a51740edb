"""Read Parquet files of others in bounded memory: a few kilobytes can hold rows and texts that take all memory."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from holisticbias.inputs import require_file

_ROWS_PER_BYTE = 1  # real tables take about ten bytes a row
_VALUES_PER_BYTE = 50  # of all columns together; real tables have less than 5
_EXPANSION = 200  # real tables expand by less than 20
_SPARE = 1_000_000
_CODED, _PREFIXED = (2, 8), 7  # encodings: by a dictionary, and texts by what they share with the text before
_WIDEST = 64  # bytes of a value of fixed length
_VIEWS = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}  # Arrow can take no rows of views


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
            nested = any(pa.types.is_nested(f.type) for f in schema if chosen is None or f.name in chosen)
            if nested and file.num_row_groups > 1:  # Arrow reads dictionaries inside lists from one row group only
                groups = (file.read_row_group(group, columns=chosen) for group in range(file.num_row_groups))
                table = pa.concat_tables(groups)
            else:
                table = file.read(columns=chosen)
        return self.with_types(table if chosen is None else table.select(chosen), schema, encoded)

    def with_types(self, table: pa.Table, schema: pa.Schema, encoded: Sequence[str]) -> pa.Table:
        """A table of this file that was read with dictionaries, with a schema's types but for ``encoded`` and views.

        Raises ``pa.ArrowInvalid`` if its texts would take too much memory, or are not UTF-8.
        """
        size = sum(_text_bytes(chunk) for column in table.columns for chunk in column.chunks)
        if size > 64 * _SPARE + _EXPANSION * self.size:
            raise pa.ArrowInvalid(f"{self.path} expands from {self.size:,} to {size:,} bytes: it is not read")
        for place, field in enumerate(table.schema):
            kind = (
                field.type if field.name in encoded else schema.field(schema.get_all_field_indices(field.name)[0]).type
            )
            kind = _VIEWS.get(kind, kind)
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
    for column, held, unpacked, encoding in read_pages(path, footer):
        values, data = values + held, data + unpacked
        if held and encoding in _CODED:
            coded.add(column)
        elif encoding == _PREFIXED:
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


_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_TYPE, _SIZE, _STORED = 1, 2, 3  # fields of the header of a page
_DETAILS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}
_ENCODING = {_DATA: 2, _DICTIONARY: 2, _DATA_2: 4}  # fields of the details
_VALUES = 1
_TRUE, _FALSE, _BYTE, _WHOLE, _DOUBLE, _BINARY, _LIST, _STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, 9, 12  # types of Thrift
_DEEPEST = 8
_GROUPS, _CHUNKS, _ENCRYPTION = 4, 1, 8  # fields of the footer, of a row group, and of a column chunk
_TAIL = 8  # bytes: the size of the footer and a mark
_AT_ONCE = 256  # bytes; a mapping of the file would hold all of it

Value: TypeAlias = "int | Fields | list[Value]"
Fields: TypeAlias = "dict[int, Value]"


Page = tuple[str, int, int, int]
"""Column, number of values (0 in a dictionary), size after decompression and encoding of a page."""


def read_pages(path: Path, footer: pq.FileMetaData) -> Iterator[Page]:
    """Yield the pages that a reader of the file finds; raises ``pa.ArrowInvalid`` for a header that is damaged."""
    with path.open("rb", buffering=0) as file:
        for group in map(footer.row_group, range(footer.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                yield from _pages_of(file, column)


def is_encrypted(path: Path) -> bool:
    """Whether a column is encrypted, by the footer, which must be plain text that Arrow can read.

    Arrow ends the process when it meets such a column. Raises ``pa.ArrowInvalid`` for a footer that is damaged.
    """
    with path.open("rb", buffering=0) as file:
        file.seek(-_TAIL, os.SEEK_END)
        size = int.from_bytes(file.read(4), "little")
        try:
            groups = _Header(file, path.stat().st_size - _TAIL - size).fields().get(_GROUPS, [])
        except (IndexError, KeyError, OverflowError) as error:
            raise pa.ArrowInvalid(f"the footer of {path} is damaged") from error
    chunks = (group.get(_CHUNKS, []) for group in _structures(groups))
    return any(_ENCRYPTION in chunk for found in chunks for chunk in _structures(found))


def _structures(value: Value) -> list[Fields]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _pages_of(file: BinaryIO, chunk: pq.ColumnChunkMetaData) -> Iterator[Page]:
    offsets = [offset for offset in (chunk.data_page_offset, chunk.dictionary_page_offset) if offset]
    if not offsets:
        return
    header = _Header(file, min(offsets))
    end = header.place + chunk.total_compressed_size
    try:
        while header.place < end:
            fields = header.fields()
            kind = _whole(fields, _TYPE)
            details = fields.get(_DETAILS.get(kind, 0), {})
            if kind in _DETAILS and isinstance(details, dict):
                values = 0 if kind == _DICTIONARY else _whole(details, _VALUES)
                yield chunk.path_in_schema, values, _whole(fields, _SIZE), _whole(details, _ENCODING[kind])
            header.place += _whole(fields, _STORED)
    except (IndexError, KeyError, OverflowError) as error:
        raise pa.ArrowInvalid(f"the header of a page of the column {chunk.path_in_schema} is damaged") from error


def _whole(fields: Fields, number: int) -> int:
    """A whole number that is not negative, by the number of its field; raises ``KeyError``."""
    value = fields[number]
    if not isinstance(value, int) or value < 0:
        raise KeyError(number)
    return value


class _Header:
    """Reads structures in Thrift's compact form; raises ``IndexError`` or ``KeyError`` if one is damaged."""

    def __init__(self, file: BinaryIO, place: int) -> None:
        self._file, self.place = file, place
        self._held, self._start = b"", 0

    def fields(self, depth: int = 0) -> Fields:
        """The whole numbers, lists and structures of the next structure, by the numbers of their fields."""
        found: Fields = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._signed()
            value = self._value(head & 15, depth)
            if value is not None:
                found[number] = value
        return found

    def _value(self, kind: int, depth: int) -> Value | None:
        if kind in _WHOLE:
            return self._signed()
        if kind == _STRUCT and depth < _DEEPEST:
            return self.fields(depth + 1)
        if kind == _LIST and depth < _DEEPEST:
            return self._items(depth + 1)
        if kind == _BINARY:
            size = self._unsigned()
            self.place += size
        elif kind in (_BYTE, _DOUBLE):
            self.place += 1 if kind == _BYTE else 8
        elif kind not in (_TRUE, _FALSE):
            raise KeyError(kind)
        return None

    def _items(self, depth: int) -> list[Value]:
        """The items of a list, of which a truth takes a byte."""
        head = self._byte()
        kind = _BYTE if head & 15 in (_TRUE, _FALSE) else head & 15
        count = head >> 4 if head >> 4 < 15 else self._unsigned()
        return [item for _ in range(count) if (item := self._value(kind, depth)) is not None]

    def _byte(self) -> int:
        at = self.place - self._start
        if not 0 <= at < len(self._held):
            if self.place < 0:
                raise IndexError(self.place)
            self._file.seek(self.place)
            self._held, self._start, at = self._file.read(_AT_ONCE), self.place, 0
        self.place += 1
        return self._held[at]

    def _unsigned(self) -> int:
        number = 0
        for place in range(0, 70, 7):
            byte = self._byte()
            number |= (byte & 127) << place
            if byte < 128:
                return number
        raise KeyError(number)

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)
