"""The texts of the writer with their exact probabilities: sentences, continuations of prompts, answers to requests."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa

from calibration.texts import Corpus
from calibration.writer.description import (
    ContinuedGroup,
    Example,
    Gender,
    PromptGrammar,
    SentenceGrammar,
    Tone,
    WriterDescription,
)
from holisticbias.terms.specification_entries import Specification

TERM, ATTRIBUTE, ENDING = "[T]", "[A]", "[E]"


@dataclass(frozen=True, slots=True)
class WriterPrompt:
    """A prompt about an invented group."""

    group: ContinuedGroup
    text: str


@dataclass(frozen=True, slots=True)
class Continuation:
    """A continuation, and what a perfect measure finds in it."""

    text: str
    gender: Gender
    tone: Tone


@dataclass(frozen=True, slots=True)
class WrittenSentence:
    """A sentence of a specification: its term and attribute, and whether its term is the likelier one of its pair.

    ``slot`` and ``group`` are the positions of the term; ``fits`` is whether it is that of the stereotype.
    """

    text: str
    specification: str
    slot: int
    group: int
    attribute: str
    fits: bool
    likelier: bool
    is_template: bool


def prompts_of(grammar: PromptGrammar) -> tuple[WriterPrompt, ...]:
    """All prompts, by group: each place with each opening."""
    return tuple(
        WriterPrompt(group, f"The {group.noun} {place} {opening}")
        for group in grammar.groups
        for place, opening in product(grammar.places, grammar.openings)
    )


def continuations_of(grammar: PromptGrammar) -> tuple[Continuation, ...]:
    """All continuations: each clause with each word."""
    return tuple(
        Continuation(f" that {clause} {word}.", gender, tone)
        for gender, clauses in grammar.clauses.items()
        for clause in clauses
        for tone, words in grammar.words.items()
        for word in words
    )


def continuation_corpus(grammar: PromptGrammar, group: ContinuedGroup) -> Corpus:
    """The continuations of prompts about a group, and their probabilities: gender and tone are independent."""
    male = grammar.male if group.male is None else group.male
    tones = grammar.tones if group.tones is None else group.tones
    genders: Mapping[Gender, float] = {"male": male, "female": 1 - male}
    found = {
        c.text: genders[c.gender] / len(grammar.clauses[c.gender]) * tones.get(c.tone, 0.0) / len(grammar.words[c.tone])
        for c in continuations_of(grammar)
    }
    return _corpus({text: p for text, p in found.items() if p > 0})


def sentences_of(specification: Specification, grammar: SentenceGrammar) -> Iterator[WrittenSentence]:
    """All sentences of a specification: frames with each ending, and its templates."""
    sides = {group.stereotype: place for place, group in enumerate(specification.groups)}
    kinds = [(grammar.frames, grammar.endings, False), (specification.templates, ("",), True)]
    every = grammar.against[specification.id]
    attributes = [(a, sides[s.name]) for s in specification.attributes for a in s.terms]
    for (number, (attribute, side)), (frames, endings, is_template) in product(enumerate(attributes), kinds):
        for place, frame in enumerate(frames):
            preferred = side if (number + place) % every else 1 - side
            for ending, (slot, terms) in product(endings, enumerate(specification.slots)):
                for group, term in enumerate(terms.terms):
                    text = fill(frame, term or "", attribute, ending)
                    fits, likelier = group == side, group == preferred
                    yield WrittenSentence(text, specification.id, slot, group, attribute, fits, likelier, is_template)


def fill(frame: str, term: str, attribute: str, ending: str = "") -> str:
    """A frame or template with its term, attribute and ending."""
    return frame.replace(TERM, term).replace(ATTRIBUTE, attribute).replace(ENDING, ending)


def sentence_corpus(specifications: Sequence[Specification], grammar: SentenceGrammar) -> Corpus:
    """All sentences of all specifications, each without a request.

    The odds of the sentences of a pair are ``grammar.odds`` to 1. A template is as frequent as a frame.
    """
    written = [s for specification in specifications for s in sentences_of(specification, grammar)]
    often = len(grammar.endings)
    return _corpus({s.text: (grammar.odds if s.likelier else 1.0) * (often if s.is_template else 1) for s in written})


def answer_corpus(grammar: SentenceGrammar, term: str, attribute: str) -> Corpus:
    """The sentences that answer a request with a term and an attribute, all equally likely."""
    places = product(grammar.frames, grammar.endings)
    return _corpus({f" {fill(frame, term, attribute, ending)}": 1.0 for frame, ending in places})


def request(keywords: Sequence[str], examples: Sequence[Example] = ()) -> str:
    """A request for a sentence with keywords, after some examples."""
    lines = [f"Keywords: {', '.join(e.keywords)} ## Sentence: {e.sentence} ##" for e in examples]
    return "\n".join([*lines, f"Keywords: {', '.join(keywords)} ## Sentence:"])


def all_texts(description: WriterDescription, specifications: Sequence[Specification]) -> Iterator[str]:
    """Texts with every word that the writer reads or writes."""
    yield from (prompt.text for prompt in prompts_of(description.prompts))
    yield from (continuation.text for continuation in continuations_of(description.prompts))
    for specification in specifications:
        for sentence in sentences_of(specification, description.sentences):
            yield sentence.text
            yield f" {sentence.text}"
    yield request((), description.sentences.examples)


def _corpus(weights: Mapping[str, float]) -> Corpus:
    values = np.array(list(weights.values()))
    return Corpus(pa.array(list(weights)), values / values.sum())
