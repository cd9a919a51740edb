"""Sentences from a file: a table or folder of this package, or a published file of Kocielnik et al. 2023."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias_eval.errors import EvaluationError, PairsError
from holisticbias_eval.stereotypes.published_pairs import as_published
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import table_suffix
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tables.rows import read_rows

_OWN = {"sentence": "sentence", "attribute": "attribute", "group term": "term"}
_GENERATED = {
    "Generated sentence": "sentence",
    "Attribute word": "attribute",
    "Group Term": "term",
    "Bias Name": "specification",
    "Template version": "template",
    "Discarded": "discarded",
    "Reason for discard": "reason",
}
_PAIRS = {
    "sent_att_1": "sentence",
    "group_term": "attribute",
    "att_term_1": "term",
    "group": "specification",
    "discarded": "discarded",
}
SENTENCES = Form(
    "sentences",
    (
        Field("sentence", "text", need=True),
        *columns("label", "attribute", "term", need=True),
        *columns("label", "specification", "discarded", "reason", "template"),
        *columns("label", "sentence_id", "attribute_set", "group", "source", "generator"),
    ),
    published=(_GENERATED, _PAIRS, _OWN),
    any_case=True,
)
"""Sentences with the attribute and the term in them: of this package, of a user, or of the published code."""
_UNDISCARDED = {"", "0", "0.0", "false", "nan", "none"}


@dataclass(frozen=True, slots=True)
class Imported:
    """A sentence of a file.

    ``row`` counts from 1; ``specification`` is the name that the file gives, null if it gives none; ``discarded`` is
    whether the file marks the sentence as discarded.
    """

    row: int
    sentence: str
    attribute: str
    term: str
    specification: str | None = None
    discarded: bool = False


def read_sentences(path: Path) -> list[Imported]:
    """Read the sentences of a file, in order.

    A user's table has the columns ``sentence``, ``attribute`` and ``group term`` (or ``term``), and may have
    ``specification``. The published code's ``gen_csv``, ``gen_pairs_csv``, whose first sentence of each pair is the
    generated one, and ``gen_json`` are known by their columns. Raises ``EvaluationError`` with what the file lacks.
    """
    if table_suffix(path) == ".json" and not any("sentence" in row for row in read_rows(path)):
        found = list(_read_json(path))
    else:
        found = [_read_row(path, number, row) for number, row in enumerate(SENTENCES.read(path).to_pylist(), 1)]
    if not found:
        raise EvaluationError(f"{path} has no sentences")
    return found


def _read_row(path: Path, number: int, row: Mapping[str, str | None]) -> Imported:
    texts = {name: text or "" for name, text in row.items()}
    for what in ("attribute", "term"):
        if not texts[what].strip():
            raise EvaluationError(f"{path}: row {number}: the {what} is missing: every sentence needs one")
    return Imported(
        number,
        texts["sentence"],
        texts["attribute"].strip(),
        texts["term"].strip(),
        texts.get("specification", "").strip() or None,
        texts.get("discarded", "").strip().casefold() not in _UNDISCARDED,
    )


def _read_json(path: Path) -> Iterator[Imported]:
    """The sentences of a ``gen_json`` file: a list of biases, with attributes by set."""
    row = 0
    try:
        for bias in read_rows(path):
            sets = [value for key, value in bias.items() if key != "name"]
            for attribute in (attribute for found in sets for attribute in found.values()):
                for entry in attribute["sentences"]:
                    row += 1
                    yield _entry(row, entry, bias["name"])
    except (TypeError, KeyError, AttributeError) as error:
        raise EvaluationError(
            f"{path} is not a gen_json file: a list of objects with a name, and with sentences by attribute"
        ) from error


def _entry(row: int, entry: Mapping[str, Any], name: Any) -> Imported:
    sentence, attribute, term = (str(entry[key]) for key in ("sentence", "attribute_term", "group_term"))
    return Imported(row, sentence, attribute, term, str(name))


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
