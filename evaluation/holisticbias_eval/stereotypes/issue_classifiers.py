"""Acceptance by classifiers: a label of a card as a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from holisticbias_eval.classifiers.classifier import Classifier
from holisticbias_eval.classifiers.engines import start_classifier
from holisticbias_eval.classifiers.stored import classify_texts, label_store
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.models.store.shards import ShardStore
from holisticbias_eval.progress import Notice

NOT_JUDGED = "not-judged"


@dataclass(frozen=True, slots=True)
class LabelRules:
    """Refuses a sentence that has one of a classifier's labels: its probability reaches the card's threshold.

    The id of a rule is ``CARD:LABEL``, or ``CARD:not-judged`` for a sentence without probabilities.
    """

    classifier: Classifier
    labels: tuple[str, ...]
    store: ShardStore | None

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings of the classifier, the labels and the threshold, for the record of a run."""
        card = self.classifier.card
        return {**self.classifier.settings, "labels": ", ".join(self.labels), "threshold": str(card.threshold)}

    def refusing(self, texts: Sequence[str]) -> list[str | None]:
        """The id of the rule that refuses each text, None for a text that is accepted."""
        if not texts:
            return []
        card = self.classifier.card
        columns = [card.labels.index(label) for label in self.labels]
        found = classify_texts(self.classifier, texts, self.store, lambda _: None)[:, columns]
        return [self._refusing(row.tolist()) for row in found]

    def _refusing(self, probabilities: Sequence[float]) -> str | None:
        card = self.classifier.card
        if not np.isfinite(probabilities).all():
            return f"{card.id}:{NOT_JUDGED}"
        found = (label for label, p in zip(self.labels, probabilities, strict=True) if p >= card.threshold)
        return next((f"{card.id}:{label}" for label in found), None)


def start_label_rules(
    name: str, notice: Notice, device: str = "auto", api_base: str | None = None, store: Path | None = None
) -> LabelRules:
    """Start the classifier of ``CARD=LABEL,LABEL``; without labels, the label that the card calls offensive.

    Raises ``ClassifierError`` for a label that the card lacks, or if it names none.
    """
    card, _, labels = name.partition("=")
    classifier = start_classifier(card, notice, device, api_base)
    wanted = tuple(label.strip() for label in labels.split(",") if label.strip())
    chosen = wanted or tuple(filter(None, [classifier.card.offensive]))
    if not chosen:
        raise ClassifierError(f"--classifier {card}: add the labels that refuse a sentence, as {card}=LABEL,LABEL")
    for label in chosen:
        if label not in classifier.card.labels:
            known = ", ".join(classifier.card.labels[:20])
            raise ClassifierError(f"--classifier {name}: the card has no label {label!r}; it has {known}")
    kept = None if store is None else label_store(store, classifier, notice)
    return LabelRules(classifier, chosen, kept)
