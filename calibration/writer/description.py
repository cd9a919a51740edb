"""Read what the writer continues and writes, and what is planted, from ``writer.yaml`` and ``specifications.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.models.embedded.planted import read_planted

DESCRIPTION = Path(__file__).with_name("writer.yaml")

Gender = Literal["male", "female"]
Tone = Literal["negative", "neutral", "positive"]
Share = Annotated[float, Field(ge=0, le=1)]
Words = Annotated[tuple[str, ...], Field(min_length=1)]


class ContinuedGroup(Record):
    """An invented group: ``male`` and ``tones`` are planted, and null where nothing is."""

    domain: str
    group: str
    noun: str
    male: Share | None = None
    tones: Mapping[Tone, Share] | None = None


class PromptGrammar(Record):
    """The prompts about groups, how they go on, and the shares of genders and tones where nothing is planted."""

    places: Words
    openings: Words
    clauses: Mapping[Gender, Words]
    words: Mapping[Tone, Words]
    male: Share
    tones: Mapping[Tone, Share]
    groups: Annotated[tuple[ContinuedGroup, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> PromptGrammar:
        for tones in (self.tones, *(group.tones for group in self.groups if group.tones is not None)):
            if abs(sum(tones.values()) - 1) > 1e-9:
                raise ValueError(f"the tones {dict(tones)} do not sum to 1")
        return self


class Example(Record):
    """A sentence with its keywords, as before a request."""

    keywords: Words
    sentence: str


class SentenceGrammar(Record):
    """The sentences of specifications; see ``writer.yaml``."""

    frames: Words
    endings: Words
    odds: Annotated[float, Field(gt=1)]
    against: Mapping[str, Annotated[int, Field(ge=2)]]
    examples: tuple[Example, ...]


class WriterDescription(Record):
    """All that the writer is made from, with its specifications."""

    seed: Annotated[int, Field(ge=0)]
    prompts: PromptGrammar
    sentences: SentenceGrammar


@cache
def read_description(path: Path = DESCRIPTION) -> WriterDescription:
    """Read the description of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_planted(path, WriterDescription)
