"""Train the writer from its seed, and measure how far it is from what is planted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.training import LearningSettings, divergence, fit, make_model, said_nats
from calibration.writer.description import WriterDescription
from calibration.writer.grammar import sentences_of
from calibration.writer.lessons import CONTEXT, WriterLessons, draw_step, largest_deviation, make_step
from calibration.writer.truth import true_log_odds
from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats
from holisticbias_eval.progress import Progress

SETTINGS = LearningSettings(steps=2500, batch=160, learning_rate=4e-3, warmup=100, width=48, layers=2, heads=4)
_PROMPTS = 12  # contexts of a group that are compared with what is planted


@dataclass(frozen=True, slots=True)
class WriterDeviation:
    """The largest distances of the writer from what is planted.

    ``prompts`` and ``requests`` are differences of a token's probability in continuations and in answers. ``odds`` is
    the difference of the log-odds of both sentences of a pair, in nats.
    """

    prompts: float
    requests: float
    odds: float


def train(
    lessons: WriterLessons,
    tokenizer: PreTrainedTokenizerFast,
    seed: int,
    settings: LearningSettings,
    progress: Progress,
) -> GPT2LMHeadModel:
    """Fit a model to all lessons; a batch is of sentences for four fifths, then of requests, and of prompts."""
    model = make_model(tokenizer, CONTEXT, seed, settings)
    rng = np.random.default_rng(seed)
    kinds = ([lessons.sentences], lessons.requests, lessons.prompts)
    sizes = [settings.batch * 4 // 5, settings.batch * 3 // 20, settings.batch // 20]

    def loss(_: int) -> torch.Tensor:
        steps = [draw_step(asked, n, rng) for asked, n in zip(kinds, sizes, strict=True)]
        return torch.stack([divergence(model, step) for step in steps]).sum()

    fit(model, loss, settings, progress)
    return model


def measure_deviation(
    model: GPT2LMHeadModel,
    lessons: WriterLessons,
    description: WriterDescription,
    specifications: Sequence[Specification],
) -> WriterDeviation:
    """Compare a model with what is planted: all continuations and answers in some contexts, and all pairs."""
    return WriterDeviation(
        prompts=max(largest_deviation(model, asked, asked.contexts[::_PROMPTS]) for asked in lessons.prompts),
        requests=max(largest_deviation(model, asked, asked.contexts) for asked in lessons.requests),
        odds=_odds_deviation(model, lessons, description, specifications),
    )


def _odds_deviation(
    model: GPT2LMHeadModel,
    lessons: WriterLessons,
    description: WriterDescription,
    specifications: Sequence[Specification],
) -> float:
    found = dict(zip(lessons.sentences.tree.corpus.texts.to_pylist(), sentence_nats(model, lessons), strict=True))
    off = 0.0
    for specification in specifications:
        planted = true_log_odds(specification, description.sentences)
        # both sentences of a pair follow each other
        texts = [sentence.text for sentence in sentences_of(specification, description.sentences)]
        for one, other in zip(texts[::2], texts[1::2], strict=True):
            off = max(off, abs(found[one] - found[other] - planted[one]))
    return off


def sentence_nats(model: GPT2LMHeadModel, lessons: WriterLessons) -> Floats:
    """The log-likelihood of each sentence by itself, in nats."""
    tree, context = lessons.sentences.tree, lessons.sentences.contexts[0]
    found = np.empty(len(tree.tokens))
    for rows in np.array_split(np.arange(len(found)), -(-len(found) // 256)):
        row, _, nats = said_nats(model, make_step([context] * len(rows), [(tree, int(text)) for text in rows]))
        found[rows] = np.bincount(row, weights=nats, minlength=len(rows))
    return found
