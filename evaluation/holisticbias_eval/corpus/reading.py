"""Options and counts of reading documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from holisticbias_eval.corpus.documents import FIELDS, Document, row_document

_NAMES = 20  # fields in a message


@dataclass(slots=True)
class Reading:
    """Options and counts of reading documents.

    ``may_mention`` says of a document's bytes whether it may mention a group; others are counted and not parsed.
    ``read`` takes numbers of bytes. ``text_field`` holds the text of a row, by default the first of ``FIELDS`` does.
    ``bad`` counts lines that are not valid, ``without_text`` rows that lack the field; ``damaged`` names files that
    could not be read to the end.
    """

    may_mention: Callable[[bytes], bool]
    text_field: str | None = None
    paragraphs: bool = False
    read: Callable[[int], None] = lambda _: None
    documents: int = 0
    with_text: int = 0
    bad: int = 0
    first_bad: str | None = None
    without_text: int = 0
    fields: Counter[str] = field(default_factory=Counter)
    damaged: list[str] = field(default_factory=list)

    def refuse(self, place: str, why: str) -> None:
        """Count a bad line."""
        self.bad += 1
        self.first_bad = self.first_bad or f"{place}: {why}"

    def take_row(self, row: object, place: str) -> Document | None:
        """The document of a row, null if it has none, which is counted."""
        if not isinstance(row, dict):
            self.refuse(place, "not a JSON object")
            return None
        document = row_document(row, place, self.text_field)
        if document is None:
            self.without_text += 1
            self.fields.update(str(name)[:40] for name in list(row)[:_NAMES])
        self.with_text += document is not None
        return document


def missing_field(reading: Reading) -> str:
    """The line for a user whose rows all lack the field."""
    wanted = reading.text_field or ", ".join(FIELDS)
    found = ", ".join(repr(name) for name, _ in reading.fields.most_common(_NAMES))
    return f"no row has a text in the field {wanted}: name another with --field; found {found or 'no fields'}"
