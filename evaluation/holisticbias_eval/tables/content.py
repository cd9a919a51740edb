"""Read the bytes and the lines of a file, compressed or not, in bounded memory."""

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from holisticbias.errors import in_one_line
from holisticbias.inputs import refuse_unreadable, require_file
from holisticbias_eval.errors import TableError

COMPRESSED = (".zst", ".gz", ".bz2", ".xz")
LONGEST = 1 << 24
"""Bytes of the longest line that is read."""
WINDOW = 1 << 31
"""Bytes of the largest zstd window that is read: Reddit archives are written with ``--long=31``."""
_MAGIC = {b"\x28\xb5\x2f\xfd": ".zst", b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
_PLAIN = 1 << 18  # bytes
_PACKED = 1 << 12  # bytes: a few bytes of zstd can hold 128 KiB
_EXPANSION = 200  # real tables expand by less than 20
_SPARE = 1 << 26  # bytes
_LONGEST_TEXT = 1 << 40  # bytes: some corpora are one line


class DamagedError(Exception):
    """A file that is damaged or ends in the middle; what stands before was read."""


def compression(path: Path) -> str | None:
    """The suffix of the compression that a file's first bytes say, null if it is not compressed. Raises ``OSError``."""
    with path.open("rb") as raw:
        return _compression(raw)


def read_lines(path: Path, read: Callable[[int], None]) -> Iterator[bytes | None]:
    """Yield the lines of a file without their ends, null for a line longer than ``LONGEST``.

    ``read`` takes the number of bytes of the file that were read since its last call. The last lines before damage are
    yielded too. Raises ``DamagedError`` after them, and ``OSError``.
    """
    first = True
    for line in split_lines(read_chunks(path, read)):
        yield line.removeprefix(b"\xef\xbb\xbf") if first and line is not None else line
        first = False


def read_chunks(path: Path, read: Callable[[int], None], start: int = 0) -> Iterator[bytes]:
    """Yield the content of a file, unpacked, from the byte ``start`` of the content on.

    ``read`` is as for ``read_lines``. Raises ``DamagedError`` after what stands before damage, and ``OSError``.
    """
    with require_file(path).open("rb") as raw:
        kind = _compression(raw)
        if kind is None:
            read(raw.seek(start))
            yield from _plain(raw, read)
        else:
            for chunk in _unpacked(raw, kind, read):
                yield chunk[start:]
                start = max(start - len(chunk), 0)


def bounded_chunks(path: Path) -> Iterator[bytes]:
    """Yield the content of a file, unpacked.

    Raises ``OSError``, and ``TableError`` if the compressed data is damaged or expands by more than a table does.
    """
    packed = unpacked = 0

    def count(size: int) -> None:
        nonlocal packed
        packed += size

    try:
        for chunk in read_chunks(path, count):
            unpacked += len(chunk)
            if unpacked > _SPARE + _EXPANSION * packed:
                raise TableError(f"{path} expands from {packed:,} to over {unpacked:,} bytes: unpack it first")
            yield chunk
    except DamagedError as error:
        raise TableError(f"{path} cannot be read: {error}") from error


def read_content(path: Path) -> bytes:
    """The whole content of a file, unpacked. Raises ``TableError``."""
    with refuse_unreadable(path, TableError):
        return b"".join(bounded_chunks(path))


def text_lines(path: Path) -> list[str]:
    """The lines of a text file; see ``content_lines``. Raises ``TableError``."""
    return content_lines(path, read_content(path))


def content_lines(path: Path, content: bytes) -> list[str]:
    """The lines of a file's content in UTF-8, without their ends.

    A line ends with a line feed, a carriage return or both, and with no other character. Raises ``TableError``.
    """
    lines = content_text(path, content).split("\n")
    return lines if lines[-1] else lines[:-1]


def content_text(path: Path, content: bytes) -> str:
    """A file's content in UTF-8, every line with a line feed at its end. Raises ``TableError``."""
    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise not_utf8(f"{path}:{number}") from error


def each_line(path: Path) -> Iterator[str]:
    """Yield the lines of a text file in UTF-8 without their ends, one at a time. Raises ``TableError``."""
    with refuse_unreadable(path, TableError):
        for number, line in enumerate(split_lines(bounded_chunks(path), _LONGEST_TEXT), 1):
            try:
                yield (line or b"").decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise not_utf8(f"{path}:{number}") from error


def not_utf8(place: str) -> TableError:
    """The error that a file is not UTF-8 at a place, such as FILE:LINE."""
    return TableError(f"{place}: it is not UTF-8 text: save it in UTF-8")


def split_lines(chunks: Iterator[bytes], longest: int = LONGEST) -> Iterator[bytes | None]:
    """Yield the lines of chunks of bytes without their ends, null for a line of more than ``longest`` bytes.

    A line that damage cuts is left out.
    """
    rest, too_long = bytearray(), False
    for chunk in chunks:
        *lines, last = chunk.split(b"\n")
        if lines:
            lines[0] = bytes(rest) + lines[0]
            for place, line in enumerate(lines):
                is_cut = (too_long and not place) or len(line) > longest
                yield None if is_cut else line.removesuffix(b"\r")
            rest, too_long = bytearray(last), False
        elif not too_long:
            rest += last
        if len(rest) > longest:
            rest, too_long = bytearray(), True
    if rest or too_long:
        yield None if too_long else bytes(rest).removesuffix(b"\r")


def _compression(raw: BufferedReader) -> str | None:
    """The suffix of the compression that the first bytes say, null if they say none; reads nothing."""
    start = raw.peek(8)
    return next((suffix for magic, suffix in _MAGIC.items() if start.startswith(magic)), None)


def _plain(raw: IO[bytes], read: Callable[[int], None]) -> Iterator[bytes]:
    while data := raw.read(_PLAIN):
        yield data
        read(len(data))


def _unpacked(raw: IO[bytes], kind: str, read: Callable[[int], None]) -> Iterator[bytes]:
    """The content of a compressed file, of all its frames one after another."""
    unpacker: Any = None
    make, damages = _unpackers(kind)
    try:
        while data := raw.read(_PACKED):
            read(len(data))
            while data := data if unpacker else data.lstrip(b"\0"):
                unpacker = unpacker or make()
                yield unpacker.decompress(data)
                data = unpacker.unused_data if unpacker.eof else b""
                unpacker = None if unpacker.eof else unpacker
    except damages as error:
        raise DamagedError(f"its compressed data is damaged ({in_one_line(error, 100)})") from error
    if unpacker is not None:
        raise DamagedError("its compressed data ends in the middle")


def _unpackers(kind: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """The function that makes a decompressor, and the errors that it raises for damaged data."""
    if kind == ".zst":
        import zstandard

        return zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj, (zstandard.ZstdError,)
    if kind == ".gz":
        return (lambda: zlib.decompressobj(wbits=31)), (zlib.error,)
    if kind == ".bz2":
        return bz2.BZ2Decompressor, (OSError, EOFError)
    return lzma.LZMADecompressor, (lzma.LZMAError, EOFError)
