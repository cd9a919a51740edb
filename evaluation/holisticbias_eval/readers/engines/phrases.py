"""Classify texts by the phrases that they contain."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.progress import Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import BLOCK, Classifier

# a word keeps its inner apostrophes and hyphens; any other character stands alone
_WORDS = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2010": "-", "\u2011": "-"})

Words = tuple[str, ...]


class Lexicon(BaseModel):
    """A file of phrases: the phrases of each label, and the label of texts without any phrase.

    Without ``otherwise`` such a text has no label: its probabilities are missing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    labels: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=2)
    phrases: dict[str, tuple[Annotated[str, Field(min_length=1)], ...]] = Field(description="phrases of each label")
    otherwise: str | None = Field(None, description="the label of a text that contains none of the phrases")

    @model_validator(mode="after")
    def _check(self) -> Self:
        unknown = [label for label in (*self.phrases, self.otherwise) if label not in (*self.labels, None)]
        if unknown:
            raise ValueError(f"there is no label {unknown[0]!r} in labels")
        first: dict[Words, str] = {}
        for label, phrases in self.phrases.items():
            for phrase in phrases:
                words = split_words(phrase)
                if not words:
                    raise ValueError(f"phrases: {phrase!r} has no word")
                if first.setdefault(words, label) != label:
                    raise ValueError(f"phrases: {phrase!r} has two labels, {first[words]!r} and {label!r}")
        return self


class LexiconClassifier(Classifier):
    """Counts phrases: the probability of a label is its share of the phrases that a text contains.

    Phrases are found as whole words, in any case and with any white space
    between them, from left to right; the longest phrase counts, and the search
    goes on after it. A text without a phrase has the lexicon's label ``otherwise``.
    """

    def __init__(self, card: Card, lexicon: Lexicon) -> None:
        if card.labels != lexicon.labels:
            raise ClassifierError(
                f"the labels of {card.id} differ from those of its lexicon: {', '.join(lexicon.labels)[:200]}"
            )
        digest = hashlib.sha256(lexicon.model_dump_json().encode()).hexdigest()
        super().__init__(card, {**card.settings, "classifier_lexicon_sha256": digest})
        self._index = _index(lexicon)
        self._otherwise = None if lexicon.otherwise is None else lexicon.labels.index(lexicon.otherwise)

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify texts; a text without a phrase gets NaN if the lexicon has no label for it."""
        for start in range(0, len(texts), BLOCK):
            block = texts[start : start + BLOCK]
            counts = np.array([self._count(split_words(text)) for text in block])
            with np.errstate(invalid="ignore"):
                values = counts / counts.sum(axis=1, keepdims=True)
            progress(len(block))
            yield np.arange(start, start + len(block)), values

    def _count(self, words: Words) -> Floats:
        counts = np.zeros(len(self.card.labels))
        place = 0
        while place < len(words):
            begun = self._index.get(words[place], ())
            phrase, label = next((f for f in begun if words[place : place + len(f[0])] == f[0]), (words[:1], None))
            if label is not None:
                counts[label] += 1
            place += len(phrase)
        if self._otherwise is not None and not counts.any():
            counts[self._otherwise] = 1
        return counts


PHRASES = NamedFiles("lexicon", "classifiers/lexicons", Lexicon, ClassifierError)


def load_phrases(card: Card, file: str) -> LexiconClassifier:
    """Load the classifier of a card from its file of phrases; raises ``ClassifierError`` if that is invalid."""
    return LexiconClassifier(card, PHRASES.read(file))


def split_words(text: str) -> Words:
    """The words of a text in lower case, and its other characters; white space separates and is dropped."""
    return tuple(_WORDS.findall(text.translate(_PLAIN).casefold()))


def _index(lexicon: Lexicon) -> Mapping[str, tuple[tuple[Words, int], ...]]:
    """The phrases that begin with each word, longest first, with the positions of their labels."""
    index: dict[str, list[tuple[Words, int]]] = {}
    for label, phrases in lexicon.phrases.items():
        for phrase in phrases:
            words = split_words(phrase)
            index.setdefault(words[0], []).append((words, lexicon.labels.index(label)))
    return {first: tuple(sorted(found, key=lambda f: -len(f[0]))) for first, found in index.items()}
