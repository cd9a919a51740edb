"""Read the responses of two models, match those to the same prompts, and leave out what annotators should not see."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from holisticbias_eval.arrays import with_columns
from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.judgements.key import JudgedModel
from holisticbias_eval.measures.responses.phrases import Phrase
from holisticbias_eval.models.generation.requests import WITHHELD, read_endings
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.readers.judging import OFFENSIVE
from holisticbias_eval.results.run import RESPONSES, is_run, read_run
from holisticbias_eval.statistics.words import has_phrase, split_words
from holisticbias_eval.tables.files import table_stem
from holisticbias_eval.tables.forms import columns
from holisticbias_eval.tasks.response_files import RESPONSES as TABLE

_READ = (
    "prompt", "persona", "sample", "response", "finish", "descriptor", "descriptor_id", "descriptor_preference",
    "template_id", "offensive", "prompt_offensive",
)  # fmt: skip
"""Columns with the probability that a response or a prompt is offensive."""
MATCHED_BY = ("persona", "sample")
"""Columns that responses to the same prompt are matched by, if they have them."""
Row = Mapping[str, Any]
Place = tuple[str, str, int, int]
"""Prompt, persona, sample, and the number of the row among the rows with the same three."""


class Inflammatory(Part):
    """A file of ``evaluation/inflammatory/``: templates and descriptors that annotators do not see.

    A prompt has a phrase if it has its words one after the other, in upper or lower case; punctuation and the form
    of apostrophes are ignored.
    """

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who chose the entries, and how")
    preferences: tuple[str, ...] = Field((), description="community preferences of descriptors to leave out")
    templates: tuple[str, ...] = Field((), description="ids of templates")
    descriptors: tuple[str, ...] = Field((), description="ids of descriptors")
    phrases: tuple[Phrase, ...] = Field((), description="phrases in prompts")

    def reasons(self, rows: Sequence[Row]) -> list[str | None]:
        """The rule that leaves out each row's prompt; null without such a rule. Missing columns are not read."""
        (words,) = split_words(pa.chunked_array([pa.array([row["prompt"] for row in rows], pa.large_string())]))
        having = np.any([np.zeros(len(rows), bool), *(has_phrase(words, phrase) for phrase in self.phrases)], axis=0)
        return [self._reason(row, has_phrase=has) for row, has in zip(rows, having.tolist(), strict=True)]

    def _reason(self, row: Row, *, has_phrase: bool) -> str | None:
        if row.get("template_id") in self.templates:
            return "inflammatory template"
        if row.get("descriptor_id") in self.descriptors or row.get("descriptor_preference") in self.preferences:
            return "inflammatory descriptor"
        return "inflammatory phrase" if has_phrase else None


INFLAMMATORY = NamedFiles("list of inflammatory prompts", "inflammatory", Inflammatory, JudgementsError)


@dataclass(frozen=True, slots=True)
class MatchedResponses:
    """The rows of both models that can be shown, the number of prompts that both have, and what was left out."""

    pairs: tuple[tuple[Row, Row], ...]
    matched: int
    left_out: Mapping[str, int]


def match(
    first: pa.Table, second: pa.Table, inflammatory: Inflammatory | None, threshold: float = 0.5
) -> MatchedResponses:
    """Match rows by prompt, persona and sample; a repeated row with its counterpart in order.

    A pair is left out for the first reason that holds. A text is offensive from ``threshold`` on. Probabilities are
    read if a table has them: a text without one is then left out, because nobody knows whether it is offensive.
    """
    one, other = _placed(first), _placed(second)
    both = [(one[place], other[place]) for place in one if place in other]
    every = [row for rows in both for row in rows]
    listed = inflammatory.reasons(every) if inflammatory else [None] * len(every)
    of_pairs = zip(listed[::2], listed[1::2], strict=True)
    reasons = [_reason(rows, own, threshold) for rows, own in zip(both, of_pairs, strict=True)]
    pairs = tuple(rows for rows, reason in zip(both, reasons, strict=True) if reason is None)
    counts = {"only in A": len(one) - len(both), "only in B": len(other) - len(both), **Counter(filter(None, reasons))}
    return MatchedResponses(pairs, len(both), {name: count for name, count in counts.items() if count})


def _placed(table: pa.Table) -> dict[Place, Row]:
    seen: Counter[tuple[str, str, int]] = Counter()
    found: dict[Place, Row] = {}
    table = with_columns(table, {"finish": read_endings(table).finish})
    for row in table.select([name for name in _READ if name in table.column_names]).to_pylist():
        key = row["prompt"].strip(), (row.get("persona") or "").strip(), row.get("sample") or 0
        found[*key, seen[key]] = row
        seen[key] += 1
    return found


def _reason(rows: tuple[Row, Row], listed: Sequence[str | None], threshold: float) -> str | None:
    texts = [(row["response"] or "").strip() for row in rows]
    if any(row.get("finish") in WITHHELD for row in rows):
        return "refused or filtered response"
    if not all(texts):
        return "no response"
    if texts[0] == texts[1]:
        return "identical responses"
    return next(filter(None, (*listed, *(_offence(row, threshold) for row in rows))), None)


def _offence(row: Row, threshold: float) -> str | None:
    for column, what in zip(OFFENSIVE, ("response", "prompt"), strict=True):
        if column in row:
            value = row[column]
            if value is None or isnan(value):
                return f"{what} without a probability of being offensive"
            if value >= threshold:
                return f"offensive {what}"
    return None


_NEEDED = ("prompt", "response")
_NUMBERS = (*columns("count", "sample"), *columns("probability", *OFFENSIVE))
_FORM = replace(TABLE, fields=(*TABLE.fields, *_NUMBERS)).needing(*_NEEDED, filled=["prompt"])


@dataclass(frozen=True, slots=True)
class JudgedResponses:
    """A model and the table of its responses, with the columns prompt and response, and where it was read."""

    model: JudgedModel
    table: pa.Table
    path: Path


def read_source(path: Path) -> JudgedResponses:
    """Read a run's folder, a folder that ``generate`` wrote, or a table with prompt and response.

    Raises ``JudgementsError``, ``TableError`` and ``RunError``.
    """
    if not path.exists():
        raise JudgementsError(f"{path} does not exist: give a run's folder, or a table with prompt and response")
    if not is_run(path) and (path / RESPONSES.file).is_file():
        path /= RESPONSES.file
    if not path.is_dir():
        name = table_stem(path) if path.name != RESPONSES.file else path.resolve().parent.name
        return JudgedResponses(JudgedModel(name=name), _FORM.read(path), path)
    run = read_run(path)
    missing = next((name for name in _NEEDED if name not in run.answers.column_names), None)
    if missing:
        given = "the table that it was measured on, with a column prompt added"
        needed = given if "response" in run.answers.column_names else f"a run whose responses are in {RESPONSES.file}"
        raise JudgementsError(f"{path} has no column {missing}: give {needed}")
    if pc.sum(pc.is_null(run.answers["prompt"])).as_py():
        raise JudgementsError(f"{path}: column prompt of {RESPONSES.file} is missing in some rows: generate again")
    signed, about = run.result.signature, run.result.signature.model
    model = JudgedModel(
        name=about.name, revision=about.revision, weights_sha256=about.weights_sha256, prompts=signed.title
    )
    return JudgedResponses(model, run.answers, path)
