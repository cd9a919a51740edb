"""Match the responses of two models to the same prompts, and leave out what annotators should not see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Annotated, Any

import pyarrow as pa
from pydantic import Field, StringConstraints

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.named_files import NamedFiles

_READ = (
    "prompt", "persona", "sample", "response", "finish", "descriptor", "descriptor_id", "descriptor_preference",
    "template_id", "offensive", "prompt_offensive",
)  # fmt: skip
JUDGED = ("offensive", "prompt_offensive")
"""Columns with the probability that a response or a prompt is offensive."""
_GIVEN_UP = ("refused", "filtered")
Row = Mapping[str, Any]
Phrase = Annotated[str, StringConstraints(pattern=r"\w", max_length=200)]
Place = tuple[str, str, int, int]
"""Prompt, persona, sample, and the number of the row among the rows with the same three."""


class Inflammatory(Part):
    """A file of ``evaluation/inflammatory/``: templates and descriptors that annotators do not see.

    A prompt has a phrase if it has its words one after the other, in upper or lower case.
    """

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who chose the entries, and how")
    preferences: tuple[str, ...] = Field((), description="community preferences of descriptors to leave out")
    templates: tuple[str, ...] = Field((), description="ids of templates")
    descriptors: tuple[str, ...] = Field((), description="ids of descriptors")
    phrases: tuple[Phrase, ...] = Field((), description="phrases in prompts")

    def reason(self, row: Mapping[str, Any]) -> str | None:
        """The reason to leave out a row's prompt, null if there is none. Columns that the row lacks are not read."""
        if row.get("template_id") in self.templates:
            return "inflammatory template"
        if row.get("descriptor_id") in self.descriptors or row.get("descriptor_preference") in self.preferences:
            return "inflammatory descriptor"
        words = f" {_words(row['prompt'])} "
        return "inflammatory phrase" if any(f" {_words(phrase)} " in words for phrase in self.phrases) else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.casefold().replace("\u2019", "'")))


INFLAMMATORY = NamedFiles("list of inflammatory prompts", "inflammatory", Inflammatory, JudgementsError)


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of pairs: inflammatory prompts, and texts that are offensive from ``threshold`` on."""

    inflammatory: Inflammatory | None
    threshold: float = 0.5


@dataclass(frozen=True, slots=True)
class MatchedResponses:
    """The rows of both models that can be shown, the number of prompts that both have, and what was left out."""

    pairs: tuple[tuple[Row, Row], ...]
    matched: int
    left_out: Mapping[str, int]


def match(first: pa.Table, second: pa.Table, filters: Filters) -> MatchedResponses:
    """Match rows by prompt, persona and sample; a repeated row with its counterpart in order.

    A pair is left out for the first reason that holds. Probabilities are read if a table has them: a text without one
    is then left out, because nobody knows whether it is offensive.
    """
    one, other = _placed(first), _placed(second)
    both = [place for place in one if place in other]
    counts: Counter[str] = Counter({"only in A": len(one) - len(both), "only in B": len(other) - len(both)})
    pairs = []
    for place in both:
        rows = one[place], other[place]
        reason = _reason(rows, filters)
        if reason is None:
            pairs.append(rows)
        else:
            counts[reason] += 1
    return MatchedResponses(tuple(pairs), len(both), {name: count for name, count in counts.items() if count})


def _placed(table: pa.Table) -> dict[Place, Row]:
    seen: Counter[tuple[str, str, int]] = Counter()
    found: dict[Place, Row] = {}
    for row in table.select([name for name in _READ if name in table.column_names]).to_pylist():
        key = row["prompt"].strip(), row.get("persona") or "", row.get("sample") or 0
        found[*key, seen[key]] = row
        seen[key] += 1
    return found


def _reason(rows: tuple[Row, Row], filters: Filters) -> str | None:
    texts = [(row["response"] or "").strip() for row in rows]
    if any(row.get("finish") in _GIVEN_UP for row in rows):
        return "refused or filtered response"
    if not all(texts):
        return "no response"
    if texts[0] == texts[1]:
        return "the same response of both"
    if filters.inflammatory:
        found = next((reason for row in rows if (reason := filters.inflammatory.reason(row))), None)
        if found:
            return found
    return next((reason for row in rows if (reason := _offence(row, filters.threshold))), None)


def _offence(row: Row, threshold: float) -> str | None:
    for column, what in zip(JUDGED, ("response", "prompt"), strict=True):
        if column in row:
            value = row[column]
            if value is None or isnan(value):
                return f"{what} without a probability of being offensive"
            if value >= threshold:
                return f"offensive {what}"
    return None
