"""Read CSV with any usual delimiter in bounded memory; cells that are marked for spreadsheets become their texts."""

import csv
import io
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

from holisticbias.spreadsheet import restored_columns
from holisticbias.terminal import counted
from holisticbias_eval.errors import TableError
from holisticbias_eval.tables.content import bounded_chunks, not_utf8, split_lines

_DELIMITERS = ",;\t|"
_BLOCK = 1 << 26  # bytes: a row must fit
_HEADER = 1 << 20  # bytes
Refuse = Callable[[pa.csv.InvalidRow], str]
"""What Arrow calls for a row with another number of cells than the header."""


class CsvFile:
    """A file of CSV: its delimiter and the names of its columns; raises ``TableError`` if it has none.

    With ``latin_1``, a file that is not UTF-8 is read as Latin-1.
    """

    def __init__(self, path: Path, wanted: Sequence[str], *, latin_1: bool = False) -> None:
        self.path = path
        start = _Stream(bounded_chunks(path)).read(_HEADER)
        self._may_be_latin_1 = latin_1 and b"\0" not in start  # UTF-16 has these
        if len(start) == _HEADER and b"\n" not in start and b"\r" not in start:
            raise TableError(f"{path} has a header of over {_HEADER:,} bytes: keep the columns that are needed")
        text = start.decode("utf-8-sig", "replace")
        self.delimiter, self.names = read_header(text, wanted)
        if any("\ufffd" in name for name in self.names):
            self._refuse_encoding()
            if self._is_latin_1:
                self.delimiter, self.names = read_header(start.decode("latin-1"), wanted)
        if not self.names:
            fault = (
                f"has a name of over {csv.field_size_limit():,} characters in its header"
                if text.strip()
                else "is empty"
            )
            raise TableError(f"{path} {fault}")

    def read(self, texts: Sequence[str], others: Sequence[str]) -> pa.Table:
        """The columns that are read as text, and others with the types of their values.

        Raises ``TableError``, ``pa.ArrowException`` and ``UnicodeDecodeError``.
        """
        columns = [*texts, *others]
        try:
            try:
                return self._parse(columns, texts)
            except pa.ArrowInvalid:  # a value of another type than those by which the type was chosen
                return self._parse(columns, columns)
        except (pa.ArrowException, UnicodeDecodeError):
            self._refuse_encoding()
            self._refuse_wrong_row(columns)
            raise

    def _parse(self, columns: Sequence[str], texts: Sequence[str], refuse: Refuse | None = None) -> pa.Table:
        parsing = pa.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refuse)
        # Arrow numbers rows only if it reads them one after another
        reading = pa.csv.ReadOptions(block_size=_BLOCK, use_threads=refuse is None)
        types = dict.fromkeys(texts, pa.string())
        converting = pa.csv.ConvertOptions(include_columns=columns, column_types=types)
        stream = _Stream(self._chunks())
        table = pa.csv.read_csv(stream, reading, parsing, converting)
        if stream.quotes % 2:
            self._refuse_open_quote()
        return restored_columns(table)

    def _refuse_wrong_row(self, columns: Sequence[str]) -> None:
        """Raise ``TableError`` for the first row with another number of cells than the header, if there is one."""

        def refuse(row: pa.csv.InvalidRow) -> str:
            wrong.append(row)
            return "error"

        wrong = list[pa.csv.InvalidRow]()
        with suppress(pa.ArrowException):
            self._parse(columns, columns, refuse)
        if wrong:
            row = wrong[0]
            raise TableError(
                f"{self.path}: row {row.number - 1} has {counted(row.actual_columns, 'cells')}, but the header "
                f"has {row.expected_columns}: {row.text[:60]!r}"
            )

    def _refuse_open_quote(self) -> None:
        """Raise ``TableError`` for a quote that is not closed: all that follows would be one cell."""
        text = b"".join(self._chunks()).decode("utf-8", "replace")
        try:
            for _ in csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True):
                pass
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise TableError(f"{self.path}: a quote is not closed before the end of the file") from error

    @cached_property
    def _is_latin_1(self) -> bool:
        return self._may_be_latin_1 and self._other_line() is not None

    def _chunks(self) -> Iterator[bytes]:
        """The content in UTF-8, if it is text."""
        for chunk in bounded_chunks(self.path):
            yield chunk.decode("latin-1").encode() if self._is_latin_1 else chunk

    def _refuse_encoding(self) -> None:
        """Raise ``TableError`` with the first line that is not UTF-8, if there is one."""
        number = None if self._is_latin_1 else self._other_line()
        if number is not None:
            raise not_utf8(f"{self.path}:{number}")

    def _other_line(self) -> int | None:
        """The number of the first line that is not UTF-8."""
        for number, line in enumerate(split_lines(bounded_chunks(self.path), _BLOCK), 1):
            try:
                (line or b"").decode()
            except UnicodeDecodeError:
                return number
        return None


@dataclass
class _Stream:
    """Chunks of bytes as a file that Arrow reads, in which quotes are counted."""

    chunks: Iterator[bytes]
    held: bytes = b""
    quotes: int = 0
    closed: bool = False

    def read(self, size: int) -> bytes:
        """So many bytes, or all that are left."""
        parts, length = [self.held], len(self.held)
        while length < size and (chunk := next(self.chunks, None)) is not None:
            parts.append(chunk)
            length += len(chunk)
            self.quotes += chunk.count(b'"')
        content = b"".join(parts)
        self.held = content[size:]
        return content[:size]

    def close(self) -> None:
        """Keep nothing."""
        self.held, self.closed = b"", True


def read_header(text: str, wanted: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """The delimiter of a CSV text, and the names of its columns.

    Of the delimiters the one that gives most of the ``wanted`` columns is taken, or else most columns.
    """
    headers = {delimiter: _first_row(text, delimiter) for delimiter in _DELIMITERS}
    return max(headers.items(), key=lambda found: (len({*wanted}.intersection(found[1])), len(found[1])))


def _first_row(text: str, delimiter: str) -> tuple[str, ...]:
    """The cells of the first row that is not empty; none if they are too long."""
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return tuple(next((row for row in rows if row), ()))
    except csv.Error:
        return ()
