"""Read the sentences that pairs are made of: a folder or table of this package, or a file of the published code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from holisticbias_eval.errors import PairsError
from holisticbias_eval.stereotypes.imported import SENTENCES
from holisticbias_eval.stereotypes.published_pairs import as_published

FILE = "sentences.parquet"


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
    opened = SENTENCES.open(file)
    if {"att_term_1", "att_term_2", "template"} <= {*opened.names}:
        raise PairsError(
            f"{path} holds pairs already: read their sentences with `holisticbias stereotypes sentences --import "
            f"{path}`"
        )
    table = SENTENCES.read(opened)
    columns = {name: [text or "" for text in table[name].to_pylist()] for name in table.column_names}
    columns |= {name: as_published(columns.get(name, [""] * table.num_rows)) for name in ("discarded", "reason")}
    return [_sentence(columns, row) for row in range(table.num_rows)]


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
