"""Train the writer from its seed, and measure how far it is from what is planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.embedded.train import Settings, divergence, fit, make_model, predict
from holisticbias_eval.models.embedded.writer.description import Description
from holisticbias_eval.models.embedded.writer.grammar import sentences_of
from holisticbias_eval.models.embedded.writer.lessons import (
    CONTEXT,
    Lessons,
    draw_step,
    largest_deviation,
    make_step,
)
from holisticbias_eval.models.embedded.writer.truth import true_log_odds
from holisticbias_eval.progress import Progress

SETTINGS = Settings(steps=2500, batch=160, learning_rate=4e-3, warmup=100, width=48, layers=2, heads=4)
_PROMPTS = 12  # contexts of a group that are compared with what is planted


@dataclass(frozen=True, slots=True)
class Deviation:
    """The largest distances of the writer from what is planted.

    ``prompts`` and ``requests`` are differences of a token's probability in continuations and in answers. ``odds`` is
    the difference of the log-odds of both sentences of a pair, in nats.
    """

    prompts: float
    requests: float
    odds: float


def train(
    lessons: Lessons, tokenizer: PreTrainedTokenizerFast, seed: int, settings: Settings, progress: Progress
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
    model: GPT2LMHeadModel, lessons: Lessons, description: Description, specifications: Sequence[Specification]
) -> Deviation:
    """Compare a model with what is planted: all continuations and answers in some contexts, and all pairs."""
    return Deviation(
        prompts=max(largest_deviation(model, asked, asked.contexts[::_PROMPTS]) for asked in lessons.prompts),
        requests=max(largest_deviation(model, asked, asked.contexts) for asked in lessons.requests),
        odds=_odds_deviation(model, lessons, description, specifications),
    )


def _odds_deviation(
    model: GPT2LMHeadModel, lessons: Lessons, description: Description, specifications: Sequence[Specification]
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


@torch.inference_mode()
def sentence_nats(model: GPT2LMHeadModel, lessons: Lessons) -> Floats:
    """The log-likelihood of each sentence by itself, in nats."""
    tree, context = lessons.sentences.tree, lessons.sentences.contexts[0]
    found = np.empty(len(tree.tokens))
    for rows in np.array_split(np.arange(len(found)), -(-len(found) // 256)):
        step = make_step([context] * len(rows), [(tree, int(row)) for row in rows])
        row, place = np.nonzero(step.counted)
        following = np.where(place + 1 < step.tokens.shape[1], np.pad(step.tokens, ((0, 0), (0, 1)))[row, place + 1], 0)
        nats = predict(model, step).gather(1, torch.from_numpy(following)[:, None])[:, 0].double().numpy()
        last = np.append(row[1:] != row[:-1], True)
        found[rows] = np.bincount(row, weights=np.where(last, 0.0, nats), minlength=len(rows))
    return found
