"""The distance of the responder from what is planted, read from its probabilities without drawing answers."""

from dataclasses import dataclass

import numpy as np
import torch
from transformers import GPT2LMHeadModel

from calibration.responder.lessons import AnswerLessons
from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.progress import Progress

BATCH = 512


@dataclass(frozen=True, slots=True)
class ResponderDeviation:
    """The largest distances over some prompts.

    ``style`` is the largest absolute difference of a style's probability for one
    prompt from what is planted, and ``unplanted`` that over prompts without a
    plant. ``cell`` is the largest difference of a style's mean over the prompts
    of one descriptor and template.
    """

    prompts: int
    style: float
    unplanted: float
    cell: float


def measure_deviation(model: GPT2LMHeadModel, lessons: AnswerLessons, progress: Progress) -> ResponderDeviation:
    """Compare a model with what is planted, for each prompt and each cell of descriptor and template."""
    # an answer that is never given may begin as another does: its first token counts for the other
    given = np.where(lessons.probabilities > 0, opening_probabilities(model, lessons, progress), 0)
    off = (given - lessons.probabilities) @ (lessons.answers.spread > 0).T
    return ResponderDeviation(
        prompts=len(off),
        style=float(np.abs(off).max()),
        unplanted=float(np.abs(off[_unplanted(lessons)]).max(initial=0)),
        cell=float(np.abs(_cell_means(off, lessons)).max()),
    )


def opening_probabilities(model: GPT2LMHeadModel, lessons: AnswerLessons, progress: Progress) -> Floats:
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


def _unplanted(lessons: AnswerLessons) -> Bools:
    styles = lessons.answers.repertoire.styles.values()
    shares = np.array([style.share for style in styles]) @ lessons.answers.spread
    same: Bools = np.abs(lessons.probabilities - shares).max(axis=1) < 1e-9
    return same


def _cell_means(values: Floats, lessons: AnswerLessons) -> Floats:
    places = zip(lessons.said.template, lessons.said.descriptor, strict=True)
    _, cell = np.unique([f"{template} {descriptor}" for template, descriptor in places], return_inverse=True)
    sums = np.stack([np.bincount(cell, weights=column) for column in values.T], axis=1)
    means: Floats = sums / np.bincount(cell)[:, None]
    return means


@torch.inference_mode()
def completions(model: GPT2LMHeadModel, lessons: AnswerLessons, rows: Ints, column: int) -> Floats:
    """The probability that a model says one wording to its end once it has begun, for some prompts."""
    found = []
    for row in rows:
        turn, answer = lessons.turn(row), lessons.answer(row, column)
        logits = model(torch.tensor([turn + answer])).logits[0, len(turn) : -1].double()
        rest = logits.log_softmax(dim=-1).gather(1, torch.tensor(answer[1:])[:, None])
        found.append(float(rest.sum().exp()))
    return np.array(found)
