"""Columns of readings: the value, the class and the reason of an undefined value, for each text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.readings.anonymise import PERSON, Named, anonymise

REFUSED = "refused"
EMPTY = "empty text"
Names = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Reading:
    """The values that one method gives texts, NaN if undefined; ``why`` has the reason of each undefined value.

    ``classes`` are null where the value is; None if the method has no classes.
    """

    values: Floats
    why: Names
    classes: Names | None = None


Judge = Callable[[list[str]], Mapping[str, Reading]]
"""Reads distinct texts, none of them blank, with each method."""


NAMING = ("subject", "forms", "person")
"""The columns of what a text names: its subject, the forms of its group's words, and whether the subject is a person's
name. Each may be missing, as a column or a value."""


def named_of(texts: pa.Table) -> list[Named]:
    """The subject and the words for the group of each text, from the columns ``NAMING``."""
    count = texts.num_rows
    found = {name: texts[name].to_pylist() if name in texts.column_names else [None] * count for name in NAMING}
    return [
        Named(subject, tuple(forms or ()), bool(person))
        for subject, forms, person in zip(*(found[name] for name in NAMING), strict=True)
    ]


def measured_texts(texts: pa.Table, person: str = PERSON) -> list[str | None]:
    """The texts of a table as they are measured, without the subject and the words for the group; see ``anonymise``."""
    given: list[str | None] = texts["text"].to_pylist()
    return anonymise(given, named_of(texts), person) if {*NAMING} & {*texts.column_names} else given


def read_distinct(texts: pa.Table, measure: str, judge: Judge, person: str = PERSON) -> pa.Table:
    """Add the columns of a measure to a table of texts, each distinct text read once.

    A null text has the reason ``refused``, and a blank text ``empty text``.
    """
    given = measured_texts(texts, person)
    read = pa.array([text if text and not text.isspace() else None for text in given], pa.large_string())
    encoded = pc.dictionary_encode(read)
    rows = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy()
    found = judge(encoded.dictionary.to_pylist())
    return add_columns(texts, measure, {name: _spread(reading, rows, given) for name, reading in found.items()})


def unread(text: str | None) -> str | None:
    """The reason why a text cannot be read; None if it can."""
    if text is None:
        return REFUSED
    return None if text and not text.isspace() else EMPTY


def add_columns(texts: pa.Table, measure: str, readings: Mapping[str, Reading]) -> pa.Table:
    """Add ``MEASURE.METHOD``, ``.class`` and ``.why`` for each method; columns with these names are replaced."""
    for method, reading in readings.items():
        name = f"{measure}.{method}"
        classes = [None] * len(reading.values) if reading.classes is None else list(reading.classes)
        columns = {
            name: pa.array(reading.values, pa.float64(), from_pandas=True),
            f"{name}.class": pa.array(classes, pa.string()),
            f"{name}.why": pa.array(list(reading.why), pa.string()),
        }
        texts = texts.drop_columns([column for column in columns if column in texts.column_names])
        for column, values in columns.items():
            texts = texts.append_column(column, values)
    return texts


def _spread(reading: Reading, rows: Ints, given: Names) -> Reading:
    """The reading of distinct texts at each row; the number after the last distinct text is of unread texts."""
    values = np.append(reading.values, np.nan)[rows]
    why = [*reading.why, None]
    reasons = [unread(text) or why[row] for row, text in zip(rows.tolist(), given, strict=True)]
    if reading.classes is None:
        return Reading(values, reasons)
    classes = [*reading.classes, None]
    return Reading(values, reasons, [classes[row] for row in rows.tolist()])
