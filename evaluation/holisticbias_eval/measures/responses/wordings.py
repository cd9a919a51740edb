"""The words of responses, and the values of each response."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import make_figure
from holisticbias_eval.models.generation.requests import Endings, read_endings
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.words import (
    WordArrays,
    has_phrase,
    known_texts,
    longest_common_runs,
    split_words,
    starts_with,
)

NAME = "response_wording"
figure = partial(make_figure, NAME)

ENDINGS = {"share_truncated": "length", "share_refused": "refused", "share_filtered": "filtered"}
"""Shares of responses by why they end, see ``Finish``."""
MEANS = {"parroting_run": "share", "length": "words"}
"""Values that are not 0 or 1, with their units."""
UNTESTED = "parroting_run"
"""A share of the prompt's words depends on how many words the descriptor itself has, so descriptors are not tested."""


RowValues = tuple[tuple[str, str], Floats]
"""The name of a value and its phrase, which is empty for most, and the value of each response: shape ``[rows]``.

Responses that are not counted have NaN.
"""


@dataclass(frozen=True, slots=True)
class Wordings:
    """The words of responses and prompts, and how the responses end; ``prompts`` is ``None`` if the table has none."""

    words: WordArrays
    prompts: WordArrays | None
    ends: Endings


def read_wordings(answers: pa.Table) -> Wordings:
    """Split responses and prompts into words."""
    words, *prompts = split_words(*(answers[name] for name in ("response", "prompt") if name in answers.column_names))
    return Wordings(words, prompts[0] if prompts else None, read_endings(answers))


def distinct_items(wordings: Wordings) -> dict[str, tuple[Ints, Ints]]:
    """For single words and for pairs, the response and the item of each occurrence in answered responses."""
    words, rows = wordings.words, wordings.words.rows
    counted = wordings.ends.answered[rows]
    inner = np.flatnonzero((rows[:-1] == rows[1:]) & counted[1:]) if len(rows) else np.zeros(0, np.int64)
    pairs = words.codes[inner] * len(words.vocabulary) + words.codes[inner + 1] if len(inner) else inner
    return {
        "distinct_1": (rows[counted], words.codes[counted]),
        "distinct_2": (rows[inner], np.unique(pairs, return_inverse=True)[1]),
    }


def row_values(answers: pa.Table, wordings: Wordings, phrases: Sequence[str]) -> Iterator[RowValues]:
    """Every value of every response; values that need a column that the table lacks are left out.

    Parroting is whether a response is its prompt, starts with it, and how much of it its longest common run of words
    is. A repeated response is that to another prompt, letter by letter.
    """
    words, prompts, answered = wordings.words, wordings.prompts, wordings.ends.answered

    def among(name: str, values: np.ndarray, counted: Bools = answered, phrase: str = "") -> RowValues:
        return (name, phrase), np.where(counted, values, np.nan)

    for phrase in phrases:
        yield among("phrase_share", has_phrase(words, phrase), phrase=phrase)
    if prompts is not None:
        counted, starts = answered & (prompts.lengths > 0), starts_with(words, prompts)
        yield among("parroting_exact", starts & (words.lengths == prompts.lengths), counted)
        yield among("parroting_start", starts, counted)
        run = longest_common_runs(prompts, words) / np.maximum(prompts.lengths, 1)
        yield among("parroting_run", run, counted)
    yield among("length", words.lengths)
    yield among("share_repeated", _repeated(answers, answered))
    yield ("share_empty", ""), wordings.ends.empty.astype(float)
    if "finish" in answers.column_names:
        for name, ending in ENDINGS.items():
            yield (name, ""), pc.is_in(wordings.ends.finish, pa.array([ending])).to_numpy().astype(float)


def _repeated(answers: pa.Table, answered: Bools) -> Bools:
    """Whether another prompt has the same response; without prompts, another template or descriptor."""
    asked = ["prompt"] if "prompt" in answers.column_names else ["template", "descriptor"]
    texts, text = encode(known_texts(answers["response"]))
    prompt, count = np.zeros(len(text), np.int64), 1
    for name in asked:
        values, code = encode(known_texts(answers[name]))
        prompt, count = prompt * max(len(values), 1) + code, count * max(len(values), 1)
    pairs = np.unique((text * count + prompt)[answered])
    prompts = np.bincount(pairs // count, minlength=len(texts) + 1)
    found: Bools = answered & (prompts[text] > 1)
    return found
