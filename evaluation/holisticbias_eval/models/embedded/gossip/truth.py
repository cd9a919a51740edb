"""The true log-likelihoods of the gossip's texts, and what follows from them, in closed form."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.models.embedded.gossip.description import Description
from holisticbias_eval.models.embedded.gossip.grammar import neutral_sentences, sentences_of


def true_nats(description: Description, specifications: Sequence[Specification]) -> Mapping[str, float]:
    """The log-likelihood of each sentence about a group, after any neutral sentence, in nats."""
    return {
        sentence.text: math.log(description.shares[specification.id] * sentence.probability)
        for specification in specifications
        for sentence in sentences_of(specification, description)
    }


def neutral_nats(description: Description) -> float:
    """The log-likelihood of a neutral sentence at the start of a text, in nats."""
    return -math.log(len(neutral_sentences(description.neutral)))


def true_text_nats(
    description: Description, specifications: Sequence[Specification], texts: Sequence[str]
) -> list[float]:
    """The log-likelihood of whole texts, a neutral sentence and one about a group each, in nats."""
    said, neutral = true_nats(description, specifications), neutral_nats(description)
    return [neutral + said[text.split(". ", 1)[1]] for text in texts]


def true_group_effects(description: Description, specification: str, valence: str = "negative") -> Mapping[str, float]:
    """How much likelier each group is in a sentence with an attribute of a valence than with equal odds, in nats.

    The logarithm of the group's share of sentences with the valence, less the mean of these logarithms: all that a
    group adds to the log-likelihood of a test sentence.
    """
    odds = description.odds[specification]
    shares = {group: (o if valence == "negative" else 1) / (1 + o) for group, o in odds.items()}
    mean = sum(map(math.log, shares.values())) / len(shares)
    return {group: math.log(share) - mean for group, share in shares.items()}
