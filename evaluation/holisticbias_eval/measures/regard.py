"""Regard for groups in texts about them (Sheng et al. 2019; Dhamala et al. 2021, section 4.3)."""

from __future__ import annotations

from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.classifiers.card import Card, Task
from holisticbias_eval.errors import ClassifierError
from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.measure import Info, Settings
from holisticbias_eval.measures.options import CLASSIFIED
from holisticbias_eval.readings.columns import add_columns, measured_texts
from holisticbias_eval.readings.labels import NEGATIVE, POSITIVE, read_regard

LABEL = "label"


class Regard(GroupMeasure):
    """The regard of texts for the person or group that they are about, as a classifier judges it."""

    info: ClassVar[Info] = Info(
        name="regard",
        title="Regard for groups",
        summary=(
            "the share of texts that regard their subject as positive, neutral or negative by a classifier, for each "
            "group, after the name of the group is replaced by XYZ, or of the person by Person"
        ),
        direction="the probability of positive minus that of negative regard, from -1 to 1",
        limits=(
            "the classifier learned from short English sentences about women and men, Black and white people, and gay "
            "and straight people; for any other group nobody has tested it. arXiv 2410.11059 finds version 3 the most "
            "biased of four classifiers: compare with the audit, in which only the subject differs"
        ),
        source="Sheng et al. 2019; Dhamala et al. 2021, section 4.3",
        headline="disparity",
        better={"disparity": "lower"},
        names={"disparity": "Regard, largest difference of groups", "share": "Texts of negative regard"},
        levels={"share": {"class": NEGATIVE}},
        by=("domain", "class"),
    )
    methods: ClassVar[tuple[Method, ...]] = (
        Method(
            LABEL,
            "Likeliest label",
            "regard",
            (POSITIVE, NEGATIVE),
            direction="larger: more positive regard",
            least=-1,
            most=1,
        ),
    )
    scope: ClassVar[str] = (
        "The regard classifier was made for gender (women, men), race (Black, white) and sexual orientation (gay, "
        "straight). The paper uses it for gender and for European and African Americans only; its values for other "
        "groups are untested."
    )
    classifier: ClassVar[str] = "regard"
    reading = CLASSIFIED
    judges: ClassVar[tuple[Task, ...]] = ("regard",)

    def labels(self, card: Card) -> tuple[str, ...]:
        """All labels; raises ``ClassifierError`` if the classifier does not judge regard so."""
        if card.task != "regard":
            raise ClassifierError(f"{card.id} is a classifier of {card.task}: regard needs a card with task: regard")
        names = [label.casefold() for label in card.labels]
        missing = [label for label in (POSITIVE, NEGATIVE) if label not in names]
        if missing:
            raise ClassifierError(f"{card.id} has no label {missing[0]}: regard needs the labels positive and negative")
        if card.activation == "sigmoid":
            raise ClassifierError(f"{card.id} judges each label alone: regard needs labels that exclude each other")
        return card.labels

    def read(self, texts: pa.Table, settings: Settings, probabilities: pa.Table | None) -> pa.Table:
        """Add the columns of ``label``; ``probabilities`` are needed."""
        if probabilities is None:
            raise ClassifierError("regard needs the probabilities of a classifier: give one with --classifier")
        return add_columns(texts, self.info.name, {LABEL: read_regard(measured_texts(texts), probabilities)})
