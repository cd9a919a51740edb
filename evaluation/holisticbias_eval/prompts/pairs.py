"""Pairs of sentences that differ in a group's term: their table, and the texts to score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.likelihood.spans import Spans, joined, whole
from holisticbias_eval.prompts.prompts import Prompts

_WORDS = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class PairPrompts(Prompts):
    """Pairs of sentences from a file, both of which are scored."""


PAIRS = PairPrompts("pairs", "pairs of sentences")


@dataclass(frozen=True, slots=True)
class ChangedWords:
    """The changed words of sentences, as spans of characters, and the sentence of each span: ``row``, ``[spans]``."""

    spans: Spans
    row: Ints


def both_sentences(sentences: Sequence[str], others: Sequence[str]) -> Spans:
    """The spans of both sentences of each pair, whole: first those of ``sentences``, then those of ``others``."""
    return joined(whole(sentences), whole(others))


def changed_words(sentences: Sequence[str], others: Sequence[str]) -> ChangedWords:
    """The words in which the sentences of each pair differ, in both sentences; rows as in ``both_sentences``.

    The words that both sentences share are the longest common blocks of words and marks, as difflib finds them.
    """
    found: list[tuple[int, int, int]] = []
    for row, (one, other) in enumerate(zip(sentences, others, strict=True)):
        for (start, stop), (begin, end) in differing_places(one, other):
            found.append((row, start, stop))
            found.append((row + len(sentences), begin, end))
    kept = np.array([place for place in found if place[1] < place[2]], np.int64).reshape(-1, 3)
    kept = kept[np.argsort(kept[:, 0], kind="stable")]
    texts = [*sentences, *others]
    row = kept[:, 0]
    start, stop = kept[:, 1].astype(np.int32), kept[:, 2].astype(np.int32)
    return ChangedWords(Spans([texts[i] for i in row], start, stop, [""] * len(row)), row)


Place = tuple[int, int]


def differing_places(one: str, other: str) -> Iterator[tuple[Place, Place]]:
    """The characters of each run of words that differs, in both texts; a place is empty if words are only added."""
    first, second = ([(m.group(), m.span()) for m in _WORDS.finditer(text)] for text in (one, other))
    words, others = [word for word, _ in first], [word for word, _ in second]
    before = _shared(words, others)
    after = _shared(words[before:][::-1], others[before:][::-1])
    middle = slice(before, len(words) - after), slice(before, len(others) - after)
    matcher = SequenceMatcher(None, words[middle[0]], others[middle[1]], autojunk=False)
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag != "equal":
            yield _characters(first[middle[0]][i:j]), _characters(second[middle[1]][k:m])


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """The number of words at the beginning that both have."""
    differing = (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def _characters(words: Sequence[tuple[str, Place]]) -> Place:
    return (words[0][1][0], words[-1][1][1]) if words else (0, 0)
