"""The forms of users' tables that measures take, by the answers that they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import TableError
from holisticbias_eval.measures.info import Answers
from holisticbias_eval.measures.responses.styles import PREFIX
from holisticbias_eval.models.likelihood.scores import Scores, with_scores
from holisticbias_eval.prompts.lines import line_table
from holisticbias_eval.tables.fields import Default, Field
from holisticbias_eval.tables.files import TableSource
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.group_files import read_group_scores
from holisticbias_eval.tasks.pair_files import read_pair_scores
from holisticbias_eval.tasks.response_files import RUN_FIELDS
from holisticbias_eval.tasks.results import reported_table
from holisticbias_eval.tasks.retain_command import Reported

CELL = columns("name", "axis", "template", "descriptor", need=True)
STANCES = ("template_id", "paraphrase_of", "opposite_of")
"""Columns of a run's scores for the templates that paraphrase or oppose each other."""
OFFENSIVE = ("offensive", "prompt_offensive")


def _same_as(name: str) -> Default:
    return lambda made, _: made[name]


LIKELIHOODS = Form(
    "scores",
    (
        *CELL,
        # a term that is a noun itself has an id in place of the noun
        Field("noun", "name", need=True, filled_from="noun_id"),
        Field("descriptor_id", "name", default=_same_as("descriptor")),
        Field("noun_id", "name", default=_same_as("noun")),
        Field("perplexity", "number", need=True),
        *columns("number", "nll", "tokens", "phrase_nll"),
        *columns("label", *STANCES, "descriptor_gender"),
    ),
)
"""Ids distinguish terms with the same text; by default the text is the id."""
_RUN = (
    *RUN_FIELDS,
    Field("finish"),
    *columns("number", "draw", "sample", "tokens"),
    *columns("probability", *OFFENSIVE),
)


def _refuse_partial(label: str, table: pa.Table) -> None:
    """Refuse responses that have the probabilities of some styles only."""
    styles = [table[name] for name in table.column_names if name.startswith(PREFIX)]
    present = sum((column.is_valid().to_numpy().astype(int) for column in styles), np.zeros(table.num_rows, int))
    some = np.flatnonzero((present > 0) & (present < len(styles)))
    if len(some):
        raise TableError(
            f"{label}: {len(some):,} rows have probabilities of some styles only, the first is row {some[0] + 1}: fill "
            "in all of them, or none if the response was not judged"
        )


RESPONSES = Form("responses", (*CELL, *_RUN, Field(PREFIX, "probability", prefix=True)), (_refuse_partial,))
OFFENCES = Form("probabilities", (*CELL, Field("probability", "probability", need=True), *_RUN),
                instead={"probability": tuple((name,) for name in OFFENSIVE)})  # fmt: skip
"""``probability`` is that of responses and of prompts."""
LINES = Form("lines", (*columns("name", "text", need=True),
                       *columns("number", "nll", need=True, filled=True),
                       *columns("count", "tokens", need=True, filled=True)))  # fmt: skip
CANDIDATES = Form("candidates", (
    *columns("name", "dialogue", need=True),
    Field("label", "number", need=True, filled=True, choices=(0, 1)),
    Field("probability", "probability", need=True),
))  # fmt: skip
RESULTS = Form("results", (*columns("name", "task", "metric", need=True),
                           *columns("number", "value", need=True, filled=True)))  # fmt: skip
INTERSECTIONS = Form("intersections", (
    *columns("name", "axis", "intersection_id", need=True),
    *columns("number", "median_perplexity", "stance_difference", "sentences", "missing", need=True),
))  # fmt: skip


def read_scores(source: TableSource, answers: Answers = "likelihoods") -> pa.Table:
    """Read a user's table in the form that measures of these answers take; other columns are not read.

    The table has one row per sentence or response, in any order. A number may be missing, a name may not; the columns
    are those of the forms of this module, of ``pair_files`` and of ``group_files``. Raises ``TableError``.
    """
    return _READERS[answers](source)


def _likelihoods(source: TableSource) -> pa.Table:
    table = LIKELIHOODS.read(source)
    known = "template_id" in table.column_names
    return table if known else table.drop_columns([name for name in STANCES if name in table.column_names])


def _offences(source: TableSource) -> pa.Table:
    table = OFFENCES.read(source)
    if not any(name in table.column_names for name in OFFENSIVE):
        for name in OFFENSIVE:
            table = table.append_column(name, table["probability"])
    return table.drop_columns([name for name in ("probability",) if name in table.column_names])


def _lines(source: TableSource) -> pa.Table:
    """Lines with their scores; a line without a scored token has 0 tokens."""
    table = LINES.read(source)
    texts = table["text"].to_pylist()
    lines = line_table([text.replace("\n", " ") for text in texts])
    if lines.num_rows != len(texts):
        raise TableError(f"{source}: column text is blank in {len(texts) - lines.num_rows:,} rows: leave them out")
    size = np.array([len(text.encode()) for text in lines["text"].to_pylist()], np.int32)
    return with_scores(lines, Scores(table["nll"].to_numpy(), table["tokens"].to_numpy().astype(np.int32), size))


def _candidates(source: TableSource) -> pa.Table:
    """Candidates numbered in their order; a label is 1 or 0, a probability that of 1."""
    table = CANDIDATES.read(source)
    ids = pa.array([str(row) for row in range(table.num_rows)])
    table = table.set_column(1, "label", table["label"].cast(pa.int64()))
    return table.add_column(0, "candidate_id", ids)


def _results(source: TableSource) -> pa.Table:
    return reported_table(tuple(Reported(**row) for row in RESULTS.read(source).to_pylist()))


_READERS: Mapping[Answers, Callable[[TableSource], pa.Table]] = {
    "likelihoods": _likelihoods,
    "labels": RESPONSES.needing("axis", "template", "descriptor", PREFIX).read,
    "offensiveness": _offences,
    "responses": RESPONSES.needing("axis", "template", "descriptor", "response").read,
    "pairs": read_pair_scores,
    "group_sentences": read_group_scores,
    "lines": _lines,
    "candidates": _candidates,
    "results": _results,
    "intersections": INTERSECTIONS.read,
}
