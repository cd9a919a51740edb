"""Sentences from a file: a user's own table, and the files of the published code of Kocielnik et al. 2023."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holisticbias_eval.errors import EvaluationError
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
