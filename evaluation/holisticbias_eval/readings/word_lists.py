"""Lists of words, and words with values, as named files of ``evaluation/words/`` and ``evaluation/polarity/``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.readings.words import split_words

WORD_PATTERN = re.compile(r"^[a-z0-9][a-z0-9'_-]{0,99}$")
"""A word in lower case; an underscore or a hyphen joins the words of a phrase."""
Word = Annotated[str, StringConstraints(pattern=WORD_PATTERN.pattern)]


class Described(BaseModel):
    """The description in every file of words."""

    model_config = ConfigDict(extra="forbid", frozen=True)

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

    words: dict[Word, Annotated[float, Field(ge=-1, le=1)]] = Field(
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
