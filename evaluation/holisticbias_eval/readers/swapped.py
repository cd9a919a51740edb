"""Texts in which the subject of one group stands for that of another: differences are due to the subject alone."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from holisticbias.terms.anonymise import Named, replace_subject

GROUP = "audit_group"
Row = dict[str, Any]
DRAWN = 200
"""Texts per domain that are swapped."""


def swapped(texts: pa.Table, limit: int = DRAWN) -> pa.Table:
    """The texts of each domain with the subject of every group of the domain in turn, in the column ``audit_group``.

    A row is a text of ``texts`` in which its subject stands, with that subject replaced by another group's most
    frequent subject, or by its own group's. ``group`` is the group of the text, ``text`` is the changed text, and
    ``subject`` is null, so that a measure reads the words as they are; the words for the group are left in. ``item``
    numbers the texts, so that the forms of one text stay together. At most ``limit`` texts per domain are used,
    spread evenly. Differences between values of ``audit_group`` are due to the subject alone. Texts without a subject
    are left out; a table without subjects gives no rows.
    """
    domains: dict[str | None, list[Row]] = {}
    for row in texts.to_pylist():
        if row.get("subject") and row.get("text"):
            domains.setdefault(row.get("domain"), []).append(row)
    made = [row for name, rows in domains.items() for row in _swaps(name, rows, limit)]
    fields = [field for field in texts.schema if field.name not in (GROUP, "item", "forms")]
    return pa.Table.from_pylist(made, pa.schema([*fields, ("item", pa.string()), (GROUP, pa.string())]))


def _with_subject(row: Row, name: str) -> str:
    return replace_subject(row["text"], Named(row["subject"], person=bool(row.get("person"))), name)


def _swaps(domain: str | None, rows: list[Row], limit: int) -> Iterator[Row]:
    subjects: dict[str, Counter[str]] = {}
    for row in rows:
        subjects.setdefault(str(row["group"]), Counter())[str(row["subject"])] += 1
    naming = [row for row in rows if _with_subject(row, "") != row["text"]]
    for number, row in enumerate(naming[:: max(1, -(-len(naming) // limit))]):
        for group, counts in subjects.items():
            text = _with_subject(row, max(counts, key=counts.__getitem__))
            yield {**row, "text": text, "subject": None, "item": f"{domain}/{number}", GROUP: group}
