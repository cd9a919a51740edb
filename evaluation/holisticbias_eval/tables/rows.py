"""Rows of JSON: one object per line, or an array of objects."""

import codecs
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from holisticbias.errors import in_one_line
from holisticbias.inputs import refuse_unreadable, require_file, whole_text
from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.tables.content import LONGEST, bounded_chunks, not_utf8

Row = dict[str, Any]
_BLANK = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(rb"\S[^\n]*")
_DECODER = json.JSONDecoder()
_CUT = "the file ends in the middle"
_FORMS = "write one object per line, or an array of objects"


def parse_json(text: str) -> Any:
    """The value of a JSON text; half a character, which JSON may hold and no file can, becomes U+FFFD.

    Raises ``ValueError`` and ``RecursionError``.
    """
    found = json.loads(text)
    if "\\ud" not in text and "\\uD" not in text:
        return found
    return json.loads(whole_text(json.dumps(found, ensure_ascii=False)))


def read_json(path: Path, error: type[EvaluationError], remedy: str, largest: int | None = None) -> Any:
    """The value in a JSON file of at most ``largest`` bytes; raises ``error`` with the remedy."""
    try:
        with refuse_unreadable(path, error, remedy):
            return parse_json(require_file(path, largest).read_text("utf-8-sig"))
    except UnicodeDecodeError as cause:
        raise error(f"{path} is not UTF-8 text: unpack it, or save it in UTF-8; {remedy}") from cause
    except (ValueError, RecursionError) as cause:
        reason = in_one_line(cause)
        raise error(f"{path} is not JSON, or is truncated: {reason}; {remedy}") from cause


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the objects of a file of JSON lines or of one array; raises ``TableError`` with the line or row."""
    chunks = bounded_chunks(path)
    first, before = next(chunks, b"").removeprefix(codecs.BOM_UTF8), 0
    while not first.strip() and (more := next(chunks, None)) is not None:
        before += first.count(b"\n")
        first = more
    chunks = chain([first], chunks)
    yield from _array(path, chunks) if first.lstrip().startswith(b"[") else _lines(path, chunks, before + 1)


def _lines(path: Path, chunks: Iterator[bytes], start: int) -> Iterator[Row]:
    for number, line in _numbered(path, chunks, start):
        try:
            row = json.loads(line.decode())
        except UnicodeDecodeError as error:
            raise not_utf8(f"{path}:{number}") from error
        except (ValueError, RecursionError) as error:
            raise TableError(f"{path}:{number}: it is not JSON: {error}; {_FORMS}") from error
        if not isinstance(row, dict):
            raise TableError(f"{path}:{number}: it is not a JSON object; {_FORMS}")
        yield row


def _numbered(path: Path, chunks: Iterator[bytes], number: int) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    rest = b""
    for chunk in chain(chunks, [b"\n"]):
        text = rest + chunk
        end, place = text.rfind(b"\n") + 1, 0
        for line in _LINE.finditer(text, 0, end):
            number += text.count(b"\n", place, line.start())
            place = line.start()
            yield number, line[0]
        number += text.count(b"\n", place, end)
        rest = text[end:]
        if len(rest) > LONGEST:
            raise TableError(f"{path}:{number}: the line is longer than {LONGEST >> 20} MiB")


def _array(path: Path, chunks: Iterator[bytes]) -> Iterator[Row]:
    number = 0
    try:
        for number, row in enumerate(array_items(chunks), 1):
            if not isinstance(row, dict):
                raise TableError(f"{path}: row {number} is not a JSON object; {_FORMS}")
            yield row
    except UnicodeDecodeError as error:
        raise not_utf8(f"{path}: row {number + 1}") from error
    except (ValueError, RecursionError) as error:
        raise TableError(f"{path}: row {number + 1} is not JSON: {error}") from error


def array_items(chunks: Iterator[bytes]) -> Iterator[Any]:
    """Yield the items of a JSON array, holding one of them and at most ``LONGEST`` characters at a time.

    Raises ``ValueError`` for other content, and ``RecursionError``.
    """
    texts = codecs.iterdecode(chunks, "utf-8-sig")
    text, place = _after_blank(texts, "", 0)
    if text[place : place + 1] != "[":
        raise ValueError("an array begins with [")
    text, place = _after_blank(texts, text, place + 1)
    while text[place : place + 1] != "]":
        item, text, place = _item(texts, text, place)
        yield item
        text, place = _after_blank(texts, text, place)
        if text[place : place + 1] == ",":
            text, place = _after_blank(texts, text, place + 1)
        elif text[place : place + 1] != "]":
            raise ValueError("a comma is missing" if place < len(text) else _CUT)
    text, place = _after_blank(texts, text, place + 1)
    if place < len(text):
        raise ValueError("the array ends before the file does")


def _item(texts: Iterator[str], text: str, place: int) -> tuple[Any, str, int]:
    """The item at a place, and the text and the place that follow it."""
    while True:
        problem = _CUT
        try:
            item, end = _DECODER.raw_decode(text, place)
            if end < len(text):  # else a number may go on in the next part
                return item, text, end
        except json.JSONDecodeError as error:
            problem = error.msg
        more = _more(texts, len(text) - place) if len(text) - place <= LONGEST else ""
        if not more:
            raise ValueError(problem)
        text, place = text[place:] + more, 0


def _after_blank(texts: Iterator[str], text: str, place: int) -> tuple[str, int]:
    """The text that follows, and the place of its first character that is not blank, or its end."""
    place = _end_of_blank(text, place)
    while place == len(text) and (more := next(texts, None)) is not None:
        text, place = more, _end_of_blank(more, 0)
    return text, place


def _end_of_blank(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return place if blank is None else blank.end()


def _more(texts: Iterator[str], least: int) -> str:
    """At least as many characters, or all that are left: an item is not read again for every part."""
    parts, size = list[str](), 0
    for part in texts:
        parts.append(part)
        size += len(part)
        if size >= least:
            break
    return "".join(parts)
