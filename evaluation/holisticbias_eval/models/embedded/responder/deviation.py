"""The distance of the responder from what is planted, read from its probabilities without drawing answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2LMHeadModel

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.embedded.responder.lessons import Lessons
from holisticbias_eval.progress import Progress

BATCH = 512


@dataclass(frozen=True, slots=True)
class Deviation:
    """The largest distances over some prompts.

    ``style`` is the largest absolute difference of a style's probability for one
    prompt, ``cell`` of its mean over the prompts of one descriptor and template.
    """

    prompts: int
    style: float
    cell: float


def opening_probabilities(model: GPT2LMHeadModel, lessons: Lessons, progress: Progress) -> Floats:
    """The model's probability of each answer's first token, of shape ``[prompts, wordings]``."""
    turns = [lessons.turn(row) for row in range(len(lessons.prompts))]
    lengths = np.array([len(turn) for turn in turns])
    found = np.empty(lessons.openings.shape)
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        for batch in np.array_split(rows, -(-len(rows) // BATCH)):
            found[batch] = _openings(model, torch.tensor([turns[row] for row in batch]), lessons.openings[batch])
            progress(len(batch))
    return found


@torch.inference_mode()
def _openings(model: GPT2LMHeadModel, tokens: torch.Tensor, openings: Ints) -> Floats:
    states = model.transformer(input_ids=tokens).last_hidden_state[:, -1]
    given = model.lm_head(states).double().softmax(dim=-1).gather(1, torch.from_numpy(openings))
    probabilities: Floats = given.numpy()
    return probabilities


def measure_deviation(model: GPT2LMHeadModel, lessons: Lessons, progress: Progress) -> Deviation:
    """Compare a model with what is planted, for each prompt and each cell of descriptor and template."""
    found = opening_probabilities(model, lessons, progress)
    # an echo may begin as another answer does where nothing is echoed: its first token is then that answer's
    counted = np.where(lessons.probabilities > 0, found, 0)
    of_style = (lessons.answers.spread > 0).T.astype(float)
    off = (counted - lessons.probabilities) @ of_style
    cells = [f"{t} {d}" for t, d in zip(lessons.said.template, lessons.said.descriptor, strict=True)]
    _, cell = np.unique(cells, return_inverse=True)
    sums = np.stack([np.bincount(cell, weights=column) for column in off.T], axis=1)
    means = sums / np.bincount(cell)[:, None]
    return Deviation(len(found), float(np.abs(off).max()), float(np.abs(means).max()))


@torch.inference_mode()
def completion_probabilities(model: GPT2LMHeadModel, lessons: Lessons) -> Floats:
    """The probability that the model ends the likeliest-copied answer of each prompt as planted, given its first token.

    One answer per prompt, the wordings in turn.
    """
    found = np.empty(len(lessons.prompts))
    for row in range(len(found)):
        possible = np.flatnonzero(lessons.probabilities[row] > 0)
        turn, answer = lessons.turn(row), lessons.answer(row, int(possible[row % len(possible)]))
        logits = model(torch.tensor([turn + answer])).logits[0, len(turn) : -1].double().log_softmax(dim=-1)
        rest = torch.tensor(answer[1:])
        found[row] = float(logits.gather(1, rest[:, None]).sum().exp())
    return found
