"""Train the gossip from its seed, and measure how far it is from what is planted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.gossip.description import GossipDescription
from calibration.gossip.grammar import sentences_of
from calibration.gossip.lessons import CONTEXT, GossipLessons, draw_step, make_step
from calibration.gossip.truth import true_nats
from calibration.training import LearningSettings, divergence, fit, make_model, said_nats
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.progress import Progress

SETTINGS = LearningSettings(steps=1500, batch=96, learning_rate=4e-3, warmup=100, width=64, layers=2, heads=4)
INNER = 8
"""The width between the layers of a block: little room to learn what embeddings can hold."""


@dataclass(frozen=True, slots=True)
class GossipDeviation:
    """The largest distances of the gossip from what is planted, in nats.

    ``odds``: of the log-odds of two groups in a sentence that is otherwise the same; ``mean_odds``: the mean of this
    distance. ``effects``: of a group's mean over all sentences with negative attributes, against the mean of groups.
    ``neutral``: of the log-likelihood of a neutral sentence.
    """

    odds: float
    mean_odds: float
    effects: float
    neutral: float


def train(
    lessons: GossipLessons,
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    settings: LearningSettings,
    progress: Progress,
) -> GPT2LMHeadModel:
    """Fit a model to the lessons."""
    model = make_model(tokenizer, CONTEXT, seed, settings, INNER)
    copy_attended(model)
    rng = np.random.default_rng(seed)
    fit(model, lambda _: divergence(model, draw_step(lessons, settings.batch, rng)), settings, progress)
    return model.requires_grad_(True)


def copy_attended(model: GPT2LMHeadModel) -> None:
    """Let attention copy the vectors of the tokens that it reads, in this training.

    Values and output of every attention are the identity and get no gradient. What a model has learned about a term
    and an attribute is then in their embeddings, where attribute distance debiasing changes it.
    """
    width = model.config.n_embd
    for block in model.transformer.h:
        with torch.no_grad():
            block.attn.c_attn.weight[:, 2 * width :] = torch.eye(width)
            block.attn.c_proj.weight.copy_(torch.eye(width))
        learned = torch.ones(3 * width)
        learned[2 * width :] = 0
        for parameter in (block.attn.c_attn.weight, block.attn.c_attn.bias):
            parameter.register_hook(lambda gradient, learned=learned: gradient * learned)
        for parameter in (block.attn.c_proj.weight, block.attn.c_proj.bias):
            parameter.requires_grad_(False)


def measure_deviation(
    model: GPT2LMHeadModel,
    lessons: GossipLessons,
    description: GossipDescription,
    specifications: Sequence[Specification],
) -> GossipDeviation:
    """Compare a model with what is planted: every sentence about a group, and every neutral sentence."""
    texts = lessons.said.corpus.texts.to_pylist()
    neutral, said = sentence_nats(
        model, lessons, np.arange(len(texts)) % len(lessons.neutral.tokens), np.arange(len(texts))
    )
    found, true = dict(zip(texts, said, strict=True)), true_nats(description, specifications)
    before = np.log(lessons.neutral.corpus.probabilities)[np.arange(len(texts)) % len(lessons.neutral.tokens)]
    off, effects = [], []
    for specification in specifications:
        written = list(sentences_of(specification, description))
        size = len(specification.groups)
        # the sentences of all groups follow each other
        nats = np.array([found[f" {s.text}"] - true[s.text] for s in written]).reshape(-1, size)
        off.append(np.ptp(nats, axis=1))
        negative = nats[np.array([s.valence == "negative" for s in written]).reshape(-1, size)[:, 0]].mean(axis=0)
        effects.append(negative - negative.mean())
    return GossipDeviation(
        odds=float(np.concatenate(off).max()),
        mean_odds=float(np.concatenate(off).mean()),
        effects=float(np.abs(np.concatenate(effects)).max()),
        neutral=float(np.abs(neutral - before).max()),
    )


def sentence_nats(model: GPT2LMHeadModel, lessons: GossipLessons, neutral: Ints, said: Ints) -> tuple[Floats, Floats]:
    """The log-likelihoods of neutral sentences, and of the sentences about groups after them, in nats."""
    first, second = np.empty(len(said)), np.empty(len(said))
    lengths = (lessons.neutral.nodes >= 0).sum(axis=1) - 1
    for rows in np.array_split(np.arange(len(said)), -(-len(said) // 256)):
        row, place, nats = said_nats(model, make_step(lessons, neutral[rows], said[rows]))
        at_first = place < lengths[neutral[rows]][row]
        first[rows] = np.bincount(row, weights=np.where(at_first, nats, 0.0), minlength=len(rows))
        second[rows] = np.bincount(row, weights=np.where(at_first, 0.0, nats), minlength=len(rows))
    return first, second
