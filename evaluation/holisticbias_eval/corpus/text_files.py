"""Files of documents: one text per line or paragraph, or one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from holisticbias_eval.corpus.documents import Document
from holisticbias_eval.corpus.reading import Reading
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.content import COMPRESSED, LONGEST, DamagedError, read_lines

JSON = (".jsonl", ".ndjson", ".json")
TEXT = (".txt", ".text", ".md")


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose lines or paragraphs are documents, or with a JSON object on each line."""

    path: Path
    name: str

    def documents(self, reading: Reading) -> Iterator[Document]:
        """Yield the documents that may mention a group. Raises ``CorpusError`` if the file cannot be read."""
        try:
            yield from self._documents(read_lines(self.path, reading.read), reading)
        except DamagedError as error:
            reading.damaged.append(f"{self.name}: {error}; what was read before is kept")
        except OSError as error:
            raise CorpusError(f"{self.path} cannot be read: {error.strerror or error}") from error

    def _documents(self, lines: Iterator[bytes | None], reading: Reading) -> Iterator[Document]:
        start = next(lines, b"")
        lines = chain([start], lines)
        known = self._is_json()
        is_json = (start or b"").lstrip().startswith(b"{") if known is None else known
        numbered = _paragraphs(lines) if reading.paragraphs and not is_json else enumerate(lines, 1)
        for number, line in numbered:
            if line is None:
                reading.documents += 1
                reading.refuse(f"{self.name}:{number}", "longer than 16 MiB")
                continue
            if not line or line.isspace():
                continue
            reading.documents += 1
            if reading.may_mention(line):
                read = _json_document if is_json else _text_document
                document = read(line, f"{self.name}:{number}", reading)
                if document is not None:
                    yield document
            elif is_json and not (line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")):
                reading.refuse(f"{self.name}:{number}", "not a JSON object")

    def _is_json(self) -> bool | None:
        """Whether the name says that the file holds JSON lines, null if it does not say."""
        suffixes = [suffix.lower() for suffix in self.path.suffixes if suffix.lower() not in COMPRESSED]
        last = suffixes[-1] if suffixes else ""
        return True if last in JSON else False if last in TEXT else None


def _paragraphs(lines: Iterator[bytes | None]) -> Iterator[tuple[int, bytes | None]]:
    """Paragraphs, between empty lines, with the number of their first line; null if one is longer than ``LONGEST``."""
    first, held, length = 0, list[bytes](), 0
    for number, line in enumerate(lines, 1):
        if line is not None and (not line or line.isspace()):
            if held:
                yield first, b"\n".join(held)
            held, length = [], 0
        elif line is None or length + len(line) > LONGEST:
            yield number, None
            held, length = [], 0
        else:
            first = first if held else number
            held.append(line)
            length += len(line)
    if held:
        yield first, b"\n".join(held)


def _json_document(line: bytes, place: str, reading: Reading) -> Document | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        reading.refuse(place, "not valid JSON")
        return None
    return reading.take_row(row, place)


def _text_document(line: bytes, place: str, reading: Reading) -> Document | None:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        reading.refuse(place, "not UTF-8")
        return None
    reading.with_text += 1
    return Document(text, place)
