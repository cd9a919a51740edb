"""Forms of users' tables of pairs: pairs of sentences to score, and outcomes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pydantic import ValidationError

from holisticbias_eval.errors import TableError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.stereotype.outcomes import CHOSEN
from holisticbias_eval.prompts.pairs import SCORES, TERM_SCORES
from holisticbias_eval.stereotypes.record import RECORD, SentencesRecord
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import TableSource
from holisticbias_eval.tables.forms import Form, columns

PAIRS_FILE = "pairs.parquet"
SIDES = ("sentence", "other_sentence")
STEREOTYPED = "stereotyped"
_ABOUT = (
    *columns("label", "attribute_set", "group", "other_group", "term", "other_term", "rule", "source"),
    *columns("label", "generator", "label"),
    Field("control", "flag"),
)
PAIRS = Form(
    "pairs",
    (
        Field("pair_id", "name", default=lambda _, rows: pa.array([str(row) for row in range(rows)])),
        *columns("name", "specification", "attribute", need=True),
        *columns("label", *SIDES, STEREOTYPED, need=True),
        *_ABOUT,
    ),
    others=True,
)
"""Without ``pair_id`` the pairs are numbered."""
_OUTCOME = "write 1 if the stereotyped sentence is likelier, 0 if the other is, and leave the cell empty if not known"
_PUBLISHED = {
    "group": "specification",
    "group_term": "attribute",
    "att_term_1": "term",
    "att_term_2": "other_term",
    "sent_att_1": "sentence",
    "sent_att_2": "other_sentence",
}
OUTCOMES = Form(
    "outcomes",
    (
        *columns("name", "specification", "attribute", need=True),
        *columns("label", *SIDES, "pair_id"),
        *_ABOUT,
        *columns("number", *SCORES, *TERM_SCORES, "offered_first", "orders_agree"),
        Field(CHOSEN, "flag", hint=_OUTCOME),
        Field(STEREOTYPED, "flag", need=True, hint=_OUTCOME),
    ),
    instead={STEREOTYPED: (SCORES,)},
    published=(_PUBLISHED,),
)
"""``stereotyped`` is 1 if the stereotyped sentence is likelier, else 0, also in files of the published code."""
SCORED = Form("outcomes", tuple(f for f in OUTCOMES.fields if f.name != STEREOTYPED) + columns("label", STEREOTYPED))
"""Of pairs with both scores, of which the larger is the likelier sentence's, ``stereotyped`` is a side."""


def read_pairs(path: Path) -> pa.Table:
    """Read pairs to score from a file, or from ``pairs.parquet`` of a folder.

    A pair without ``other_sentence`` could not be converted; ``rule`` then says why. Raises ``TableError``.
    """
    file = path / PAIRS_FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        raise TableError(
            f"{path} has no {PAIRS_FILE}: make it with holisticbias stereotypes pairs, or name a file of pairs"
        )
    table = PAIRS.read(file)
    others = table["other_sentence"]
    blank = pc.equal(pc.utf8_trim_whitespace(pc.fill_null(others, "")), "")
    others = pc.if_else(blank, pa.scalar(None, pa.string()), others)
    table = table.set_column(table.column_names.index("other_sentence"), "other_sentence", others)
    _refuse_unscorable(str(file), table, others.is_valid())
    kept = [name for name in table.column_names if name in {"slot", *(field.name for field in PAIRS.fields)}]
    return table.select(kept)


def _refuse_unscorable(label: str, table: pa.Table, scored: pa.ChunkedArray) -> None:
    """Refuse pairs to score that lack a sentence or a side, or have the same id."""
    if not pc.any(scored).as_py():
        raise TableError(f"{label}: no pair has other_sentence, so there is nothing to score")
    for field in (Field("sentence"), Field(STEREOTYPED, choices=SIDES)):
        values = pc.if_else(scored, table[field.name], SIDES[0])
        field.refuse_missing(label, field.name, values)
        field.read(label, field.name, values)
    ids = table["pair_id"].filter(scored)
    if pc.count_distinct(ids).as_py() < len(ids):
        raise TableError(f"{label}: two pairs have the same pair_id: give every pair its own, or leave the column out")


def read_sentence_figures(path: Path) -> tuple[Figure, ...]:
    """The yield and the quality of sentences, if their record ``sentences.json`` is in the folder of the pairs.

    Raises ``TableError`` if the record is damaged.
    """
    file = (path if path.is_dir() else path.parent) / RECORD
    if not file.is_file():
        return ()
    try:
        return SentencesRecord.model_validate_json(file.read_bytes()).figures
    except (OSError, ValidationError) as error:
        reason = " ".join(str(error).split())[:200]
        raise TableError(f"{file} cannot be read: {reason}; remove it, or make the sentences again") from error


def read_pair_scores(source: TableSource) -> pa.Table:
    """Read outcomes of pairs, with those columns of a run's pairs that are there; a number is finite or null.

    Raises ``TableError``.
    """
    opened = OUTCOMES.open(source)
    table = (SCORED if {*SCORES} <= {*opened.names} else OUTCOMES).read(opened)
    for place, (name, values) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if name in (CHOSEN, STEREOTYPED) and pa.types.is_boolean(values.type):
            table = table.set_column(place, name, values.cast(pa.float64()))
        elif pa.types.is_floating(values.type):
            finite = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
            table = table.set_column(place, name, finite)
    return table
