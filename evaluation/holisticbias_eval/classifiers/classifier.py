"""The interface of classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.classifiers.card import Card
from holisticbias_eval.progress import Progress


class Classifier(ABC):
    """Gives every text a probability for each label of its card.

    ``settings`` is everything that the probabilities depend on: the content of
    the card, the digest of weights or phrases, versions. It is recorded in the
    run and is the key of the store.
    """

    def __init__(self, card: Card, settings: Mapping[str, str]) -> None:
        self.card = card
        self.settings = settings

    @abstractmethod
    def classify(self, texts: Sequence[str], progress: Progress) -> Iterator[tuple[Ints, Floats]]:
        """Classify distinct texts; yield positions and probabilities of each batch as it is done, in any order.

        Probabilities have shape ``[batch, labels]``, NaN for a text that cannot be judged. Call ``progress`` with the
        number of texts done since the last call.
        """
