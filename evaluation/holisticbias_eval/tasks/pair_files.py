"""The pairs of sentences that a user names, or their outcomes: settings, forms of files, and specifications."""

from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import TableError
from holisticbias_eval.figures import Figure
from holisticbias_eval.prompts.pairs import CHOSEN, SCORES, TERM_SCORES
from holisticbias_eval.records import read_record
from holisticbias_eval.settings import Settings, setting
from holisticbias_eval.stereotypes.record import PAIRS as PAIRS_FILE
from holisticbias_eval.stereotypes.record import RECORD, SentencesRecord
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.files import file_in
from holisticbias_eval.tables.forms import Form, columns

Mode = Literal["likelihood", "choice", "published"]
SIDES = ("sentence", "other_sentence")
STEREOTYPED = "stereotyped"
ABOUT = (
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
        *ABOUT,
    ),
    others=True,
)
"""Without ``pair_id`` the pairs are numbered."""


class PairSettings(Settings):
    """The pairs, and how they are scored."""

    group = "Pairs of sentences"

    pairs: Path | None = setting(
        None,
        "File of pairs for stereotype_score, or a folder that holisticbias stereotypes pairs wrote. Without "
        "--measures, stereotype_score is measured.",
        metavar="PATH",
    )
    mode: Mode = setting(
        "likelihood",
        "likelihood: of both sentences. choice: a chat model chooses between both, in both orders. published: the "
        "formulas of the code of Kocielnik et al. 2023.",
    )


def read_pairs(path: Path) -> pa.Table:
    """Read pairs to score from a file, or from ``pairs.parquet`` of a folder.

    A pair without ``other_sentence`` could not be converted; ``rule`` then says why. Raises ``TableError``.
    """
    file = file_in(path, PAIRS_FILE, "make it with holisticbias stereotypes pairs, or name a file of pairs")
    table = PAIRS.read(file)
    others = table["other_sentence"]
    others = pc.if_else(pc.equal(others, ""), pa.scalar(None, pa.string()), others)
    table = with_columns(table, {"other_sentence": others})
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
    Field("pair_id").refuse_repeated(label, pc.if_else(scored, table["pair_id"], None))


def read_sentence_figures(path: Path) -> tuple[Figure, ...]:
    """The yield and the quality of sentences, if their record ``sentences.json`` is in the folder of the pairs.

    Raises ``TableError`` if the record is damaged.
    """
    file = (path if path.is_dir() else path.parent) / RECORD
    if not file.is_file():
        return ()
    return read_record(file, SentencesRecord, TableError, "remove it, or make the sentences again").figures


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
        *ABOUT,
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


def read_pair_scores(source: Path) -> pa.Table:
    """Read outcomes of pairs, with those columns of a run's pairs that are there; a number is finite or null.

    Raises ``TableError``.
    """
    opened = OUTCOMES.open(source)
    table = (SCORED if {*SCORES} <= {*opened.names} else OUTCOMES).read(opened)
    columns = dict(zip(table.column_names, table.columns, strict=True))
    for name, values in columns.items():
        if name in (CHOSEN, STEREOTYPED) and pa.types.is_boolean(values.type):
            columns[name] = values.cast(pa.float64())
        elif pa.types.is_floating(values.type):
            columns[name] = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
    return pa.table(columns)
