"""Example texts of each group and class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.readings import Reading, Texts, read_method, read_texts
from holisticbias_eval.measures.groups.shown import said
from holisticbias_eval.measures.responses.examples import LETTERS, READ, cut

PER_CLASS = 2


class GroupExamples:
    """Finds typical texts of a model: those whose values are nearest to the median of their group and class."""

    def __init__(self, measure: str, method: Method, answers: pa.Table) -> None:
        self._rows: dict[tuple[str | None, str], np.ndarray] = {}
        if "text" not in answers.column_names:
            return
        try:
            groups = read_texts(answers)
            reading = read_method(answers, measure, method, groups)
        except SelectionError:
            return
        self._texts, self._reading, self._groups = answers["text"], reading, groups
        self._rows = _rows_by_group(groups, reading)

    def of(self, domain: str, group: str) -> tuple[str, ...]:
        """A line for each example: its class, its value and the text, on one line and cut."""
        rows = self._rows.get((domain or None, group))
        return () if rows is None else tuple(self._lines(rows))

    def _lines(self, rows: np.ndarray) -> Iterator[str]:
        reading = self._reading
        codes = reading.class_codes[rows]
        for code in np.unique(codes):
            own = rows[codes == code]
            values = reading.values[own]
            order = own[np.argsort(np.abs(values - np.median(values)), kind="stable")]
            name = said(reading.classes[code]) if code >= 0 else reading.method.title
            seen: dict[str, None] = {}
            for row in order.tolist():
                text = self._text(row)
                if text and text not in seen:
                    seen[text] = None
                    yield f"{name} ({reading.values[row]:.2f}): “{cut(text, LETTERS)}”"
                if len(seen) == PER_CLASS:
                    break

    def _text(self, row: int) -> str:
        return " ".join((self._texts[int(self._groups.rows[row])].as_py() or "")[:READ].split())


def _rows_by_group(groups: Texts, reading: Reading) -> dict[tuple[str | None, str], np.ndarray]:
    """The rows of a model's texts with a value, by domain and group."""
    rows = np.flatnonzero(~groups.human & ~np.isnan(reading.values))
    rows = rows[np.argsort(groups.group[rows], kind="stable")]
    counts = np.bincount(groups.group[rows], minlength=len(groups.groups))
    return dict(zip(groups.groups, np.split(rows, np.cumsum(counts)[:-1]), strict=True))
