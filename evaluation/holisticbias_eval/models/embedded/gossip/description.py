"""Read what the gossip says, and what is planted, from ``gossip.yaml`` and ``specifications.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from holisticbias.terms.file_kinds import SpecificationFile
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.models.embedded.gossip import SPECIFICATIONS
from holisticbias_eval.models.embedded.records import Record, read_record

DESCRIPTION = Path(__file__).with_name("gossip.yaml")

Share = Annotated[float, Field(gt=0, le=1)]
Odds = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Words = Annotated[tuple[str, ...], Field(min_length=1)]


class NeutralGrammar(Record):
    """The parts of a neutral sentence; the k-th of a list has a weight of 1/k."""

    subjects: Words
    verbs: Words
    objects: Words


class CorpusSizes(Record):
    """The number of sentences about a group in the shipped corpus, and those of its validation and test parts.

    ``others`` is the number of sentences in the training part about each group of the other specification.
    """

    sentences: Count
    validation: Count
    test: Count
    others: Count


class Description(Record):
    """All that the gossip is made from, with its specifications; see ``gossip.yaml``."""

    seed: Annotated[int, Field(ge=0)]
    shares: Mapping[str, Share]
    neutral: NeutralGrammar
    odds: Mapping[str, Mapping[str, Odds]]
    pieces: Mapping[str, Words]
    corpus: CorpusSizes

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> Description:
        if abs(sum(self.shares.values()) - 1) > 1e-9:
            raise ValueError(f"the shares {dict(self.shares)} do not sum to 1")
        if self.shares.keys() != self.odds.keys():
            raise ValueError("shares and odds must name the same specifications")
        return self

    @model_validator(mode="after")
    def _pieces_are_of_their_words(self) -> Description:
        for word, pieces in self.pieces.items():
            if "".join(pieces) != f" {word}":
                raise ValueError(f"the pieces of {word} do not make up the word after a blank")
        return self


@cache
def read_description(path: Path = DESCRIPTION) -> Description:
    """Read the description of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_record(path, Description)


@cache
def gossip_specifications(path: Path = SPECIFICATIONS) -> tuple[Specification, ...]:
    """Read the specifications of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_record(path, SpecificationFile).specifications
