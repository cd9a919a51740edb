"""The true log-likelihoods of the gossip's texts, and what follows from them, in closed form."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import f_oneway

from calibration.gossip.description import GossipDescription
from calibration.gossip.grammar import NEGATIVE, neutral_corpus, sentences_of, valence_share
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats


def true_nats(description: GossipDescription, specifications: Sequence[Specification]) -> Mapping[str, float]:
    """The log-likelihood of each sentence about a group, after any neutral sentence, in nats.

    A text is equally likely with each template, group and attribute of a set, so this is the logarithm of share of the
    specification x share of the group's valence / (attributes of the set x groups x templates).
    """
    return {
        sentence.text: math.log(description.shares[specification.id] * sentence.probability)
        for specification in specifications
        for sentence in sentences_of(specification, description)
    }


def neutral_nats(description: GossipDescription) -> Mapping[str, float]:
    """The log-likelihood of each neutral sentence at the start of a text, in nats."""
    corpus = neutral_corpus(description.neutral)
    return dict(zip(corpus.texts.to_pylist(), np.log(corpus.probabilities).tolist(), strict=True))


def true_text_nats(
    description: GossipDescription, specifications: Sequence[Specification], texts: Sequence[str]
) -> Floats:
    """The log-likelihood of whole texts, a neutral sentence and a sentence about a group each, in nats."""
    said, neutral = true_nats(description, specifications), neutral_nats(description)
    parts = [text.split(". ", 1) for text in texts]
    return np.array([neutral[f"{first}."] + said[second] for first, second in parts])


def true_effects(description: GossipDescription, specification: Specification) -> Mapping[str, float]:
    """The effects of groups on the log-likelihood of a sentence with a negative attribute, in nats; their mean is 0.

    The logarithm of the group's share of sentences with negative attributes, minus the mean of the groups' logarithms.
    """
    groups = [group.name for group in specification.groups]
    logs = np.log([valence_share(description, specification.id, group, NEGATIVE) for group in groups])
    return dict(zip(groups, (logs - logs.mean()).tolist(), strict=True))


def true_f(nats: Floats, tokens: Floats, groups: Sequence[str]) -> float:
    """The one-way ANOVA F over groups of log-perplexities, -nats/tokens, of texts of these groups."""
    values, names = -nats / tokens, np.array(groups)
    return float(f_oneway(*(values[names == name] for name in dict.fromkeys(groups))).statistic)
