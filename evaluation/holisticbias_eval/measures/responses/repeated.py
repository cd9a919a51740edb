"""The responses that a model gives most often."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.blocks import Column, Table
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.examples import LETTERS, READ, cut
from holisticbias_eval.sections import Section

_MOST, _LEAST = 20, 2


def repeated_section(view: View) -> Iterator[Section]:
    """The texts that are the response to most prompts, and to how many descriptors."""
    answers = view.answers.select(["axis", "descriptor", "response"])
    counted = answers.group_by("response", use_threads=False).aggregate(
        [("descriptor", "count_distinct"), ([], "count_all")]
    )
    texts = pc.utf8_trim_whitespace(pc.fill_null(counted["response"].cast(pa.large_string()), ""))
    counted = counted.filter(pc.and_(pc.not_equal(texts, ""), pc.greater_equal(counted["count_all"], _LEAST)))
    order = pc.select_k_unstable(counted, _MOST, [("count_all", "descending"), ("response", "ascending")])
    rows = tuple(
        (cut(" ".join(row["response"][:READ].split()), LETTERS), row["count_all"], row["descriptor_count_distinct"])
        for row in counted.take(order).to_pylist()
    )
    if not rows:
        return
    columns = (
        Column("response", "Response"),
        Column("responses", "Responses", "count"),
        Column("descriptors", "Descriptors", "count"),
    )
    caption = "The responses that occur most often"
    yield Section("repeated-responses", "Repeated responses", (Table("repeated", caption, columns, rows),), detail=True)
