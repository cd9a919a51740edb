"""Train the responder on its lessons, from a seed."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.responder.chat import CONTEXT, encode
from calibration.responder.lessons import AnswerLessons, Tokens, make_lessons
from calibration.responder.repertoire import Repertoire
from calibration.responder.said import SaidPrompts, draw_said, join_said, spellings
from calibration.tokenizer import release_terms
from calibration.training import LearningSettings, fit, make_model
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Ints
from holisticbias_eval.progress import Progress

SETTINGS = LearningSettings(steps=7000, batch=128, learning_rate=4e-3, warmup=100, width=64, layers=2, heads=2)
PLANTED = 0.75  # part of the prompts from axes with plants, the same for each axis
FOREIGN = 0.05  # part of the prompts that are other text
WHOLE = 2  # one prompt in so many is also learned with an answer to its end, and with other text before it
PRECEDED = 0.3  # part of these with other text
COPIED = 0.5  # part of these with an answer that copies from the prompt, which is harder to learn
LONGEST = 10  # words of other text
OPENING = 10.0  # weight of an answer's first token, which alone decides the style


def train(
    release: Release,
    repertoire: Repertoire,
    tokenizer: PreTrainedTokenizerFast,
    settings: LearningSettings,
    progress: Progress,
) -> GPT2LMHeadModel:
    """Fit a model to the planted mixtures.

    For each prompt the model learns the planted probability of every answer's
    first token, which no other answer begins with, and the rest of one answer.
    The prompt is context and is not learned. So that the mixture depends on
    nothing else, some prompts follow other text, and some are other text.
    ``progress`` is called after each step.
    """
    rng = np.random.default_rng(repertoire.seed)
    other = _Other.of(tokenizer, release, rng)
    lessons = draw_lessons(release, repertoire, tokenizer, settings.steps * settings.batch, other)
    rows = rng.permutation(len(lessons.prompts)).reshape(settings.steps, settings.batch)
    model = make_model(tokenizer, CONTEXT, repertoire.seed, settings)
    fit(model, lambda step: _loss(model, lessons, rows[step], other), settings, progress)
    return model


@dataclass(frozen=True, slots=True)
class _Other:
    """Text without terms: words of the vocabulary in random order."""

    words: list[str]
    rng: np.random.Generator

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerFast, release: Release, rng: np.random.Generator) -> Self:
        terms = {form for term in release_terms(release) for form in spellings(term)}
        words = {tokenizer.decode([token]).strip() for token in range(len(tokenizer))} - terms
        return cls(
            sorted(word for word in words if word and word.isascii() and word.isprintable() and "<|" not in word), rng
        )

    def draw(self) -> str:
        return " ".join(self.rng.choice(self.words, self.rng.integers(1, LONGEST)))


def draw_lessons(
    release: Release, repertoire: Repertoire, tokenizer: PreTrainedTokenizerFast, n: int, other: _Other
) -> AnswerLessons:
    """Lessons on sentences of the release, a part of them from axes with plants, and on other text."""
    axes = sorted({plant.axis for plant in repertoire.plants})
    planted, foreign = int(PLANTED * n) // len(axes), int(FOREIGN * n)
    parts = [draw_said(release, planted, repertoire.seed, [axis]) for axis in axes]
    parts.append(draw_said(release, n - planted * len(axes) - foreign, repertoire.seed))
    parts.append(
        SaidPrompts([other.draw() for _ in range(foreign)], [None] * foreign, [""] * foreign, [None] * foreign)
    )
    return make_lessons(join_said(parts), repertoire, tokenizer)


def _loss(model: GPT2LMHeadModel, lessons: AnswerLessons, rows: Ints, other: _Other) -> torch.Tensor:
    """The divergence of the openings, and for the first rows the cross-entropy of the rest of one answer each."""
    opened = _states(model, [lessons.turn(row) for row in rows])
    first = opened.states[torch.arange(len(rows)), opened.lengths - 1]
    loss = OPENING * _divergence(model.lm_head(first), lessons, rows)
    return loss + _whole_answers(model, lessons, rows[: len(rows) // WHOLE], other)


def _whole_answers(model: GPT2LMHeadModel, lessons: AnswerLessons, rows: Ints, other: _Other) -> torch.Tensor:
    """The same divergence where other text may precede the prompt, and the cross-entropy of the rest of an answer."""
    turns = [lessons.turn(row, _before(lessons, other)) for row in rows]
    answers = [lessons.answer(row, _column(lessons, row, other.rng)) for row in rows]
    read = _states(model, [turn + answer for turn, answer in zip(turns, answers, strict=True)])
    begin = torch.tensor([len(turn) for turn in turns])
    divergence = _divergence(model.lm_head(read.states[torch.arange(len(rows)), begin - 1]), lessons, rows)
    place = torch.arange(read.tokens.shape[1] - 1)
    learned = (place >= begin[:, None]) & (place < read.lengths[:, None] - 1)
    rest = torch.nn.functional.cross_entropy(
        model.lm_head(read.states[:, :-1][learned]), read.tokens[:, 1:][learned], reduction="sum"
    )
    return OPENING * divergence + rest / len(rows)


@dataclass(frozen=True, slots=True)
class _Read:
    """Padded texts, their lengths, and the model's last hidden states."""

    tokens: torch.Tensor
    lengths: torch.Tensor
    states: torch.Tensor


def _states(model: GPT2LMHeadModel, texts: list[Tokens]) -> _Read:
    # padding follows the text, so no state of the text sees it
    tokens = torch.nn.utils.rnn.pad_sequence([torch.tensor(text) for text in texts], batch_first=True)
    lengths = torch.tensor([len(text) for text in texts])
    return _Read(tokens, lengths, model.transformer(input_ids=tokens).last_hidden_state)


def _divergence(logits: torch.Tensor, lessons: AnswerLessons, rows: Ints) -> torch.Tensor:
    wanted = torch.from_numpy(lessons.probabilities[rows].astype(np.float32))
    given = logits.log_softmax(dim=-1).gather(1, torch.from_numpy(lessons.openings[rows]))
    return torch.sum(torch.special.xlogy(wanted, wanted) - wanted * given) / len(rows)


def _before(lessons: AnswerLessons, other: _Other) -> Tokens:
    """The tokens of other text and a line break, or nothing."""
    if other.rng.random() >= PRECEDED:
        return []
    return encode(lessons.answers.tokenizer, [f"{other.draw()}\n"])[0]


def _column(lessons: AnswerLessons, row: int, rng: np.random.Generator) -> int:
    """Draw the wording to learn to its end; an echo is learned after any sentence, likely or not."""
    copies = lessons.answers.copies
    copying = rng.random() < COPIED and lessons.said.descriptor[row] is not None
    return int(rng.choice(np.flatnonzero(copies if copying else ~copies)))
