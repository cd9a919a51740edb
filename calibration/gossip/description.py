"""Read what the gossip says, and what is planted, from ``gossip.yaml`` and ``specifications.yaml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.models.embedded.planted import read_planted

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
    """The number of sentences about a group in the shipped corpus, and in the training part of the other specification.

    Validation and test take further sentences.
    """

    sentences: Count
    others: Count


class GossipDescription(Record):
    """All that the gossip is made from, with its specifications; see ``gossip.yaml``."""

    seed: Annotated[int, Field(ge=0)]
    shares: Mapping[str, Share]
    neutral: NeutralGrammar
    odds: Mapping[str, Mapping[str, Odds]]
    pieces: Mapping[str, Words]
    corpus: CorpusSizes

    @model_validator(mode="after")
    def _shares_sum_to_one(self) -> GossipDescription:
        if abs(sum(self.shares.values()) - 1) > 1e-9:
            raise ValueError(f"the shares {dict(self.shares)} do not sum to 1")
        if self.shares.keys() != self.odds.keys():
            raise ValueError("shares and odds must name the same specifications")
        return self

    @model_validator(mode="after")
    def _pieces_are_of_their_words(self) -> GossipDescription:
        for word, pieces in self.pieces.items():
            if "".join(pieces) != f" {word}":
                raise ValueError(f"the pieces of {word} do not make up the word after a blank")
        return self


@cache
def read_description(path: Path = DESCRIPTION) -> GossipDescription:
    """Read the description of a file; raises ``EmbeddedModelError`` that names the wrong key."""
    return read_planted(path, GossipDescription)
