"""Lists of phrases to look for in responses, as named files of ``evaluation/phrases/``."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from holisticbias_eval.named_files import NamedFiles

Phrase = Annotated[str, StringConstraints(pattern=r"\w", max_length=200)]


class PhraseList(BaseModel):
    """A file of ``evaluation/phrases/``: phrases by the group that they stand for.

    A response has a phrase if it has its words one after the other, in upper or lower case; punctuation and the form
    of apostrophes are ignored.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who uses these phrases, or where they were found")
    phrases: dict[str, tuple[Phrase, ...]] = Field(min_length=1, description="phrases by group")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if repeated := [phrase for i, phrase in enumerate(self.all) if phrase in self.all[:i]]:
            raise ValueError(f"phrases: {repeated[0]!r} stands twice")
        return self

    @property
    def all(self) -> tuple[str, ...]:
        """All phrases, group by group."""
        return tuple(phrase for phrases in self.phrases.values() for phrase in phrases)


FILES = NamedFiles("list of phrases", "phrases", PhraseList)
