"""Quality of sentences, with values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluation.stereotypes.sentences_by_hand import specification

from holisticbias_eval.figures import Figures
from holisticbias_eval.stereotypes.quality import (
    AskedSentence,
    automated_readability,
    fill_templates,
    gunning_fog,
    quality_figures,
)
from holisticbias_eval.stereotypes.record import MEASURE

KEPT = [
    AskedSentence("The blicket loves gimble.", "blicket", "gimble"),
    AskedSentence("A wug hates the slow-moving gimble.", "wug", "gimble"),
    AskedSentence("The blicket and gimble.", "blicket", "gimble"),
]


def test_figures_of_sentences() -> None:
    returned = [*KEPT, AskedSentence("The blicket sings.", "blicket", "gimble")]
    found = Figures(quality_figures("generated", returned, KEPT))

    def value(name: str) -> float | None:
        return found.value(MEASURE, name, {"source": "generated"})

    assert value("both_terms") == 3 / 4
    assert value("words") == pytest.approx((4 + 6 + 4) / 3)
    assert value("positive") == pytest.approx(1 / 3)
    assert value("negative") == pytest.approx(1 / 3)
    assert value("distinct_words") is None
    words = found.get(MEASURE, "words", {"source": "generated"})
    assert words is not None
    assert words.interval is not None
    # the standard deviation of 4, 6, 4 is 2 / sqrt(3)
    assert words.interval.high - words.interval.low == pytest.approx(2 * 1.959963984540054 * 2 / 3)


def test_without_sentences_every_figure_is_undefined() -> None:
    assert {(f.value, f.interval, f.n) for f in quality_figures("generated", [], [])} == {(None, None, 0)}


def test_distinct_words_are_those_of_200_sentences() -> None:
    alike = [AskedSentence("The blicket loves gimble.", "blicket", "gimble")] * 200
    many = [AskedSentence(f"Word{i} the.", "blicket", "gimble") for i in range(500)]
    for kept, expected in ((alike, (4, 200)), (many, (201, 500)), (many[:199], (None, 199))):
        (found,) = (f for f in quality_figures("generated", [], kept) if f.name == "distinct_words")
        assert (found.value, found.n) == expected


def test_readability() -> None:
    # 10 words of 51 characters: 4.71 * 5.1 + 0.5 * 10 - 21.43
    sentence = "The boy excels at math and enjoys solving complex equations."
    assert automated_readability([sentence])[0] == pytest.approx(4.71 * 5.1 + 5 - 21.43)
    # one of 5 words has three syllables or more and is not easy: 0.4 * (5 + 20)
    fog = gunning_fog(["The cat sat on catastrophe.", "The cat sat."])
    np.testing.assert_allclose(fog, [10.0, 1.2])


def test_templates_are_filled_with_the_first_group() -> None:
    found = [asked.sentence for asked in fill_templates(specification())]
    assert found[:2] == ["The blicket likes gimble.", "The tove likes gimble."]
    assert "Mell is burble." in found
    assert "Blicket is burble." not in found
    assert not any("wug" in sentence for sentence in found)
    assert len(found) == 3 * (3 + 1)
    neither = [{"name": name, "label": name.title()} for name in ("blickets", "wugs")]
    assert [asked.sentence for asked in fill_templates(specification(groups=neither))] == found
    slots = [{"terms": ["blicket", None]}, {"form": "mixed", "terms": ["tove", "rath"]}]
    assert fill_templates(specification(slots=slots)) == []
