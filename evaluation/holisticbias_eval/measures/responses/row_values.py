"""Values of single responses: the phrases that they have, how much they repeat, their length and their ending."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.words import WordArrays, has_phrase, longest_common_runs, split_words, starts_with

ENDINGS = {"share_truncated": "length", "share_refused": "refused", "share_filtered": "filtered"}
"""Shares of responses by why they end, see ``Finish``."""
MEANS = {"parroting_run": "share", "length": "words"}
"""Values that are not 0 or 1, with their units."""
UNTESTED = "parroting_run"
"""A share of the prompt's words depends on how many words the descriptor itself has, so descriptors are not tested."""
PHRASE_SHARE = "phrase_share"


@dataclass(frozen=True, slots=True)
class RowValues:
    """A value of each response, NaN for responses that are not counted: shape ``[rows]``."""

    name: str
    values: Floats
    phrase: str | None = None


@dataclass(frozen=True, slots=True)
class Wordings:
    """The words of responses and prompts, and which responses have a text.

    ``answered`` is false for responses that are empty, refused or withheld. ``prompts`` is ``None`` if the table has
    no prompts.
    """

    words: WordArrays
    prompts: WordArrays | None
    answered: Bools
    empty: Bools


def read_wordings(answers: pa.Table) -> Wordings:
    """Split responses and prompts into words."""
    texts = _known(answers["response"])
    blank = pc.equal(pc.utf8_trim_whitespace(texts), pa.scalar("", pa.large_string())).to_numpy()
    withheld = np.zeros(len(blank), bool)
    if "finish" in answers.column_names:
        withheld = _is_any(answers["finish"], ("refused", "filtered"))
    columns = [texts, *([answers["prompt"]] if "prompt" in answers.column_names else [])]
    words, *prompts = split_words(*columns)
    return Wordings(words, prompts[0] if prompts else None, ~blank & ~withheld, blank & ~withheld)


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts, with null as the empty text."""
    return pc.fill_null(column.cast(pa.large_string()), pa.scalar("", pa.large_string()))


def _is_any(column: pa.ChunkedArray, values: Sequence[str]) -> Bools:
    found: Bools = pc.is_in(column.cast(pa.string()), pa.array(list(values), pa.string())).to_numpy()
    return found


def row_values(answers: pa.Table, wordings: Wordings, phrases: Sequence[str]) -> Iterator[RowValues]:
    """Every value of every response; values that need a column that the table lacks are left out."""
    words, answered = wordings.words, wordings.answered
    for phrase in phrases:
        own = split_words(pa.chunked_array([pa.array([phrase], pa.large_string())]))[0]
        yield RowValues(PHRASE_SHARE, _among(has_phrase(words, own.vocabulary.take(own.codes).to_pylist()), answered),
                        phrase)  # fmt: skip
    if wordings.prompts is not None:
        yield from _parroting(words, wordings.prompts, answered)
    yield RowValues("length", _among(words.lengths, answered))
    yield RowValues("share_repeated", _among(_repeated(answers, answered), answered))
    yield RowValues("share_empty", wordings.empty.astype(float))
    if "finish" in answers.column_names:
        for name, ending in ENDINGS.items():
            yield RowValues(name, _is_any(answers["finish"], (ending,)).astype(float))


def _parroting(words: WordArrays, prompts: WordArrays, answered: Bools) -> Iterator[RowValues]:
    """Whether a response is its prompt, starts with it, and how much of it its longest common run of words is."""
    counted = answered & (prompts.lengths > 0)
    starts = starts_with(words, prompts)
    yield RowValues("parroting_exact", _among(starts & (words.lengths == prompts.lengths), counted))
    yield RowValues("parroting_start", _among(starts, counted))
    runs = longest_common_runs(prompts, words)
    yield RowValues("parroting_run", _among(runs / np.maximum(prompts.lengths, 1), counted))


def _among(values: np.ndarray, counted: Bools) -> Floats:
    return np.where(counted, values, np.nan)


def asked(answers: pa.Table) -> tuple[np.ndarray, int]:
    """The prompt of each response as a code, and the number of codes; without prompts, its template and descriptor."""
    if "prompt" in answers.column_names:
        prompts, code = encode(_known(answers["prompt"]))
        return code, len(prompts)
    templates, template = encode(answers["template"])
    descriptors, descriptor = encode(answers["descriptor"])
    return template * max(len(descriptors), 1) + descriptor, len(templates) * len(descriptors)


def _repeated(answers: pa.Table, answered: Bools) -> Bools:
    """Whether another prompt has the same response, letter by letter."""
    texts, text = encode(_known(answers["response"]))
    prompt, count = asked(answers)
    pairs = np.unique((text * max(count, 1) + prompt)[answered])
    prompts = np.bincount(pairs // max(count, 1), minlength=len(texts) + 1)
    found: Bools = answered & (prompts[text] > 1)
    return found
