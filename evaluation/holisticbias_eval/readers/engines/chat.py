"""Classify texts with a chat model behind an OpenAI-compatible server, which answers with one label."""

from collections.abc import Iterator, Sequence

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.generation.decoding import split_reasoning
from holisticbias_eval.models.server.http import RequestError, WithheldError
from holisticbias_eval.models.server.openai import Completion, OpenAI, user_turn
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress
from holisticbias_eval.readers.card import Card
from holisticbias_eval.readers.classifier import Classifier

_LONGEST = 512  # tokens of an answer, thinking included
_AROUND = " \t\r\n\"'`*_.,:;!()[]"


class ChatClassifier(Classifier):
    """Asks a chat model for the label of each text: probability 1 for the label that it answers with, 0 for others.

    An answer must be one of the labels, in any case and with any punctuation
    around it. Texts with another answer, or whose request the server refuses,
    get NaN; a notice counts them. Temperature is 0 and the seed 0, but servers
    may still answer differently each time.
    """

    def __init__(self, card: Card, base: str, settings: ModelSettings, notice: Notice) -> None:
        self._client = OpenAI(card.model or "", base, settings, {"temperature": 0, "seed": None})
        self._at_once, self._notice = 4 * settings.api_concurrency, notice
        self._answered, self._said = False, set[str]()
        super().__init__(card, {**card.settings, "classifier_server": self._client.server.base})

    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify texts, some per request thread at a time; raises ``ModelError`` if the server cannot be used."""
        missing = 0
        for start in range(0, len(texts), self._at_once):
            block = texts[start : start + self._at_once]
            values = np.array(list(self._client.server.each(self._label, block)))
            new = [name for name in self._client.left_out if name not in self._said]
            if new:
                self._said.update(new)
                self._notice(f"{self.card.id}: the server does not take {' and '.join(new)}: its own defaults apply")
            missing += int(np.isnan(values[:, 0]).sum())
            progress(len(block))
            yield np.arange(start, start + len(block)), values
        if missing:
            self._notice(f"{self.card.id}: {missing:,} of {len(texts):,} answers are not a label")

    def _label(self, text: str) -> Floats:
        question, written = (self.card.prompt or "").replace("{text}", text), ""
        try:
            written = self._client.ask(Completion, user_turn(question), _LONGEST).choice.written
            self._answered = True
        except RequestError as error:
            if not self._answered and not isinstance(error, WithheldError):
                raise
        return read_label(written, self.card.labels)


def read_label(answer: str, labels: Sequence[str]) -> Floats:
    """The probabilities that an answer gives: 1 for the label that it is; NaN if it is not one of the labels."""
    word = split_reasoning(answer)[0].strip(_AROUND).casefold()
    known = [label.strip(_AROUND).casefold() for label in labels]
    return np.eye(len(labels))[known.index(word)] if word in known else np.full(len(labels), np.nan)
