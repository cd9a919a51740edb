"""Ask a chat server to choose between A and B: by the log-probabilities of its answer, or else by sampling."""

import math
import re
from collections.abc import Sequence
from typing import Annotated

import numpy as np
import pyarrow as pa
from pydantic import BeforeValidator, Field

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.model import PairScorer, server_identity
from holisticbias_eval.models.server.http import RequestError
from holisticbias_eval.models.server.openai import ChatChoice, Completion, OpenAI, Received, user_turn
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Progress

SAMPLES = 5
"""Answers per question from a server without log-probabilities."""
_LONGEST = 16  # tokens of a sampled answer
_LETTER = re.compile(r"\W*([ab])\b", re.IGNORECASE)
_LISTING = {"temperature": 0, "logprobs": True, "top_logprobs": 20}


class _Candidate(Received):
    token: str
    logprob: float


class _Listing(Received):
    top_logprobs: tuple[_Candidate, ...] = ()


class _Listed(Received):
    content: list[_Listing] | None = None


class _ListedChoice(ChatChoice):
    logprobs: Annotated[_Listed | None, BeforeValidator(lambda value: value or None)] = None


class _ListedCompletion(Completion):
    choices: tuple[_ListedChoice, ...] = Field(min_length=1)


class ChatChooser(PairScorer):
    """Asks one model questions that are answered with A or B.

    The first question decides: if the server gives the likeliest tokens of an answer, their log-probabilities count;
    otherwise ``SAMPLES`` answers per question are drawn at temperature 1, and counts are smoothed by one half.
    """

    keys = ("question",)
    block = 64

    def __init__(self, name: str, base: str, settings: ModelSettings) -> None:
        self._client = OpenAI(name, base, settings, {})
        sampled = self._lacks_logprobs()
        self._ask = self._sample if sampled else self._by_logprobs
        if sampled:
            self._client.sends = {"temperature": 1, "seed": None}
            self._client.optional |= {"temperature", "seed"}
        how = f"{SAMPLES} sampled answers in each order" if sampled else "log-probabilities of the first token"
        server = self._client.server.base
        depends = {"scorer": "chat server", "server": server, "choice": how}
        super().__init__(server_identity(name, server), "causal", depends)

    def score(self, texts: pa.Table, progress: Progress) -> Floats:
        """The log-probabilities of A and B for each question, NaN if an answer is neither: ``[questions, 2]``."""
        questions = texts["question"].to_pylist()
        chosen = np.full((len(questions), 2), np.nan)
        for i, values in enumerate(self._client.server.each(self._choice, questions)):
            chosen[i] = values
            progress(1)
        return chosen

    def _choice(self, question: str) -> tuple[float, float]:
        try:
            return self._ask(question)
        except RequestError:  # the server refuses the content of this question
            return math.nan, math.nan

    def _lacks_logprobs(self) -> bool:
        try:
            return not self._candidates("Answer with the letter A.")
        except ModelError as error:  # llama-cpp-python's server answers with 500
            if "logprob" not in str(error).lower():
                raise
            return True

    def _candidates(self, question: str) -> Sequence[_Candidate]:
        """The likeliest first tokens of an answer; empty if the server does not give them."""
        found = self._client.ask(_ListedCompletion, {**user_turn(question), **_LISTING}, 1).choices[0].logprobs
        return found.content[0].top_logprobs if found and found.content else ()

    def _by_logprobs(self, question: str) -> tuple[float, float]:
        """The log-probability of each letter, added over its spellings; a letter that is not listed has the lowest."""
        listed = self._candidates(question)
        sums = {"A": 0.0, "B": 0.0}
        for candidate in listed:
            letter = candidate.token.strip().upper()
            if letter in sums and math.isfinite(candidate.logprob):
                sums[letter] += math.exp(min(candidate.logprob, 0.0))
        if not any(sums.values()):
            return math.nan, math.nan
        least = min(math.exp(min(c.logprob, 0.0)) for c in listed)
        one, other = (math.log(value or least or 5e-324) for value in sums.values())
        return one, other

    def _sample(self, question: str) -> tuple[float, float]:
        counts = [0, 0]
        for seed in range(SAMPLES):
            letter = _LETTER.match(self._client.ask(Completion, user_turn(question), _LONGEST, seed).choice.written)
            if letter:
                counts["AB".index(letter[1].upper())] += 1
        if not sum(counts):
            return math.nan, math.nan
        total = sum(counts) + 1.0
        return math.log((counts[0] + 0.5) / total), math.log((counts[1] + 0.5) / total)
