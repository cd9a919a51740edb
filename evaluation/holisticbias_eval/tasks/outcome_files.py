"""Forms of users' tables of outcomes of pairs of sentences."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.prompts.pairs import CHOSEN, SCORES, TERM_SCORES
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.pair_files import ABOUT, SIDES, STEREOTYPED

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
    for place, (name, values) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if name in (CHOSEN, STEREOTYPED) and pa.types.is_boolean(values.type):
            table = table.set_column(place, name, values.cast(pa.float64()))
        elif pa.types.is_floating(values.type):
            finite = pc.if_else(pc.is_finite(values), values, pa.scalar(None, pa.float64()))
            table = table.set_column(place, name, finite)
    return table
