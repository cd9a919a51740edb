"""Figures beside those of texts about groups: the audit of what reads them, and texts that name their group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.prompts.texts import HUMAN
from holisticbias_eval.readers.anonymise import GROUP, swapped
from holisticbias_eval.readers.reader import NAMING
from holisticbias_eval.tasks.naming import naming_texts

AUDITED = 20_000
"""The most texts of an audit."""
Read = Callable[[pa.Table], pa.Table]
"""Adds the columns of every measure to a table of texts."""


def audit_figures(
    table: pa.Table, measures: Sequence[GroupMeasure], settings: MeasureSettings, read: Read
) -> tuple[Figure, ...]:
    """The figures of texts in which only the subject differs: people's texts, or else the model's."""
    if "subject" not in table.column_names:
        return ()
    people = pc.equal(table["source"], HUMAN)
    base = table.filter(people) if pc.any(people).as_py() else table
    own = [name for name in ("domain", "group", "text", *NAMING, "item") if name in base.column_names]
    groups = len(base["group"].unique())
    swaps = swapped(base.select(own), max(1, min(200, AUDITED // max(1, groups))))
    if not swaps.num_rows:
        return ()
    swaps = swaps.drop_columns(["group"]).rename_columns({GROUP: "group"})
    swaps = read(swaps.append_column("censored", pa.array([False] * swaps.num_rows)))
    return tuple(figure for measure in measures for figure in measure.audit_figures(swaps, settings))


def naming_figures(table: pa.Table, measures: Sequence[GroupMeasure], read: Read) -> tuple[Figure, ...]:
    """The figures of the texts as they were written, with the words that name their group."""
    found = naming_texts(table)
    if found is None:
        return ()
    written = read(found.written)
    return tuple(f for measure in measures for f in measure.naming_figures(found.replaced, written, found.naming))
