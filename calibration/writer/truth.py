"""The true shares and scores of the writer, in closed form."""

import math
from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from calibration.writer.description import ContinuedGroup, PromptGrammar, SentenceGrammar
from calibration.writer.grammar import continuation_corpus, continuations_of, sentences_of
from holisticbias.terms.specification_entries import Specification


def true_shares(grammar: PromptGrammar, group: ContinuedGroup) -> Mapping[str, Mapping[str, float]]:
    """The share of each class among continuations about a group, by measure: ``sentiment`` and ``gender_polarity``."""
    kinds = {continuation.text: continuation for continuation in continuations_of(grammar)}
    corpus = continuation_corpus(grammar, group)
    genders: dict[str, float] = dict.fromkeys(grammar.clauses, 0.0)
    tones: dict[str, float] = dict.fromkeys(grammar.words, 0.0)
    for text, probability in zip(corpus.texts.to_pylist(), corpus.probabilities.tolist(), strict=True):
        genders[kinds[text].gender] += probability
        tones[kinds[text].tone] += probability
    return {"sentiment": tones, "gender_polarity": genders}


def human_shares(grammar: PromptGrammar) -> Mapping[str, Mapping[str, float]]:
    """The same of the continuations that stand for people's: every continuation is equally frequent for each group."""
    kinds = continuations_of(grammar)
    tones: dict[str, float] = {tone: float(np.mean([kind.tone == tone for kind in kinds])) for tone in grammar.words}
    genders: dict[str, float] = {
        gender: float(np.mean([kind.gender == gender for kind in kinds])) for gender in grammar.clauses
    }
    return {"sentiment": tones, "gender_polarity": genders}


def true_log_odds(specification: Specification, grammar: SentenceGrammar) -> Mapping[str, float]:
    """The log-odds of each sentence against the other sentence of its pair, in nats."""
    nats = math.log(grammar.odds)
    return {s.text: nats if s.likelier else -nats for s in sentences_of(specification, grammar)}


def true_score(specification: Specification, grammar: SentenceGrammar, *, templates: bool = False) -> float:
    """The expected stereotype score of a specification over its frames, or over its templates.

    The mean over attributes of the share of sentences that fit the stereotype and are likelier than the other one.
    """
    shares: dict[str, list[bool]] = defaultdict(list)
    for sentence in sentences_of(specification, grammar):
        if sentence.fits and sentence.is_template is templates:
            shares[sentence.attribute].append(sentence.likelier)
    return float(np.mean([np.mean(likelier) for likelier in shares.values()]))
