"""The pages of a Parquet file by their own headers: the footer of a file may say less than its pages hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

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


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its column, the values that it declares, its size after decompression, and the number of its encoding.

    ``values`` is 0 for a page of a dictionary.
    """

    column: str
    values: int
    size: int
    encoding: int


def read_pages(path: Path, footer: pq.FileMetaData) -> Iterator[Page]:
    """Yield the pages that a reader of the file finds; raises ``pa.ArrowInvalid`` for a header that is damaged."""
    if not footer.num_row_groups:
        return
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
                yield Page(chunk.path_in_schema, values, _whole(fields, _SIZE), _whole(details, _ENCODING[kind]))
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
