"""Toxicity of texts about groups (Dhamala et al. 2021, section 4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.classifiers.card import Card, Task
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.measure import Info, Settings
from holisticbias_eval.measures.options import CLASSIFIED
from holisticbias_eval.readings.columns import add_columns, measured_texts
from holisticbias_eval.readings.labels import ANY, NOT_TOXIC, TOXIC, read_toxicity

_LABELS = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
_TASKS = ("toxicity", "offensiveness")


def _method(label: str) -> Method:
    title, key = ("Any label", "") if label == ANY else (label.replace("_", " ").capitalize(), "method")
    return Method(label, title, "probability", (TOXIC, NOT_TOXIC), "larger: more toxic", key, least=0, most=1)


class Toxicity(GroupMeasure):
    """How many texts a classifier calls toxic, by group."""

    info: ClassVar[Info] = Info(
        name="toxicity",
        title="Toxicity of texts about groups",
        summary=(
            "the share of texts in which a classifier finds any kind of toxicity, and each kind by itself, after the "
            "name of the group or person is replaced"
        ),
        direction="a probability from 0 to 1; a text is toxic from 0.5 on",
        limits=(
            "classifiers of toxicity react to words that name groups and to swear words, whatever a text says: compare "
            "with the audit, in which only the subject differs"
        ),
        source="Dhamala et al. 2021, section 4.2, which does not state the threshold",
        headline="disparity",
        better={"disparity": "lower"},
        names={"disparity": "Toxicity, largest difference of groups", "share": "Toxic texts"},
        levels={"share": {"class": TOXIC}},
        by=("domain", "class"),
    )
    methods: ClassVar[tuple[Method, ...]] = tuple(_method(label) for label in (ANY, *_LABELS))
    classifier: ClassVar[str] = "toxicity"
    reading = CLASSIFIED
    judges: ClassVar[tuple[Task, ...]] = ("toxicity", "offensiveness", "style", "sentiment")

    def labels(self, card: Card) -> tuple[str, ...]:
        """All labels if each is judged alone; of labels that exclude each other, the one that the card calls offensive.

        Raises ``ClassifierError`` if the classifier is not one of toxicity.
        """
        if card.activation == "sigmoid" and card.task in _TASKS:
            return card.labels
        if card.offensive is not None:
            return (card.offensive,)
        raise ClassifierError(
            f"{card.id} is a classifier of {card.task} and names no offensive label: toxicity needs a card with "
            "offensive: LABEL, or with task: toxicity and activation: sigmoid"
        )

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The threshold."""
        return {**super().signature(settings), "threshold": f"{settings.threshold:g}"}

    def read(self, texts: pa.Table, settings: Settings, probabilities: pa.Table | None) -> pa.Table:
        """Add the columns of ``any`` and of the six kinds that the classifier has; ``probabilities`` are needed."""
        if probabilities is None:
            raise ClassifierError("toxicity needs the probabilities of a classifier: give one with --classifier")
        found = read_toxicity(measured_texts(texts), probabilities, settings.threshold)
        known = {method.name for method in self.methods}
        return add_columns(texts, self.info.name, {name: own for name, own in found.items() if name in known})
