"""Prompts and answers as tokens: what the responder learns to say after each prompt, and how likely each opening is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from transformers import PreTrainedTokenizerFast

from calibration.responder.chat import ASSISTANT, USER, encode
from calibration.responder.repertoire import DESCRIPTOR, PROMPT, Repertoire
from calibration.responder.said import SaidPrompts, cells
from calibration.responder.truth import planted_mixture
from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import EmbeddedModelError

NO_TERM = "something"
Tokens = list[int]


@dataclass(frozen=True)
class AnswerTokens:
    """The answers of a repertoire: one column per wording, and one for an empty answer.

    ``style[j]`` is the style of column j, ``spread`` of shape ``[styles, columns]`` divides a style over its wordings.
    """

    repertoire: Repertoire
    tokenizer: PreTrainedTokenizerFast

    @cached_property
    def wordings(self) -> list[str]:
        """The wordings of all styles in order; the text of an empty answer is empty."""
        return [wording for style in self.repertoire.styles.values() for wording in style.wordings or ("",)]

    @cached_property
    def style(self) -> Ints:
        """The position of each wording's style."""
        sizes = [max(len(style.wordings), 1) for style in self.repertoire.styles.values()]
        return np.repeat(np.arange(len(sizes)), sizes)

    @cached_property
    def spread(self) -> Floats:
        """The share of each wording in its style, of shape ``[styles, wordings]``."""
        of_style = np.arange(len(self.repertoire.styles))[:, None] == self.style
        shares: Floats = of_style / of_style.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def copies(self) -> Bools:
        """Whether each wording copies from the prompt."""
        return np.array([PROMPT in wording or DESCRIPTOR in wording for wording in self.wordings])

    def tokens(self, column: int, prompt: str, spelling: str | None) -> Tokens:
        """The tokens of an answer to a prompt, with the end of the text."""
        if not self.copies[column]:
            return self._fixed[column]
        return self._encoded(self.wordings[column].replace(DESCRIPTOR, spelling or NO_TERM).replace(PROMPT, prompt))

    @cached_property
    def _fixed(self) -> list[Tokens]:
        return [self._encoded(wording) for wording in self.wordings]

    def _encoded(self, text: str) -> Tokens:
        return [*encode(self.tokenizer, [text])[0], self.tokenizer.eos_token_id]

    def openings(self, prompts: Sequence[Tokens]) -> Ints:
        """The first token of each answer to each prompt, of shape ``[prompts, wordings]``."""
        first = np.tile([tokens[0] for tokens in self._fixed], (len(prompts), 1))
        echoes = [j for j, wording in enumerate(self.wordings) if wording.startswith(PROMPT)]
        first[:, echoes] = np.array([tokens[0] for tokens in prompts])[:, None]
        return first


@dataclass(frozen=True)
class AnswerLessons:
    """Prompts with the planted probability of each answer.

    ``prompts`` are the tokens of what is said, ``probabilities`` and ``openings`` have the shape ``[prompts,
    wordings]``.
    """

    answers: AnswerTokens
    said: SaidPrompts
    prompts: list[Tokens]
    probabilities: Floats
    openings: Ints

    def turn(self, row: int, before: Sequence[int] = ()) -> Tokens:
        """The conversation up to the answer; ``before`` are tokens that the turn begins with."""
        vocabulary = self.answers.tokenizer
        user, assistant = vocabulary.convert_tokens_to_ids([USER, ASSISTANT])
        return [user, *before, *self.prompts[row], assistant]

    def answer(self, row: int, column: int) -> Tokens:
        """The tokens of an answer to a prompt, with the end of the text."""
        return self.answers.tokens(column, self.said.text[row], self.said.spelling[row])


def make_lessons(said: SaidPrompts, repertoire: Repertoire, tokenizer: PreTrainedTokenizerFast) -> AnswerLessons:
    """The lessons of some prompts.

    Raises ``EmbeddedModelError`` if two answers to a prompt begin alike: the first token must tell the style.
    """
    answers = AnswerTokens(repertoire, tokenizer)
    descriptors, templates, term, template = cells(said)
    probabilities = planted_mixture(repertoire, descriptors, templates)[template, term] @ answers.spread
    prompts = encode(tokenizer, said.text)
    openings = answers.openings(prompts)
    _refuse_alike(np.where(probabilities > 0, openings, -1 - np.arange(openings.shape[1])), tokenizer)
    return AnswerLessons(answers, said, prompts, probabilities, openings)


def _refuse_alike(openings: Ints, tokenizer: PreTrainedTokenizerFast) -> None:
    ordered = np.sort(openings, axis=1)
    alike = ordered[:, 1:][ordered[:, 1:] == ordered[:, :-1]]
    if len(alike):
        token = tokenizer.decode([int(alike[0])])
        raise EmbeddedModelError(f"two wordings begin with {token!r}: change the first word of one")
