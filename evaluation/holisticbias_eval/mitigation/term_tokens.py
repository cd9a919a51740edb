"""The tokens of terms in the texts where they stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from holisticbias_eval.errors import MitigationError


@dataclass(frozen=True, slots=True)
class TextTokens:
    """The tokens of a text without special tokens, and the characters of each."""

    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]

    def at(self, start: int, stop: int) -> list[int]:
        """The ids of the tokens that share a character with a place in the text."""
        return [i for i, (begin, end) in zip(self.ids, self.offsets, strict=True) if begin < stop and end > start]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The tokens in which texts differ: after ``head`` equal tokens, those of each text's term."""

    head: int
    terms: tuple[tuple[int, ...], ...]


def encode(tokenizer: Any, texts: Sequence[str]) -> list[TextTokens]:
    """Encode texts; raises ``MitigationError`` if the tokenizer does not say where its tokens stand."""
    if not getattr(tokenizer, "is_fast", False):
        raise MitigationError("the tokenizer gives no character offsets: use a model with a fast tokenizer")
    if not texts:
        return []
    encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    return [TextTokens(*each) for each in zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)]


def align(texts: Sequence[TextTokens], places: Sequence[tuple[int, int]]) -> Aligned:
    """The tokens of the terms at ``places`` of texts that are equal elsewhere, except for an article before the term.

    The tokens before the term that all texts share are the head; those after it that all share are left out. What is
    between is the term of each text: it has the same characters around the term in every text, whatever the tokenizer
    joins to a term on either side, and it includes the article if that differs.
    """
    before = min(_count(end <= start for _, end in text.offsets) for text, (start, _) in _zip(texts, places))
    after = min(_count(begin >= stop for begin, _ in text.offsets[::-1]) for text, (_, stop) in _zip(texts, places))
    head = _shared([text.ids[:before] for text in texts])
    tail = _shared([text.ids[::-1][:after] for text in texts])
    return Aligned(head, tuple(tuple(text.ids[head : len(text.ids) - tail]) for text in texts))


def _zip(
    texts: Sequence[TextTokens], places: Sequence[tuple[int, int]]
) -> Iterable[tuple[TextTokens, tuple[int, int]]]:
    return zip(texts, places, strict=True)


def _count(true_at_first: Iterable[bool]) -> int:
    return sum(1 for _ in takewhile(bool, true_at_first))


def _shared(sequences: Sequence[Sequence[int]]) -> int:
    """The number of items at the beginning that all sequences share."""
    return _count(len(set(items)) == 1 for items in zip(*sequences, strict=False))
