"""Read the sentences that pairs are made of: a folder or table of this package, or a file of the published code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.errors import PairsError
from holisticbias_eval.stereotypes.published_pairs import as_published
from holisticbias_eval.table_files import read_table

FILE = "sentences.parquet"
REQUIRED = ("attribute", "term", "sentence")
_PUBLISHED = {
    "Bias Name": "specification",
    "Attribute word": "attribute",
    "Group Term": "term",
    "Generated sentence": "sentence",
    "Template version": "template",
    "Discarded": "discarded",
    "Reason for discard": "reason",
}
_TEXTS = ("sentence_id", "specification", "attribute_set", "group", "source", "generator", *REQUIRED)


@dataclass(frozen=True, slots=True)
class SourceSentence:
    """A sentence with its attribute and term; the other values are null if the table does not have them.

    ``template``, ``discarded`` and ``reason`` are those of a file of the published code.
    """

    sentence_id: str
    specification: str | None
    attribute: str
    term: str
    sentence: str
    attribute_set: str | None = None
    group: str | None = None
    source: str = "imported"
    generator: str | None = None
    template: str | None = None
    discarded: str = ""
    reason: str = ""


def read_source_sentences(path: Path) -> list[SourceSentence]:
    """The sentences of a folder with ``sentences.parquet``, or of a table (.csv, .jsonl or .parquet).

    A table has the columns attribute, term, sentence and, unless one specification is given, specification; or the
    columns of the published code. Raises ``PairsError``.
    """
    file = path / FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise PairsError(
            f"{path} has no {FILE}: name a folder that `holisticbias stereotypes sentences` wrote, or a table"
        )
    known = dict.fromkeys((*_TEXTS, "group term", *_PUBLISHED), pa.large_string())
    columns = _columns(file, read_table(file, known))
    count = len(columns["sentence"])
    columns["discarded"] = as_published(columns.get("discarded", [""] * count))
    columns["reason"] = as_published(columns.get("reason", [""] * count))
    return [_sentence(columns, i) for i in range(count)]


def _columns(path: Path, table: pa.Table) -> dict[str, list[str]]:
    """The known columns of a table as texts, by the names of this package."""
    is_published = all(name in table.column_names for name in ("Bias Name", "Group Term", "Template version"))
    names: Mapping[str, str] = _PUBLISHED if is_published else {"group term": "term", **{n: n for n in _TEXTS}}
    found = {name: _texts(table[column]) for column, name in names.items() if column in table.column_names}
    missing = [name for name in REQUIRED if name not in found]
    if {"att_term_1", "att_term_2", "template"} <= set(table.column_names):
        raise PairsError(
            f"{path} holds pairs already: read their sentences with `holisticbias stereotypes sentences --import "
            f"{path}`"
        )
    if missing:
        has = ", ".join(map(repr, table.column_names[:8]))[:200]
        raise PairsError(
            f"{path} has no column {missing[0]}: a table of sentences has specification, {', '.join(REQUIRED)}; "
            f"this file has {has}"
        )
    return found


def _texts(column: pa.ChunkedArray) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _sentence(columns: Mapping[str, Sequence[str]], row: int) -> SourceSentence:
    given = {name: values[row] for name, values in columns.items()}
    return SourceSentence(
        sentence_id=given.get("sentence_id") or f"row-{row + 1}",
        specification=given.get("specification") or None,
        attribute=given["attribute"],
        term=given["term"],
        sentence=given["sentence"].strip(),
        attribute_set=given.get("attribute_set") or None,
        group=given.get("group") or None,
        source=given.get("source") or "imported",
        generator=given.get("generator") or None,
        template=given.get("template"),
        discarded=given["discarded"],
        reason=given["reason"],
    )
