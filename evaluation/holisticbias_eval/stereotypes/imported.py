"""Sentences from a file: a user's own table, and the files of the published code of Kocielnik et al. 2023."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.table_files import read_table

_OWN = {"sentence": "sentence", "attribute": "attribute", "group term": "term", "specification": "specification"}
_GENERATED = {
    "Generated sentence": "sentence",
    "Attribute word": "attribute",
    "Group Term": "term",
    "Bias Name": "specification",
    "Discarded": "discarded",
}
_PAIRS = {
    "sent_att_1": "sentence",
    "group_term": "attribute",
    "att_term_1": "term",
    "group": "specification",
    "discarded": "discarded",
}
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

    A user's table (CSV, JSON lines or Parquet) has the columns ``sentence``, ``attribute`` and ``group term`` (or
    ``term``), and may have ``specification``. The published code's ``gen_csv``, ``gen_pairs_csv``, whose first
    sentence of each pair is the generated one, and ``gen_json`` are known by their columns. Raises
    ``EvaluationError`` with what the file lacks.
    """
    if path.suffix.lower() == ".json":
        found = list(_read_json(path))
    else:
        names = [*_OWN, "term", "group_term", *_GENERATED, *_PAIRS]
        table = read_table(path, dict.fromkeys(names, pa.large_string()))
        found = _rows(path, table, _find_columns(path, table.column_names))
    if not found:
        raise EvaluationError(f"{path} has no sentences")
    return found


def _find_columns(path: Path, names: Sequence[str]) -> Mapping[str, str]:
    """The name of each column in the file, by what it holds."""
    plain = {name.strip().casefold().replace("_", " "): name for name in reversed(names)}
    plain = {"group term": plain["term"]} | plain if "term" in plain else plain
    own = {what: plain[name] for name, what in _OWN.items() if name in plain}
    for columns in (_GENERATED, _PAIRS):
        found = {what: name for name, what in columns.items() if name in names}
        if {"sentence", "attribute", "term"} <= set(found):
            return found
    for what in ("sentence", "attribute", "term"):
        if what not in own:
            wanted = "group term" if what == "term" else what
            raise EvaluationError(
                f"{path} has no column {wanted}: a table of sentences has sentence, attribute and group term; "
                f"this file has {', '.join(map(repr, names[:8]))[:200]}"
            )
    return own


def _rows(path: Path, table: pa.Table, columns: Mapping[str, str]) -> list[Imported]:
    values = {what: _texts(table[name]) for what, name in columns.items()}
    found = []
    for i in range(table.num_rows):
        for what in ("attribute", "term"):
            if not values[what][i].strip():
                raise EvaluationError(f"{path}: row {i + 1}: the {what} is missing: every sentence needs one")
        found.append(
            Imported(
                i + 1,
                values["sentence"][i],
                values["attribute"][i].strip(),
                values["term"][i].strip(),
                values["specification"][i].strip() or None if "specification" in values else None,
                "discarded" in values and values["discarded"][i].strip().casefold() not in _UNDISCARDED,
            )
        )
    return found


def _texts(column: pa.ChunkedArray) -> list[str]:
    return ["" if value is None else str(value) for value in column.to_pylist()]


def _read_json(path: Path) -> Iterator[Imported]:
    """The sentences of a ``gen_json`` file: a list of biases, with attributes by set."""
    try:
        biases = json.loads(path.read_text("utf-8"))
        row = 0
        for bias in biases:
            sets = [value for key, value in bias.items() if key != "name"]
            for attribute in (attribute for found in sets for attribute in found.values()):
                for entry in attribute["sentences"]:
                    row += 1
                    yield _entry(row, entry, bias["name"])
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise EvaluationError(
            f"{path} is not a gen_json file: a list of objects with a name, and with sentences by attribute"
        ) from error


def _entry(row: int, entry: Mapping[str, Any], name: Any) -> Imported:
    sentence, attribute, term = (str(entry[key]) for key in ("sentence", "attribute_term", "group_term"))
    return Imported(row, sentence, attribute, term, str(name))
