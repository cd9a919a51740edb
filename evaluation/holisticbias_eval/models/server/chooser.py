"""Ask a chat server to choose between A and B: by the log-probabilities of its answer, or else by sampling."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.server.http import ApiOptions, RequestError, ServerClient, WithheldError
from holisticbias_eval.models.server.refusals import named_settings
from holisticbias_eval.progress import Progress

SAMPLES = 5
"""Answers per question from a server without log-probabilities."""
_LONGEST = 16  # tokens of a sampled answer
_LETTER = re.compile(r"\W*([ab])\b", re.IGNORECASE)


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Candidate(_Part):
    token: str
    logprob: float


class _Token(_Part):
    top_logprobs: list[_Candidate] = []


class _Logprobs(_Part):
    content: list[_Token] | None = None


class _Message(_Part):
    content: str | None = None


class _Choice(_Part):
    message: _Message
    logprobs: _Logprobs | None = None


class _Completion(_Part):
    choices: list[_Choice] = Field(min_length=1)


class ChatChooser:
    """Asks one model questions that are answered with A or B.

    The first question decides: if the server gives the likeliest tokens of an answer, their log-probabilities count;
    otherwise ``SAMPLES`` answers per question are drawn at temperature 1, and counts are smoothed by one half.
    """

    def __init__(self, name: str, base: str, options: ApiOptions) -> None:
        self._client, self._threads = ServerClient(base, options), options.concurrency
        self._name, self._refused = name, frozenset[str]()
        self._sampled = self._lacks_logprobs()
        how = f"{SAMPLES} sampled answers in each order" if self._sampled else "log-probabilities of the first token"
        note = f"asked at {self._client.base}"
        self.identity = ModelIdentity(name, "behind a server", None, None, None, "unknown", note)
        self.settings = {"scorer": "chat server", "server": self._client.base, "choice": how}

    def choose(self, questions: Sequence[str], progress: Progress) -> Floats:
        """The log-probabilities of A and B for each question, NaN if an answer is neither: ``[questions, 2]``."""
        found = np.full((len(questions), 2), np.nan)
        with ThreadPoolExecutor(self._threads) as threads:
            try:
                for i, values in enumerate(threads.map(self._ask, questions)):
                    found[i] = values
                    progress(1)
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise
        return found

    def _ask(self, question: str) -> tuple[float, float]:
        try:
            return self._sample(question) if self._sampled else self._by_logprobs(question)
        except RequestError:  # the server refuses the content of this question
            return math.nan, math.nan

    def _lacks_logprobs(self) -> bool:
        try:
            return not self._candidates("Answer with the letter A.")
        except RequestError as error:
            if "logprob" not in error.content.lower():
                raise
            return True

    def _candidates(self, question: str) -> list[_Candidate]:
        """The likeliest first tokens of an answer; empty if the server does not give them."""
        reply = self._post(question, {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 20})
        logprobs = reply.choices[0].logprobs
        return logprobs.content[0].top_logprobs if logprobs and logprobs.content else []

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
            reply = self._sampled_answer(question, seed)
            letter = _LETTER.match(reply.choices[0].message.content or "")
            if letter:
                counts["AB".index(letter[1].upper())] += 1
        if not sum(counts):
            return math.nan, math.nan
        total = sum(counts) + 1.0
        return math.log((counts[0] + 0.5) / total), math.log((counts[1] + 0.5) / total)

    def _sampled_answer(self, question: str, seed: int) -> _Completion:
        """One answer; a server that refuses the seed or the temperature, 1, is asked without them."""
        chosen: dict[str, object] = {"temperature": 1, "seed": seed}
        settings = {name: value for name, value in chosen.items() if name not in self._refused}
        try:
            return self._post(question, {"max_tokens": _LONGEST, **settings})
        except WithheldError:
            raise
        except RequestError as error:
            refused = named_settings(error.content, settings)
            if not refused:
                raise
            self._refused |= {*refused}
            return self._sampled_answer(question, seed)

    def _post(self, question: str, options: dict[str, object]) -> _Completion:
        body = {"model": self._name, "messages": [{"role": "user", "content": question}], **options}
        content = self._client.post("chat/completions", body)
        try:
            return _Completion.model_validate_json(content)
        except ValidationError as error:
            raise self._client.refused(
                f"its answer is not a chat completion: {schema_message(error.errors()[0])}"
            ) from error
