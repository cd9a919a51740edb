"""One retrieval from end to end: read sources, write the table of examples and its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holisticbias.output import write_file
from holisticbias_eval.corpus.documents import bare_identifier
from holisticbias_eval.corpus.examples import refuse_source, refuse_suffix, write_examples
from holisticbias_eval.corpus.mentions import target_filter
from holisticbias_eval.corpus.retrieving import Retrieval
from holisticbias_eval.corpus.settings import RetrievalSettings
from holisticbias_eval.corpus.sources import DocumentReading, HubDataset, TextFile, find_sources, size
from holisticbias_eval.errors import CorpusError, NoExamplesError, TableError
from holisticbias_eval.progress import Display
from holisticbias_eval.stereotypes.specifications import read_specification
from holisticbias_eval.tables.content import text_lines

RECORD_SUFFIX = ".retrieval.json"
_IDENTIFIERS = "give a file with one identifier per line"
_MEGABYTE = 1_000_000
_CALLS = 1000  # of the function that counts, between two updates of the progress


def retrieve_examples(
    names: Sequence[str],
    specification: str,
    out: Path,
    settings: RetrievalSettings,
    display: Display,
) -> dict[str, Any]:
    """Retrieve sentences from files and datasets; write them, and the record beside them as ``NAME.retrieval.json``.

    The record has settings and counts.
    Raises ``CorpusError``, ``SpecificationError``, ``OutputError``, and ``NoExamplesError`` if nothing is found.
    """
    refuse_suffix(out)
    if out.is_dir():
        raise CorpusError(f"{out} is a folder: name a file")
    refuse_source(out, [*map(Path, names), *settings.without])
    groups = read_specification(specification)
    sources = find_sources(names, out)
    retrieval = Retrieval(groups, settings, read_identifiers(settings.without))
    reading = DocumentReading(target_filter(groups), settings.text_field, settings.paragraphs)
    with _progress(sources, retrieval, reading, display):
        for source in sources:
            for document in source.documents(reading):
                retrieval.take(document)
    if not retrieval.found.total():
        raise NoExamplesError(_why_nothing(retrieval, reading))
    record = _record(retrieval, reading, [source.name for source in sources])
    write_examples(retrieval.table(), out)
    write_file(out.with_name(out.stem + RECORD_SUFFIX), f"{json.dumps(record, indent=2)}\n".encode())
    return record


def read_identifiers(paths: Sequence[Path]) -> frozenset[str]:
    """The identifiers of files with one per line. Raises ``CorpusError``."""
    try:
        lines = [line.strip() for path in paths for line in text_lines(path)]
    except TableError as error:
        raise CorpusError(f"{error}; {_IDENTIFIERS}") from error
    return frozenset(bare_identifier(line) for line in lines if line)


@contextmanager
def _progress(
    sources: Sequence[TextFile | HubDataset], retrieval: Retrieval, reading: DocumentReading, display: Display
) -> Iterator[None]:
    """Show the bytes that are read of all files, and the documents and sentences so far."""
    total = -(-size(sources) // _MEGABYTE)
    waiting = calls = 0

    def detail() -> str:
        return f"{reading.documents:,} documents, {retrieval.found.total():,} sentences"

    with display.progress("Reading", total, "MB", detail) as progress:

        def read(count: int) -> None:
            nonlocal waiting, calls
            waiting, calls = waiting + count, calls + 1
            if waiting >= _MEGABYTE or calls >= _CALLS:
                progress(waiting // _MEGABYTE)
                waiting, calls = waiting % _MEGABYTE, 0

        reading.read = read
        yield
        progress(waiting > 0)


def _why_nothing(retrieval: Retrieval, reading: DocumentReading) -> str:
    """The likeliest reason why there is no sentence to write."""
    name = retrieval.specification.id
    bad = f"; {reading.bad:,} lines are not valid, the first {reading.first_bad}" if reading.bad else ""
    bad += "".join(f"; {damage}" for damage in reading.damaged[:1])
    if reading.without_text and not reading.with_text:
        return reading.missing_field
    if not retrieval.mentioning:
        return f"none of {reading.documents:,} documents mentions a group of {name}{bad}"
    counts = [f"{why}: {count:,}" for why, count in (*retrieval.documents.items(), *retrieval.sentences.items())]
    return (
        f"{retrieval.mentioning:,} documents mention a group of {name}, but no sentence can be kept "
        f"({', '.join(counts)}){bad}"
    )


def _record(retrieval: Retrieval, reading: DocumentReading, sources: Sequence[str]) -> dict[str, Any]:
    held, kept = retrieval.held, retrieval.kept()
    return {
        "specification": retrieval.specification.id,
        "sources": list(sources),
        "settings": retrieval.settings.recorded,
        "documents": {
            "read": reading.documents,
            "mentioning_a_group": retrieval.mentioning,
            "kept_without_a_date": retrieval.without_date,
            "left_out": {why: count for why, count in retrieval.documents.items() if count},
        },
        "bad_lines": reading.bad,
        "first_bad_line": reading.first_bad,
        "rows_without_text": reading.without_text,
        "damaged": reading.damaged,
        "mentions_left_out": {why: count for why, count in retrieval.sentences.items() if count},
        "groups": {name: {"found": retrieval.found[name], "held": held[name], "kept": kept[name]} for name in held},
    }
