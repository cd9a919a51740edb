"""Read a user's files of pairs: pairs of sentences to score, and tables of outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from holisticbias_eval.errors import ScoresError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stereotype.outcomes import CHOSEN
from holisticbias_eval.pipeline.score_columns import names_of, numbers_of, read_columns
from holisticbias_eval.prompts.pairs import SCORES, TERM_SCORES
from holisticbias_eval.stereotypes.record import RECORD, SentencesRecord
from holisticbias_eval.table_files import read_table

PAIRS_FILE = "pairs.parquet"
NAMES = ("specification", "attribute")
PAIR_COLUMNS = (*NAMES, "sentence", "other_sentence", "stereotyped")
"""Columns that a file of pairs must have."""
SIDES = ("sentence", "other_sentence")
TEXTS = (
    "pair_id", "attribute_set", "group", "other_group", "term", "other_term", "rule", "source", "generator", "label",
)  # fmt: skip
_FLAGS = ("control",)
_MEASURED = (*SCORES, *TERM_SCORES, CHOSEN, "offered_first", "orders_agree")


def read_pairs(path: Path) -> pa.Table:
    """Read pairs to score from a file, or from ``pairs.parquet`` of a folder; ``ScoresError`` says what is wrong.

    The result has ``PAIR_COLUMNS``, ``pair_id``, and of ``TEXTS``, ``control`` and ``slot`` what the file has. A pair
    without ``other_sentence`` could not be converted; ``rule`` then says why.
    """
    file = path / PAIRS_FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise ScoresError(
            f"{path} has no {PAIRS_FILE}: make it with holisticbias stereotypes pairs, or name a file of pairs"
        )
    table = read_table(file, dict.fromkeys((*PAIR_COLUMNS, *TEXTS), pa.string()))
    _require(file, table.column_names, PAIR_COLUMNS, "pairs")
    columns = {name: names_of(file, table[name], name) for name in NAMES}
    columns["sentence"] = _text(file, table["sentence"], "sentence")
    columns["other_sentence"] = _without_empty(_text(file, table["other_sentence"], "other_sentence"))
    names_of(file, columns["sentence"].filter(columns["other_sentence"].is_valid()), "sentence")
    columns["stereotyped"] = _sides(file, table["stereotyped"], columns["other_sentence"].is_valid())
    columns |= _optional(file, table, TEXTS)
    if "slot" in table.column_names:
        columns["slot"] = table["slot"]
    if columns["other_sentence"].null_count == len(table):
        raise ScoresError(f"{file}: no pair has other_sentence, so there is nothing to score")
    ids = columns.pop("pair_id", None)
    columns = {"pair_id": _pair_ids(file, ids, columns["other_sentence"].is_valid()), **columns}
    return pa.table(columns)


def read_sentence_figures(path: Path) -> tuple[Figure, ...]:
    """The yield and the quality of sentences, if their record ``sentences.json`` is in the folder of the pairs.

    Raises ``ScoresError`` if the record is damaged.
    """
    file = (path if path.is_dir() else path.parent) / RECORD
    if not file.is_file():
        return ()
    try:
        return SentencesRecord.model_validate_json(file.read_bytes()).figures
    except (OSError, ValidationError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ScoresError(f"{file} cannot be read: {reason}; remove it, or make the sentences again") from error


def read_pair_scores(path: Path) -> pa.Table:
    """Read outcomes of pairs: ``specification, attribute`` and ``stereotyped`` with 1 and 0, or both scores.

    The scores are ``score_stereotype`` and ``score_antistereotype``, where the larger is the likelier sentence. Other
    columns of a run's pairs are read if they are there. Raises ``ScoresError``.
    """

    def choose(found: Sequence[str]) -> tuple[list[str], list[str]]:
        scored = set(SCORES) <= set(found)
        _require(path, found, NAMES if scored else (*NAMES, "stereotyped"), "outcomes", " or both scores")
        texts = [name for name in (*NAMES, *SIDES, *TEXTS) if name in found]
        flags = [name for name in _FLAGS if name in found and path.suffix == ".parquet"]
        choice = ["stereotyped"] if "stereotyped" in found else []
        numbers = [name for name in _MEASURED if name in found]
        return [*texts, *flags, *(choice if scored else [])], [*numbers, *([] if scored else choice)]

    table = read_columns(path, choose)
    columns = {name: names_of(path, table[name], name) for name in NAMES}
    columns |= _optional(path, table, (*SIDES, *TEXTS))
    for name in (*_MEASURED, "stereotyped"):
        if name in table.column_names and not (name == "stereotyped" and set(SCORES) <= set(table.column_names)):
            columns[name] = _finite(numbers_of(path, _numeric(table[name]), name))
    if set(SCORES) <= set(columns):
        columns |= _optional(path, table, ("stereotyped",))
    for name in (CHOSEN, "stereotyped"):
        if name in columns and pa.types.is_floating(columns[name].type):
            _refuse_other_numbers(path, columns[name], name)
    return pa.table(columns)


def _numeric(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column


def _finite(numbers: pa.ChunkedArray) -> pa.ChunkedArray:
    """The numbers; null if one is NaN or infinite."""
    return pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))


def _refuse_other_numbers(path: Path, column: pa.ChunkedArray, name: str) -> None:
    known = column.drop_null().to_numpy()
    other = known[~np.isin(known, (0.0, 1.0))]
    if len(other):
        raise ScoresError(
            f"{path}: column {name} is {other[0]:g} in a row: write 1 if the stereotyped sentence is likelier, "
            "0 if the other is, and leave the cell empty if it is not known"
        )


def _optional(path: Path, table: pa.Table, names: Sequence[str]) -> dict[str, pa.ChunkedArray]:
    found = {name: _text(path, table[name], name) for name in names if name in table.column_names}
    if "control" in table.column_names and names is not SIDES and "control" not in found:
        found["control"] = _flag(path, table["control"])
    return found


def _flag(path: Path, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.bool_())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column control is not true or false but {column.type}") from error


def _text(path: Path, column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise ScoresError(f"{path}: column {name} is not text but {column.type}") from error


def _without_empty(column: pa.ChunkedArray) -> pa.ChunkedArray:
    blank = pc.equal(pc.utf8_trim_whitespace(pc.fill_null(column, "")), "")
    return pc.if_else(blank, pa.scalar(None, pa.string()), column)


def _sides(path: Path, column: pa.ChunkedArray, scored: pa.ChunkedArray) -> pa.ChunkedArray:
    """The side of the stereotyped sentence; it may be missing for a pair that is not scored."""
    sides = _text(path, column, "stereotyped")
    names_of(path, sides.filter(scored), "stereotyped")
    other = sides.filter(pc.and_(scored, pc.invert(pc.is_in(sides, pa.array(SIDES)))))
    if len(other):
        written = other[0].as_py()[:80]
        raise ScoresError(f"{path}: column stereotyped is {written!r} in a row: write {' or '.join(SIDES)}")
    return sides


def _pair_ids(path: Path, ids: pa.ChunkedArray | None, scored: pa.ChunkedArray) -> pa.ChunkedArray:
    """The ids of pairs, by default their row numbers; ``ScoresError`` if two scored pairs have the same."""
    if ids is None:
        return pa.chunked_array([pa.array([str(i) for i in range(len(scored))])])
    named = names_of(path, ids, "pair_id")
    own = named.filter(scored)
    if len(pc.unique(own)) < len(own):
        raise ScoresError(f"{path}: two pairs have the same pair_id: give every pair its own, or leave the column out")
    return named


def _require(path: Path, found: Sequence[str], needed: Sequence[str], what: str, further: str = "") -> None:
    for name in needed:
        if name not in found:
            raise ScoresError(
                f"{path} has no column {name}: a table of {what} has {', '.join(needed[:-1])} and {needed[-1]}{further}"
                f", this file has {', '.join(repr(column[:80]) for column in found[:8])}"
            )
