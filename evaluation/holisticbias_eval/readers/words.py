"""Words of texts, sums over the words of each text, and lists of words as named files."""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.named_files import NamedFiles

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def split_words(text: str) -> list[str]:
    """The words of a text in lower case: letters and digits, with straight apostrophes inside.

    Every other character separates words, hyphens and curly apostrophes included: ``he's`` and ``women's`` are one
    word each, and the curly forms are ``he`` and ``s``, ``women`` and ``s``.
    """
    return _WORD.findall(text.lower())


def entry_of(word: str, entries: Mapping[str, int]) -> int | None:
    """The number of a word's entry: that of the word itself, or else of the word without ``'s``."""
    found = entries.get(word)
    return entries.get(word.removesuffix("'s")) if found is None else found


def is_number(text: str) -> bool:
    """Whether a text is a number, finite or not."""
    try:
        float(text)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class FoundEntries:
    """The entries of a lexicon that texts contain: which text and which entry, in order of the texts."""

    texts: Ints
    entries: Ints
    size: int


def collect(rows: Iterable[Sequence[int]]) -> FoundEntries:
    """The entries of each text, as found one text after another."""
    lists = list(rows)
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    entries = np.fromiter((entry for row in lists for entry in row), np.int64, int(lengths.sum()))
    return FoundEntries(np.repeat(np.arange(len(lists)), lengths), entries, len(lists))


def weighted_means(found: FoundEntries, values: Floats) -> Floats:
    """The mean of each text's values, each weighted by its size: ``sum sgn(v) v^2 / sum abs(v)``.

    ``values`` has one value per entry of the lexicon, NaN for an entry without one. NaN for a text without a value
    other than 0. Source: Dhamala et al. 2021, sections 4.4 and 4.5.
    """
    own = values[found.entries]
    known = ~np.isnan(own)
    texts, own = found.texts[known], own[known]
    above = np.bincount(texts, own * np.abs(own), found.size)
    below = np.bincount(texts, np.abs(own), found.size)
    with np.errstate(invalid="ignore"):
        means: Floats = above / below
    return means


def weighted_parts(named: Sequence[tuple[str, float]]) -> dict[str, float]:
    """The parts of the words of a text in ``weighted_means``, which add up to its mean."""
    total = sum(abs(value) for _, value in named)
    return summed((word, value * abs(value) / total) for word, value in named if value)


class Phrases:
    """Phrases as their words, which are found in a text from left to right: the longest counts, and is read over."""

    def __init__(self, phrases: Sequence[tuple[str, ...]]) -> None:
        self._phrases = phrases
        self._begun: dict[str, list[int]] = {}
        for number, phrase in sorted(enumerate(phrases), key=lambda entry: -len(entry[1])):
            self._begun.setdefault(phrase[0], []).append(number)

    def find(self, words: Sequence[str]) -> list[int]:
        """The numbers of the phrases in a text."""
        found, place = [], 0
        while place < len(words):
            size = 1
            for number in self._begun.get(words[place], ()):
                phrase = self._phrases[number]
                if tuple(words[place : place + len(phrase)]) == phrase:
                    found.append(number)
                    size = len(phrase)
                    break
            place += size
        return found


def summed(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The sum of the values of each word, without values of 0."""
    sums: dict[str, float] = {}
    for word, value in parts:
        if value:
            sums[word] = sums.get(word, 0.0) + value
    return sums


WORD_PATTERN = re.compile(r"^[a-z0-9][a-z0-9'_-]{0,99}$")
"""A word in lower case; an underscore or a hyphen joins the words of a phrase."""
Word = Annotated[str, StringConstraints(pattern=WORD_PATTERN.pattern)]


class Described(Record):
    """The description in every file of words."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    title: str = Field(min_length=1)
    licence: str = Field(min_length=1)
    source: str = Field(min_length=1, description="where the words come from, and how they were chosen")

    @property
    def digest(self) -> str:
        """The SHA-256 digest of the content, in hexadecimal."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class WordLists(Described):
    """A file of ``evaluation/words/``: lists of words by name. A word stands in one list only."""

    lists: dict[str, tuple[Word, ...]] = Field(min_length=1, description="words in lower case, by list")

    @model_validator(mode="after")
    def _check(self) -> Self:
        first: dict[str, str] = {}
        for name, words in self.lists.items():
            for word in words:
                if word in first:
                    raise ValueError(f"lists: {word!r} stands in {first[word]} and in {name}")
                first[word] = name
        return self


class Polarity(Described):
    """A file of ``evaluation/polarity/``: the gender polarity of words, below 0 male and above 0 female.

    An underscore joins the words of a phrase. A word that the file does not have has no polarity.
    """

    words: dict[Word, Annotated[float, Field(ge=-1, le=1, strict=True)]] = Field(
        min_length=1, description="cosine of a word's vector with she - he, by word in lower case"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        seen: dict[tuple[str, ...], str] = {}
        for word in self.words:
            parts = tuple(split_words(word))
            if parts in seen:
                raise ValueError(f"words: {seen[parts]!r} and {word!r} are the same words in a text")
            seen[parts] = word
        return self

    @property
    def phrases(self) -> Mapping[tuple[str, ...], float]:
        """The polarity of each word or phrase, by the words that it has in a text."""
        return {tuple(split_words(word)): value for word, value in self.words.items()}


LISTS = NamedFiles("list of words", "words", WordLists)
POLARITY = NamedFiles("gender polarity", "polarity", Polarity)
