"""Sources of documents that a user names: files of text or JSON, folders of them, and datasets of the Hub.

``datasets`` streams a dataset of the Hub, but does not read the files here: it parses every row, which takes ten times
as long as looking for a group's terms in its bytes first, and it stops at the first bad line.
"""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import ClassVar

from holisticbias.errors import in_one_line
from holisticbias.inputs import refuse_unreadable
from holisticbias_eval.corpus.documents import FIELDS, TextDocument, row_document
from holisticbias_eval.corpus.examples import record_of
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.tables.content import COMPRESSED, LONGEST, DamagedError, read_chunks, read_lines
from holisticbias_eval.tables.files import JSON, table_suffix
from holisticbias_eval.tables.rows import array_items

TEXT = (".txt", ".text", ".md")
HUB = "hub:"
RECORD_SUFFIX = ".retrieval.json"
"""The end of the name of the record beside a table of retrieved sentences."""
_TABLES = (".parquet", ".csv", ".tsv", ".arrow", ".feather")
_NAMES = 20  # fields in a message
_ARRAY = re.compile(rb"\[\s*\{")
_START = 64  # bytes
_SHOWN = 1000  # rows between two updates of the progress


@dataclass(slots=True)
class DocumentReading:
    """Options and counts of reading documents.

    ``may_mention`` says of a document's bytes whether it may mention a group; others are counted and not parsed.
    ``read`` takes numbers of bytes. ``text_field`` holds the text of a row, by default the first of ``FIELDS`` does.
    ``bad`` counts lines that are not valid, ``without_text`` rows that lack the field; ``damaged`` names files that
    could not be read to the end.
    """

    may_mention: Callable[[bytes], bool]
    text_field: str | None = None
    paragraphs: bool = False
    read: Callable[[int], None] = lambda _: None
    documents: int = 0
    with_text: int = 0
    bad: int = 0
    first_bad: str | None = None
    without_text: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    damaged: list[str] = field(default_factory=list)

    def refuse(self, place: str, why: str) -> None:
        """Count a bad line."""
        self.bad += 1
        self.first_bad = self.first_bad or f"{place}: {why}"

    def take_line(self, line: bytes, place: str, *, is_json: bool) -> TextDocument | None:
        """The document that a line or paragraph is, or that a line of JSON has; null, and counted, without one."""
        try:
            if is_json:
                return self.take_row(json.loads(line), place)
            document = TextDocument(line.decode(), place)
        except (ValueError, RecursionError):
            self.refuse(place, "not valid JSON" if is_json else "not UTF-8")
            return None
        self.with_text += 1
        return document

    def take_rows(self, rows: Iterable[tuple[str, object]]) -> Iterator[TextDocument]:
        """Yield the documents that may mention a group, of rows with their places."""
        for place, row in rows:
            self.documents += 1
            if self.documents % _SHOWN == 0:
                self.read(0)  # shows the progress
            document = self.take_row(row, place)
            if document is not None and self.may_mention(document.text.encode()):
                yield document

    def take_row(self, row: object, place: str) -> TextDocument | None:
        """The document of a row, null if it has none, which is counted."""
        if not isinstance(row, dict):
            self.refuse(place, "not a JSON object")
            return None
        document = row_document(row, place, self.text_field)
        if document is None:
            self.without_text += 1
            self.fields.update(str(name)[:40] for name in list(row)[:_NAMES])
        self.with_text += document is not None
        return document

    @property
    def missing_field(self) -> str:
        """The line for a user whose rows all lack the field."""
        wanted = self.text_field or ", ".join(FIELDS)
        names = ", ".join(repr(name) for name, _ in self.fields.most_common(_NAMES))
        return f"no row has a text in the field {wanted}: name another with --field; found {names or 'no fields'}"


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file whose lines or paragraphs are documents, or with a JSON object on each line or an array of objects."""

    path: Path
    name: str

    def documents(self, reading: DocumentReading) -> Iterator[TextDocument]:
        """Yield the documents that may mention a group. Raises ``CorpusError`` if the file cannot be read."""
        try:
            with refuse_unreadable(self.path, CorpusError):
                start = self._start()
                is_json = self._is_json(start)
                if is_json and _ARRAY.match(start):
                    yield from reading.take_rows(self._items(reading))
                else:
                    yield from self._lines(reading, is_json=is_json)
        except DamagedError as error:
            reading.damaged.append(f"{self.name}: {error}; what was read before is kept")

    @property
    def is_text(self) -> bool:
        """Whether its documents are lines or paragraphs of text."""
        return not self._is_json(self._start())

    def _lines(self, reading: DocumentReading, *, is_json: bool) -> Iterator[TextDocument]:
        lines = read_lines(self.path, reading.read)
        for number, line in _paragraphs(lines) if reading.paragraphs and not is_json else enumerate(lines, 1):
            if line is not None and (not line or line.isspace()):
                continue
            reading.documents += 1
            if line is None:
                reading.refuse(f"{self.name}:{number}", "longer than 16 MiB")
            elif reading.may_mention(line):
                document = reading.take_line(line, f"{self.name}:{number}", is_json=is_json)
                if document is not None:
                    yield document
            elif is_json and not (line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")):
                reading.refuse(f"{self.name}:{number}", "not a JSON object")

    def _items(self, reading: DocumentReading) -> Iterator[tuple[str, object]]:
        """The items of a JSON array with their places: the file and the number of the item."""
        number = 0
        try:
            for number, item in enumerate(array_items(read_chunks(self.path, reading.read)), 1):
                yield f"{self.name}:{number}", item
        except (ValueError, RecursionError) as error:
            raise DamagedError(f"item {number + 1} of its array is not valid JSON ({str(error)[:100]})") from error

    def _start(self) -> bytes:
        """The first bytes of the content that are not blank, enough to tell JSON from text."""
        start = b""
        with suppress(DamagedError, OSError):  # reading the documents raises it again
            for chunk in read_chunks(self.path, lambda _: None):
                start = (start + chunk).removeprefix(codecs.BOM_UTF8).lstrip()
                if len(start) >= _START:
                    break
        return start

    def _is_json(self, start: bytes) -> bool:
        """Whether the file holds JSON, by its name, or by its first bytes if the name does not say."""
        suffix = table_suffix(self.path)
        if suffix in (*JSON, *TEXT):
            return suffix in JSON
        return start.startswith(b"{") or _ARRAY.match(start) is not None


def _paragraphs(lines: Iterator[bytes | None]) -> Iterator[tuple[int, bytes | None]]:
    """Paragraphs, between empty lines, with the number of their first line; one longer than ``LONGEST`` is null."""
    first, held, length = 0, list[bytes](), 0
    for number, line in enumerate(chain(lines, [b""]), 1):
        if line is not None and not line.strip():
            if length:
                yield first, None if length > LONGEST else b"\n".join(held)
            held, length = [], 0
            continue
        first = first if length else number
        length += LONGEST + 1 if line is None else len(line)
        if line is not None and length <= LONGEST:
            held.append(line)


@dataclass(frozen=True, slots=True)
class HubDataset:
    """A dataset of the Hub, or a local folder in a form that ``datasets`` reads: its rows are streamed."""

    name: str
    config: str | None
    split: str | None
    is_text: ClassVar = False

    def documents(self, reading: DocumentReading) -> Iterator[TextDocument]:
        """Yield the documents that may mention a group.

        Raises ``CorpusError`` if the dataset cannot be opened; if it breaks off, what was read is kept.
        """
        import pyarrow as pa
        from datasets.exceptions import DatasetsError

        before = reading.documents
        try:
            yield from reading.take_rows(self._rows())
        except (OSError, ValueError, RuntimeError, LookupError, TypeError, DatasetsError, pa.ArrowException) as error:
            why = in_one_line(error)
            number = reading.documents - before
            if not number:
                raise CorpusError(f"{HUB}{self.name} cannot be read as a dataset: {why}") from error
            reading.damaged.append(f"{HUB}{self.name}: broke off after {number:,} rows ({why}); these are kept")

    def _rows(self) -> Iterator[tuple[str, object]]:
        from datasets import IterableDatasetDict, disable_progress_bars, load_dataset

        disable_progress_bars()
        loaded = load_dataset(self.name, self.config, split=self.split, streaming=True)
        parts = loaded if isinstance(loaded, IterableDatasetDict) else {self.split: loaded}
        for split, rows in parts.items():
            where = ":".join([f"{HUB}{self.name}", *([self.config] if self.config else []), str(split)])
            for number, row in enumerate(rows, 1):
                yield f"{where}:{number}", row


def find_sources(names: Sequence[str], out: Path) -> list[TextFile | HubDataset]:
    """The files and datasets of names, each once: files, folders of files, and ``hub:OWNER/NAME[:CONFIG][:SPLIT]``.

    ``out`` is not a source, nor are the files of a folder that an earlier retrieval wrote. Files of equal names are
    named with their folders. Raises ``CorpusError``.
    """
    sources: dict[TextFile | HubDataset, None] = {}
    for name in names:
        sources |= dict.fromkeys([_dataset(name)] if name.startswith(HUB) else _files(Path(name), out))
    times = Counter(source.name for source in sources)
    return [
        replace(source, name=source.path.as_posix())
        if isinstance(source, TextFile) and times[source.name] > 1
        else source
        for source in sources
    ]


def size(sources: Iterable[TextFile | HubDataset]) -> int:
    """The bytes of all files."""
    return sum(source.path.stat().st_size for source in sources if isinstance(source, TextFile))


def _dataset(name: str) -> HubDataset:
    repository, *more = name.removeprefix(HUB).split(":")
    if not repository or len(more) > 2:
        raise CorpusError(f"{name[:200]!r} does not name a dataset: write hub:OWNER/NAME[:CONFIG][:SPLIT]")
    config, split = [part or None for part in (*more, "", "")[:2]]
    return HubDataset(repository, config, split)


def _files(path: Path, out: Path) -> Iterator[TextFile]:
    with refuse_unreadable(path, CorpusError):
        if path.is_dir():
            paths = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_known(file, path)]
            paths = [file for file in paths if file.resolve() != out.resolve() and not _is_retrieved(file)]
        elif path.is_file():
            paths = [path]
        else:
            raise CorpusError(f"{path} does not exist: name a file, a folder, or hub:OWNER/NAME")
    if not paths:
        known = " ".join((*JSON, *TEXT, *COMPRESSED))
        raise CorpusError(f"{path} has no files to read, whose names end in {known}")
    for file in paths:
        if table_suffix(file) in _TABLES:
            raise CorpusError(f"{file} is a table: put it into a folder and name that hub:FOLDER")
        yield TextFile(file, file.name if file == path else file.relative_to(path).as_posix())


def _is_retrieved(path: Path) -> bool:
    """Whether a file is a record of a retrieval, or has one beside it; earlier versions named it without ``.jsonl``."""
    if path.name.endswith(RECORD_SUFFIX) or record_of(path, RECORD_SUFFIX).is_file():
        return True
    return path.suffix.lower() == ".jsonl" and record_of(path.with_suffix(""), RECORD_SUFFIX).is_file()


def _is_known(path: Path, folder: Path) -> bool:
    if any(part.startswith(".") for part in path.relative_to(folder).parts):
        return False
    return path.suffix.lower() in (*JSON, *TEXT, *COMPRESSED) and table_suffix(path) not in _TABLES
