"""One retrieval from end to end: read sources, write the table of examples and its record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from holisticbias.output import write_file
from holisticbias_eval.corpus.documents import bare_identifier
from holisticbias_eval.corpus.examples import refuse_suffix, write_examples
from holisticbias_eval.corpus.hub_datasets import HubDataset
from holisticbias_eval.corpus.reading import Reading, missing_field
from holisticbias_eval.corpus.retrieving import Retrieval, RetrievalSettings
from holisticbias_eval.corpus.term_filter import target_filter
from holisticbias_eval.corpus.text_files import TextFile
from holisticbias_eval.corpus.text_sources import find_sources, size
from holisticbias_eval.errors import CorpusError, NoExamplesError
from holisticbias_eval.progress import Display
from holisticbias_eval.stereotypes.specifications import read_specification

RECORD_SUFFIX = ".retrieval.json"
_MEGABYTE = 1_000_000
_CALLS = 1000  # of the function that counts, between two updates of the progress


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A table that was written, and its record: settings and counts."""

    out: Path
    record: dict[str, Any]


def retrieve_examples(
    names: Sequence[str],
    specification: str,
    out: Path,
    settings: RetrievalSettings,
    display: Display,
    *,
    text_field: str | None = None,
    paragraphs: bool = False,
    without: Sequence[Path] = (),
) -> Retrieved:
    """Retrieve sentences from files and datasets; write them, and ``NAME.retrieval.json`` beside them.

    ``without`` are files with one identifier per line: of a document, of a place as FILE:LINE, or of an example.
    Raises ``CorpusError``, ``SpecificationError``, ``OutputError``, and ``NoExamplesError`` if nothing is found.
    """
    refuse_suffix(out)
    if out.is_dir():
        raise CorpusError(f"{out} is a folder: name a file")
    chosen = read_specification(specification)
    sources = find_sources(names, out)
    retrieval = Retrieval(chosen, settings, read_identifiers(without))
    reading = Reading(target_filter(chosen), text_field, paragraphs)
    with _progress(sources, retrieval, reading, display):
        for source in sources:
            for document in source.documents(reading):
                retrieval.take(document)
    _refuse_nothing(retrieval, reading)
    record = _record(retrieval, reading, [one.name for one in sources])
    write_examples(retrieval.table(), out)
    write_file(out.with_name(out.stem + RECORD_SUFFIX), f"{json.dumps(record, indent=2)}\n".encode())
    return Retrieved(out, record)


def read_identifiers(paths: Sequence[Path]) -> frozenset[str]:
    """The identifiers of files with one per line. Raises ``CorpusError``."""
    found: set[str] = set()
    for path in paths:
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise CorpusError(f"{path} cannot be read: {why}; give a file with one identifier per line") from error
        found.update(line.strip() for line in lines if line.strip())
    return frozenset(bare_identifier(one) for one in found)


@contextmanager
def _progress(
    sources: Sequence[TextFile | HubDataset], retrieval: Retrieval, reading: Reading, display: Display
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


def _refuse_nothing(retrieval: Retrieval, reading: Reading) -> None:
    """Raise ``NoExamplesError`` if there is no sentence to write, with the likeliest reason."""
    if retrieval.found.total():
        return
    name = retrieval.specification.id
    bad = f"; {reading.bad:,} lines are not valid, the first {reading.first_bad}" if reading.bad else ""
    bad += "".join(f"; {one}" for one in reading.damaged[:1])
    if reading.without_text and not reading.with_text:
        raise NoExamplesError(missing_field(reading))
    if not retrieval.mentioning:
        raise NoExamplesError(f"none of {reading.documents:,} documents mentions a group of {name}{bad}")
    counts = [f"{why}: {count:,}" for why, count in (*retrieval.documents.items(), *retrieval.sentences.items())]
    raise NoExamplesError(
        f"{retrieval.mentioning:,} documents mention a group of {name}, but no sentence can be kept "
        f"({', '.join(counts)}){bad}"
    )


def _record(retrieval: Retrieval, reading: Reading, sources: Sequence[str]) -> dict[str, Any]:
    settings = {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in asdict(retrieval.settings).items()
    }
    held, kept = retrieval.held, retrieval.kept()
    return {
        "specification": retrieval.specification.id,
        "sources": list(sources),
        "settings": settings,
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
