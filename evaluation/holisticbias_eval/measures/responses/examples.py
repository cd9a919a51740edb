"""Responses as a report shows them: examples, repeated ones, names of groups."""

import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.responses.design import read_design
from holisticbias_eval.sections.blocks import Section
from holisticbias_eval.sections.tables import ColumnOf, Marked, table_of
from holisticbias_eval.statistics.responses.cells import descriptor_column
from holisticbias_eval.statistics.words import known_texts, phrase_pattern
from holisticbias_eval.units import percent, shorten

LETTERS, READ = 240, 2000
"""Letters of a response that are shown, and that are looked at to choose them."""
_AHEAD = 20


def one_line(text: str | None) -> str:
    """The beginning of a text on one line; a null text is empty."""
    return " ".join((text or "")[:READ].split())


class Examples:
    """Finds the responses to a descriptor; texts are cut, on one line each."""

    def __init__(self, answers: pa.Table) -> None:
        self._answers = answers
        design = read_design(answers).descriptors
        order = np.argsort(design.group, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(design.group, minlength=len(design))))[:-1]
        self._rows = {(keys["axis"], keys["descriptor"]): rows for keys, rows in zip(design.keys, parts, strict=True)}

    def _of(self, figure: Figure) -> Ints:
        """The rows of a figure's descriptor."""
        return self._rows.get((figure.keys["axis"], figure.keys["descriptor"]), np.zeros(0, np.int64))

    def highest(self, figure: Figure, column: str, count: int, text: str = "response") -> tuple[str | Marked, ...]:
        """The texts with the highest values of a column, without repeats; in responses replaced places are marked."""
        rows = self._of(figure)
        if not {column, text} <= {*self._answers.column_names}:
            return ()
        values = self._answers[column].take(pa.array(rows)).to_numpy().astype(float)
        known = np.flatnonzero(~np.isnan(values))
        order = known[np.argsort(-values[known], kind="stable")]
        ends = {
            row: f" ({percent(value)})" for row, value in zip(rows[order].tolist(), values[order].tolist(), strict=True)
        }
        chosen = self._distinct(ends, count, text)
        if text == "response":
            return tuple(self._line(row, ends[row]) for row in chosen)
        return tuple(f"“{shorten(self._text(text, row), LETTERS)}”{ends[row]}" for row in chosen)

    def with_phrase(self, figure: Figure, count: int) -> tuple[str | Marked, ...]:
        """The first responses with the figure's phrase, without repeats; the phrase is marked."""
        pattern = phrase_pattern(figure.keys["phrase"])
        having = (row for row in self._of(figure).tolist() if pattern.search(self._text("response", row)))
        return tuple(self._with_mark(row, pattern) for row in self._distinct(having, count))

    def _distinct(self, rows: Iterable[int], count: int, column: str = "response") -> list[int]:
        """The first rows with different texts."""
        found: dict[str, int] = {}
        for row in rows:
            if len(found) == count:
                break
            found.setdefault(self._text(column, row), row)
        return list(found.values())

    def _text(self, column: str, row: int) -> str:
        """The text of a row on one line; a missing column is empty."""
        return one_line(self._answers[column][row].as_py()) if column in self._answers.column_names else ""

    def _line(self, row: int, end: str) -> Marked:
        """The prompt, the response with the places that were replaced before judging, and a last word."""
        response, judged = self._text("response", row), self._text("judged", row)
        return self._after_prompt(row, replaced_places(response, judged) if judged else (response,), end)

    def _with_mark(self, row: int, pattern: re.Pattern[str]) -> Marked:
        response = self._text("response", row)
        found = pattern.search(response)
        start, end = found.span(1) if found else (0, 0)
        before = response[max(0, start - LETTERS // 2) : start]
        before = f"…{before}" if start > LETTERS // 2 else before
        return self._after_prompt(row, (before, response[start:end], response[end:]), "")

    def _after_prompt(self, row: int, parts: Sequence[str], end: str) -> Marked:
        """The prompt and the parts of the response, cut; ``end`` is not marked."""
        prompt = self._text("prompt", row)
        said = f"“{shorten(prompt, LETTERS)}” → " if prompt else ""
        first, *rest = _cut_parts(parts, LETTERS) or [""]
        found = [said + first, *rest]
        if end:
            found = [*found, end] if len(found) % 2 == 0 else [*found[:-1], found[-1] + end]
        return Marked(tuple(found))


def _cut_parts(parts: Sequence[str], letters: int) -> list[str]:
    """Parts with at most this many letters in all."""
    found: list[str] = []
    for part in parts:
        found.append(shorten(part, max(letters, 1)))
        letters -= len(part)
        if letters <= 0:
            break
    return found


def replaced_places(response: str, judged: str) -> tuple[str, ...]:
    """The response in parts, every second of which was replaced before judging.

    The response and the judged text are compared word by word, as far as the response is shown.
    """
    every = response.split()
    words = every[: bisect(list(accumulate(len(word) + 1 for word in every)), LETTERS)]
    matches = SequenceMatcher(None, words, judged.split()[: len(words) + _AHEAD], autojunk=False).get_opcodes()
    spans = [(tag != "equal", words[start:end]) for tag, start, end, _, _ in matches if end > start]
    runs = [(marked, " ".join(w for _, own in run for w in own)) for marked, run in groupby(spans, lambda s: s[0])]
    parts = [""] if runs and runs[0][0] else []
    for i, (marked, text) in enumerate(runs):
        parts.append(text if marked else f"{' ' if i else ''}{text}{' ' if i < len(runs) - 1 else ''}")
    return tuple(parts) if len(words) == len(every) else (*parts, *(["", "…"] if len(parts) % 2 else ["…"]))


_MOST, _LEAST = 20, 2


def repeated_section(view: View) -> Iterator[Section]:
    """The texts that are the response to most prompts, and to how many descriptors."""
    descriptor = descriptor_column(view.answers)
    answers = view.answers.select([descriptor, "response"])
    counted = answers.group_by("response", use_threads=False).aggregate(
        [(descriptor, "count_distinct"), ([], "count_all")]
    )
    texts = pc.utf8_trim_whitespace(known_texts(counted["response"]))
    counted = counted.filter(pc.and_(pc.not_equal(texts, ""), pc.greater_equal(counted["count_all"], _LEAST)))
    order = pc.select_k_unstable(counted, _MOST, [("count_all", "descending"), ("response", "ascending")])
    columns: tuple[ColumnOf[dict[str, Any]], ...] = (
        ColumnOf("response", "Response", lambda row: shorten(one_line(row["response"]), LETTERS)),
        ColumnOf("responses", "Responses", lambda row: row["count_all"], "count"),
        ColumnOf("descriptors", "Descriptors", lambda row: row[f"{descriptor}_count_distinct"], "count"),
    )
    if rows := counted.take(order).to_pylist():
        table = table_of("repeated", "The responses that occur most often", columns, rows)
        yield Section("repeated-responses", "Repeated responses", (table,), detail=True)
