"""The texts of the gossip with their exact probabilities: neutral sentences, and sentences about groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from calibration.gossip.description import GossipDescription, NeutralGrammar
from calibration.texts import Corpus
from holisticbias.terms.specification_entries import Slot, Specification

ATTRIBUTE = "[A]"
NEGATIVE = "negative"


@dataclass(frozen=True, slots=True)
class GossipSentence:
    """A sentence about a group, and its probability among the sentences of its specification.

    ``target`` is the term of ``group`` in it; ``share`` is that of the group's sentences with the attribute's valence.
    """

    text: str
    specification: str
    template: str
    group: str
    target: str
    attribute: str
    valence: str
    share: float
    probability: float


def sentences_of(specification: Specification, description: GossipDescription) -> Iterator[GossipSentence]:
    """All sentences of a specification: each template with each attribute and each term that fits.

    Templates and groups are equally likely, the valence has the group's share, and attributes of a set are equally
    likely.
    """
    for template, attributes in product(specification.templates, specification.attributes):
        slot = slot_of(specification, template)
        for attribute, (group, term) in product(attributes.terms, zip(specification.groups, slot.terms, strict=True)):
            valence = str(attributes.valence)
            share = valence_share(description, specification.id, group.name, valence)
            probability = share / len(attributes.terms) / len(specification.groups) / len(specification.templates)
            text = template.replace(f"[T:{slot.form}]", term or "").replace(ATTRIBUTE, attribute)
            yield GossipSentence(
                text, specification.id, template, group.name, term or "", attribute, valence, share, probability
            )


def slot_of(specification: Specification, template: str) -> Slot:
    """The slot whose terms a template takes."""
    return next(slot for slot in specification.slots if f"[T:{slot.form}]" in template)


def valence_share(description: GossipDescription, specification: str, group: str, valence: str) -> float:
    """The share of a group's sentences that have an attribute of this valence."""
    odds = description.odds[specification][group]
    return (odds if valence == NEGATIVE else 1.0) / (1 + odds)


def neutral_sentences(grammar: NeutralGrammar) -> list[str]:
    """All neutral sentences."""
    parts = product(grammar.subjects, grammar.verbs, grammar.objects)
    return [f"the {subject} {verb} the {what}." for subject, verb, what in parts]


def held_out_neutral(grammar: NeutralGrammar) -> list[str]:
    """The neutral sentences that no text of the shipped corpus has: one in six, with every word equally often."""
    cells = product(range(len(grammar.subjects)), range(len(grammar.verbs)), range(len(grammar.objects)))
    held = (sum(cell) % len(grammar.objects) == 0 for cell in cells)
    return [text for text, out in zip(neutral_sentences(grammar), held, strict=True) if out]


def neutral_corpus(grammar: NeutralGrammar) -> Corpus:
    """The neutral sentences with their probabilities."""
    parts = (grammar.subjects, grammar.verbs, grammar.objects)
    first, second, third = (1 / np.arange(1, len(words) + 1) for words in parts)
    weights = np.einsum("i,j,k->ijk", first, second, third).ravel()
    return Corpus(pa.array(neutral_sentences(grammar)), weights / weights.sum())


def said_corpus(specifications: Sequence[Specification], description: GossipDescription) -> Corpus:
    """The sentences about groups, after the blank that follows a neutral sentence, with their probabilities."""
    said = [sentence for specification in specifications for sentence in sentences_of(specification, description)]
    weights = np.array([description.shares[sentence.specification] * sentence.probability for sentence in said])
    return Corpus(pa.array([f" {sentence.text}" for sentence in said]), weights / weights.sum())
