"""The lexicon classifier: shares of phrases by hand, and files that are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.engines import start_classifier

PHRASES = {
    "labels": ["kind", "curious", "grumpy"],
    "phrases": {
        "kind": ["sorry to hear", "how nice", "nice"],
        "curious": ["tell me more", "why?", "I'm curious"],
        "grumpy": ["sorry", "no"],
    },
}


@pytest.fixture
def made(card: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    def write(lexicon: Any, **given: Any) -> Path:
        folder = tmp_path / "lexicons"
        folder.mkdir(exist_ok=True)
        (folder / "made.yaml").write_text(yaml.safe_dump(lexicon, sort_keys=False), "utf-8")
        return card(**{"engine": "lexicon", "activation": "none", "model": "lexicons/made.yaml", **given})

    return write


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("How nice!", (1, 0, 0)),
        ("I'm sorry to hear that.", (1, 0, 0)),  # the longest phrase counts, not "sorry" as well
        ("Sorry, sorry to hear. SORRY", (1, 0, 2)),
        ("Tell  me\nmore? Nice, nice", (2, 1, 0)),
        ("Tell me, more. Why?", (0, 1, 0)),
        ("I\u2019m curious why", (0, 1, 0)),
        ("niceness, non-nice, nice-looking, not no-one", None),  # whole words
        ("", None),
        ("no", (0, 0, 1)),
    ],
)
def test_shares_of_phrases(text: str, counts: tuple[int, ...] | None, made: Callable[..., Path]) -> None:
    classifier = start_classifier(str(made(PHRASES)), print)
    values = classifier.probabilities([text], lambda done: None)
    expected = np.full(3, np.nan) if counts is None else np.array(counts) / sum(counts)
    np.testing.assert_array_equal(values[0], expected)


def test_the_label_of_texts_without_a_phrase(made: Callable[..., Path]) -> None:
    classifier = start_classifier(str(made({**PHRASES, "otherwise": "curious"})), print)
    values = classifier.probabilities(["Hm.", "Nice.", " "], lambda done: None)
    np.testing.assert_array_equal(values, [[0, 1, 0], [1, 0, 0], [np.nan] * 3])


def test_settings_follow_the_phrases(made: Callable[..., Path]) -> None:
    before = start_classifier(str(made(PHRASES)), print).settings
    after = start_classifier(str(made({**PHRASES, "otherwise": "kind"})), print).settings
    assert {key for key in after if after[key] != before[key]} == {"classifier_lexicon_sha256"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"otherwise": "sad"}, "there is no label 'sad' in labels"),
        ({"phrases": {"sad": ["oh"]}}, "there is no label 'sad' in labels"),
        ({"phrases": {"kind": ["Oh no"], "grumpy": ["oh  no"]}}, "'oh  no' has two labels, 'kind' and 'grumpy'"),
        ({"phrases": {"kind": ["  "]}}, "'  ' has no word"),
        ({"labels": ["curious", "kind", "grumpy"]}, "the labels of made-up differ from those of its lexicon"),
        ({"weights": {}}, "the key is not in the schema"),
    ],
)
def test_an_invalid_lexicon_is_refused(change: dict[str, Any], message: str, made: Callable[..., Path]) -> None:
    with pytest.raises(EvaluationError, match=message):
        start_classifier(str(made({**PHRASES, **change})), print)


def test_a_missing_lexicon_is_named(card: Callable[..., Path]) -> None:
    file = card(engine="lexicon", activation="none", model="lexicons/other.yaml")
    with pytest.raises(EvaluationError, match=r"there is no lexicon 'lexicons/other\.yaml'"):
        start_classifier(str(file), print)
