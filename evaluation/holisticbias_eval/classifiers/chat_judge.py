"""Classify texts with a chat model behind an OpenAI-compatible server, which answers with one label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.classifiers.card import Card
from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.models.server.http import ApiOptions, RequestError, ServerClient, WithheldError
from holisticbias_eval.models.server.refusals import named_settings
from holisticbias_eval.progress import Notice, Progress

_LONGEST = 512  # tokens of an answer, thinking included
_LIMITS = ("max_tokens", "max_completion_tokens")  # servers know one or both
_SETTINGS = ("temperature", "seed")
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_AROUND = " \t\r\n\"'`*_.,:;!()[]"


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Message(_Reply):
    content: str | None = None


class _Choice(_Reply):
    message: _Message


class _Completion(_Reply):
    choices: list[_Choice] = Field(min_length=1)


class ChatClassifier(Classifier):
    """Asks a chat model for the label of each text: probability 1 for the label that it answers with, 0 for others.

    An answer must be one of the labels, in any case and with any punctuation
    around it. Texts with another answer, or whose request the server refuses,
    get NaN; a notice counts them. Temperature is 0 and the seed 0, but servers
    may still answer differently each time.
    """

    def __init__(self, card: Card, base: str, options: ApiOptions, notice: Notice) -> None:
        self._client = ServerClient(base, options)
        self._threads, self._notice = options.concurrency, notice
        self._limit, self._answered = _LIMITS[0], False
        self._lock = Lock()
        self._settings = {"temperature": 0, "seed": 0}
        super().__init__(card, {**card.settings, "classifier_server": self._client.base})

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify texts, some per request thread at a time; raises ``ModelError`` if the server cannot be used."""
        size, missing = 4 * self._threads, 0
        with ThreadPoolExecutor(self._threads) as threads:
            for start in range(0, len(texts), size):
                block = texts[start : start + size]
                values = np.array(list(threads.map(self._label, block)))
                missing += int(np.isnan(values[:, 0]).sum())
                progress(len(block))
                yield np.arange(start, start + len(block)), values
        if missing:
            self._notice(f"{self.card.id}: {missing:,} of {len(texts):,} answers are not a label")

    def _label(self, text: str) -> Floats:
        try:
            answer = self._ask(text)
        except RequestError as error:
            if not self._answered and not isinstance(error, WithheldError):
                raise
            answer = ""
        return read_label(answer, self.card.labels)

    def _ask(self, text: str) -> str:
        prompt = (self.card.prompt or "").replace("{text}", text)
        body = {
            "model": self.card.model,
            "messages": [{"role": "user", "content": prompt}],
            **self._settings,
        }
        limit = self._limit
        try:
            content = self._client.post("chat/completions", {**body, limit: _LONGEST})
        except WithheldError:
            raise
        except RequestError as error:
            refused = named_settings(error.content, [name for name in _SETTINGS if name in body])
            if refused:
                self._leave_out(refused)
            elif limit == _LIMITS[1] or limit not in str(error):
                raise
            else:
                self._limit = _LIMITS[1]
            return self._ask(text)
        try:
            answer = _Completion.model_validate_json(content).choices[0].message.content
        except ValidationError as error:
            raise self._client.refused(
                f"its answer is not a chat completion: {schema_message(error.errors()[0])}"
            ) from error
        self._answered = True
        return answer or ""

    def _leave_out(self, names: Sequence[str]) -> None:
        with self._lock:
            new = [name for name in names if name in self._settings]
            self._settings = {name: value for name, value in self._settings.items() if name not in new}
        if new:
            self._notice(f"{self.card.id}: the server does not take {' and '.join(new)}: its own defaults apply")


def read_label(answer: str, labels: Sequence[str]) -> Floats:
    """The probabilities that an answer gives: 1 for the label that it is; NaN if it is not one of the labels."""
    word = _THINKING.sub("", answer).strip(_AROUND).casefold()
    known = [label.strip(_AROUND).casefold() for label in labels]
    return np.eye(len(labels))[known.index(word)] if word in known else np.full(len(labels), np.nan)
