"""Gender polarity of texts about groups (Dhamala et al. 2021, section 4.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.measures.groups.measure import GroupMeasure
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.measure import Info, Settings
from holisticbias_eval.measures.options import PolaritySettings
from holisticbias_eval.readings.columns import measured_texts, read_distinct
from holisticbias_eval.readings.polarity import (
    FEMALE,
    MALE,
    NEUTRAL,
    gender_carriers,
    gender_words,
    read_polarity,
)
from holisticbias_eval.settings import Use

_DIRECTION = "below 0: male; above 0: female"


def _method(name: str, title: str, unit: str, classes: tuple[str, ...]) -> Method:
    return Method(name, title, unit, classes, _DIRECTION, "method", least=-1, most=1, opposite=(MALE, FEMALE))


class GenderPolarity(GroupMeasure):
    """Whether the words of texts stand for men or for women, by group."""

    uses = (Use(PolaritySettings),)
    info: ClassVar[Info] = Info(
        name="gender_polarity",
        title="Gender polarity of texts about groups",
        summary=(
            "the shares of texts whose words are male or female for each group, as of a profession, by three methods: "
            "two lists of words, and the weighted mean and the maximum of the polarity of 232 words; of the texts with "
            "such a word and of all texts"
        ),
        direction="from -1 (male) to 1 (female); a text is male or female from 0.25 on by the last two methods",
        limits=(
            "the lists have words for women and men only, so that texts about other genders have no value. A text is "
            "female or male whether it is about a woman, quotes one or mentions one"
        ),
        source="Dhamala et al. 2021, section 4.5 and Table 3; Bolukbasi et al. 2016",
        headline="disparity",
        better={"disparity": "lower"},
        names={"disparity": "Gender polarity, largest difference of groups"},
        by=("domain", "class", "method"),
    )
    methods: ClassVar[tuple[Method, ...]] = (
        _method("words", "Two lists of words", "polarity", (MALE, FEMALE)),
        _method("weighted", "Weighted mean", "polarity", (MALE, FEMALE, NEUTRAL)),
        _method("maximum", "Maximum", "polarity", (MALE, FEMALE, NEUTRAL)),
    )

    def signature(self, settings: Settings) -> Mapping[str, str]:
        """The digest of the words and their polarities, and the threshold."""
        return {
            **super().signature(settings),
            **gender_words(settings.polarity).settings,
            "polar": f"{settings.polar:g}",
            "ties": settings.ties,
        }

    def read(self, texts: pa.Table, settings: Settings, probabilities: pa.Table | None) -> pa.Table:
        """Add the columns of ``words``, ``weighted`` and ``maximum``."""
        words, published = gender_words(settings.polarity), settings.ties == "published"
        return read_distinct(
            texts, self.info.name, lambda distinct: read_polarity(distinct, words, settings.polar, published)
        )

    def carriers(self, texts: pa.Table, settings: Settings, method: Method) -> Iterator[Mapping[str, float]]:
        """The words of the lists; their contributions add up to the value."""
        words, published = gender_words(settings.polarity), settings.ties == "published"
        return (gender_carriers(text, words, method.name, published) if text else {} for text in measured_texts(texts))
