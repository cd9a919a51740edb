"""Classify texts by the phrases that they contain."""

import hashlib
import re
from collections.abc import Sequence
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.words import Phrases

# a word keeps its inner apostrophes and hyphens; any other character stands alone
_WORDS = re.compile(r"\w+(?:['-]\w+)*|[^\w\s]")
_PLAIN = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2010": "-", "\u2011": "-"})


class Lexicon(Record):
    """A file of phrases: the phrases of each label, and the label of texts without any phrase.

    Without ``otherwise`` such a text has no label: its probabilities are missing.
    """

    labels: tuple[Annotated[str, Field(min_length=1)], ...] = Field(min_length=2)
    phrases: dict[str, tuple[Annotated[str, Field(min_length=1)], ...]] = Field(description="phrases of each label")
    otherwise: str | None = Field(None, description="the label of a text that contains none of the phrases")

    @model_validator(mode="after")
    def _check(self) -> Self:
        unknown = [label for label in (*self.phrases, self.otherwise) if label not in (*self.labels, None)]
        if unknown:
            raise ValueError(f"there is no label {unknown[0]!r} in labels")
        first: dict[tuple[str, ...], str] = {}
        for label, phrases in self.phrases.items():
            for phrase in phrases:
                words = split_words(phrase)
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
        phrases = [(split_words(phrase), label) for label, some in lexicon.phrases.items() for phrase in some]
        self._phrases = Phrases([words for words, _ in phrases])
        self._labels = np.array([card.labels.index(label) for _, label in phrases], np.int64)
        self._otherwise = None if lexicon.otherwise is None else card.labels.index(lexicon.otherwise)

    def judge(self, texts: Sequence[str]) -> Floats:
        """The shares of a block of texts; NaN for a text without a phrase if the lexicon has no label for it."""
        size = len(self.card.labels)
        counts = np.zeros((len(texts), size))
        for row, text in enumerate(texts):
            counts[row] = np.bincount(self._labels[self._phrases.find(split_words(text))], minlength=size)
        if self._otherwise is not None:
            counts[~counts.any(axis=1), self._otherwise] = 1
        with np.errstate(invalid="ignore"):
            shares: Floats = counts / counts.sum(axis=1, keepdims=True)
        return shares


PHRASES = NamedFiles("lexicon", "classifiers/lexicons", Lexicon, ClassifierError)


def split_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, and its other characters; white space separates and is dropped."""
    return tuple(_WORDS.findall(text.translate(_PLAIN).casefold()))
