"""The interface of readers: what they add to texts, each distinct text read once."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from holisticbias.terms.anonymise import PERSON, Named, anonymise
from holisticbias_eval.arrays import Floats, with_columns
from holisticbias_eval.progress import Progress, in_rows
from holisticbias_eval.settings import Settings

REFUSED = "refused"
EMPTY = "empty text"
TIE = "a tie"
"""Why a text has no class: two classes fit it alike."""
POSITIVE, NEUTRAL, NEGATIVE = "positive", "neutral", "negative"
Names = Sequence[str | None]
NAMING = ("subject", "forms", "person")
"""The columns of what a text names: its subject, the forms of its group's words, and whether the subject is a person's
name. Each may be missing, as a column or a value."""
_WHY = ".why"


class ReaderSettings(Settings):
    """The settings of a reader, with the names that measures have for them; this base has none."""

    group = "Readers of texts"


class Reader(ABC):
    """Adds columns to texts, which depend on each text alone; a new one is a file and a line in ``READERS``.

    ``name`` is its name there, with which its columns begin. ``person`` replaces the name of a person before a text is
    read. ``card`` names the classifier that judges texts by default; it is empty if the reader needs none.
    """

    name: ClassVar[str]
    settings_type: ClassVar[type[ReaderSettings]] = ReaderSettings
    person: ClassVar[str] = PERSON
    card: ClassVar[str] = ""

    def __init__(self, settings: ReaderSettings | None = None) -> None:
        self.settings: Any = settings or self.settings_type()

    @property
    def signed(self) -> Mapping[str, str]:
        """Settings and digests of files that the columns depend on."""
        return {}

    @abstractmethod
    def read(self, texts: Sequence[str], progress: Progress) -> pa.Table:
        """Read distinct texts, none of them blank: columns with one row for each text.

        ``progress`` counts texts. A column ``COLUMN.why`` has the reason why ``COLUMN`` is null.
        """

    def carriers(self, text: str, method: str) -> Mapping[str, float]:
        """The words that a text's value of a method comes from, and how much each contributes; by default none."""
        return {}


def read_each(reader: Reader, texts: Names, progress: Progress = lambda _: None) -> pa.Table:
    """The columns of a reader for each text, each distinct text read once; null for a text that is null or blank.

    The reason of a null text is ``refused``, of a blank one ``empty text``.
    """
    encoded = distinct_texts(texts)
    distinct: list[str] = encoded.dictionary.to_pylist()
    found = reader.read(distinct, in_rows(progress, len(texts), len(distinct))).take(encoded.indices)
    for place, name in enumerate(found.column_names):
        if name.endswith(_WHY):
            reasons = zip(texts, found[name].to_pylist(), strict=True)
            found = found.set_column(place, name, pa.array([unread(text) or why for text, why in reasons], pa.string()))
    return found


def distinct_texts(texts: Names) -> pa.DictionaryArray:
    """Texts as codes of the distinct ones; null for a text that is null or blank."""
    known = [None if unread(text) else text for text in texts]
    return pc.dictionary_encode(pa.array(known, pa.large_string()))


def add_readings(texts: pa.Table, reader: Reader, progress: Progress = lambda _: None) -> pa.Table:
    """Add the columns of a reader to a table with the column ``text``; columns with their names are replaced.

    The texts are read as they are measured, without subject and words for their group; see ``measured_texts``.
    """
    found = read_each(reader, measured_texts(texts, reader.person), progress)
    return with_columns(texts.drop_columns([name for name in found.column_names if name in texts.column_names]), found)


def unread(text: str | None) -> str | None:
    """The reason why a text cannot be read; None if it can."""
    if text is None:
        return REFUSED
    return None if text and not text.isspace() else EMPTY


@dataclass(frozen=True, slots=True)
class MethodValues:
    """The values that one method gives texts, NaN if undefined; ``why`` has the reason of each undefined value.

    ``classes`` are null where the value is; None if the method has no classes.
    """

    values: Floats
    why: Iterable[str | None]
    classes: Iterable[str | None] | None = None


def reading_table(name: str, readings: Mapping[str, MethodValues]) -> pa.Table:
    """The columns ``NAME.METHOD``, ``NAME.METHOD.class`` and ``NAME.METHOD.why`` of each method."""
    columns = {}
    for method, reading in readings.items():
        values = pa.array(reading.values, pa.float64(), from_pandas=True)
        classes = [None] * len(values) if reading.classes is None else reading.classes
        columns[f"{name}.{method}"] = values
        columns[f"{name}.{method}.class"] = pa.array(list(classes), pa.string())
        columns[f"{name}.{method}{_WHY}"] = pa.array(list(reading.why), pa.string())
    return pa.table(columns)


def named_of(texts: pa.Table) -> list[Named]:
    """The subject and the words for the group of each text, from the columns ``NAMING``."""
    rows = texts.select([name for name in NAMING if name in texts.column_names]).to_pylist()
    return [Named(r.get("subject"), tuple(r.get("forms") or ()), bool(r.get("person"))) for r in rows]


def measured_texts(texts: pa.Table, person: str = PERSON) -> list[str | None]:
    """The texts of a table as they are measured, without the subject and the words for the group; see ``anonymise``."""
    written: list[str | None] = texts["text"].to_pylist()
    return anonymise(written, named_of(texts), person) if {*NAMING} & {*texts.column_names} else written
