"""Cards, clusters and lexicons: the shipped files, shares of phrases by hand, and what is refused."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.readers.card import CARDS, CLUSTERS, Card
from holisticbias_eval.readers.engines import model_place, start_classifier


def test_shipped_cards_are_read_and_name_a_commit() -> None:
    names = set(CARDS.available())
    assert {"go-emotions", "toxicity", "regard", "offensiveness", "vader"} <= names
    for name in names:
        card = CARDS.read(name)
        assert card.id == name
        if card.engine == "transformers" and model_place(CARDS.find(name), card) == card.model:  # on the Hub
            assert re.fullmatch(r"[0-9a-f]{40}", card.revision or "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["a", "a"]}, "a label stands twice"),
        ({"labels": ["a"]}, "at least 2 parts"),
        ({"clusters": {"x": ["sad"]}}, "clusters: there is no label 'sad'"),
        ({"offensive": "sad"}, "offensive: there is no label 'sad'"),
        ({"model": None}, "vader has none, and every other engine needs one"),
        ({"activation": "none"}, "transformers needs softmax or sigmoid"),
        ({"engine": "lexicon"}, "write none for the other engines"),
        ({"prompt": "{text}"}, "prompt is for the engine chat"),
        ({"engine": "chat", "activation": "none"}, "prompt is for the engine chat, which needs it"),
        ({"engine": "chat", "activation": "none", "prompt": "What?"}, r"\{text\} is missing"),
        ({"engine": "lexicon", "activation": "none", "revision": "a"}, "revision is for the engine transformers"),
        ({"threshold": 2}, "it must be at most 1"),
        ({"engine": "lexicon", "activation": "none", "model": "a/b.yaml"}, r"there is no lexicon 'a/b\.yaml'"),
        (
            {"engine": "vader", "activation": "none", "model": None},
            "VADER has no label 'kind': its labels are negative, neutral, positive",
        ),
    ],
)
def test_an_invalid_card_is_refused_in_one_line(
    change: dict[str, Any], message: str, card: Callable[..., Path]
) -> None:
    with pytest.raises(EvaluationError, match=message) as caught:
        start_classifier(str(card(**{"model": "m", **change})), print)
    assert "\n" not in str(caught.value)


def test_only_what_changes_probabilities_is_in_the_digest(card: Callable[..., Path]) -> None:
    def digest(**change: Any) -> str:
        read: Card = CARDS.read(str(card(**{"model": "m", **change})))
        return read.settings["classifier_card_sha256"]

    assert digest(title="b", limits="c", clusters={"x": ["kind"]}, threshold=0.3) == digest()
    others = {digest(activation="sigmoid"), digest(labels=["grumpy", "kind", "curious"])}
    assert len(others | {digest()}) == 3


def test_a_model_beside_the_card_comes_first(card: Callable[..., Path], tmp_path: Path) -> None:
    file = card(model="own/model")
    read = CARDS.read(str(file))
    assert model_place(file, read) == "own/model"
    (tmp_path / "own" / "model").mkdir(parents=True)
    assert model_place(file, read) == str(tmp_path / "own" / "model")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("x: [a]\ny: [a, b]\n", {"x": ("a",), "y": ("a", "b")}),
        ("clusters: [a]\n", {"clusters": ("a",)}),  # a cluster of this name
        ("clusters: {x: [b]}\n", {"x": ("b",)}),
        ("x: []\n", "x: it must have at least 1 part"),
        ("- x\n", "it must have keys and values"),
    ],
)
def test_a_users_clusters(content: str, expected: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(content, "utf-8")
    if not isinstance(expected, str):
        assert CLUSTERS.read(str(file)).clusters == expected
        return
    with pytest.raises(EvaluationError, match=expected):
        CLUSTERS.read(str(file))


PHRASES: dict[str, Any] = {
    "phrases": {
        "kind": ["sorry to hear", "how nice", "nice"],
        "curious": ["tell me more", "why?", "I'm curious"],
        "grumpy": ["sorry", "no"],
    },
}


def test_shares_of_phrases(lexicon_card: Callable[..., Path]) -> None:
    expected = {
        "How nice!": [1, 0, 0],
        "I'm sorry to hear that.": [1, 0, 0],  # the longest phrase counts, not "sorry" as well
        "Sorry, sorry to hear. SORRY": [1 / 3, 0, 2 / 3],
        "Tell  me\nmore? Nice, nice": [2 / 3, 1 / 3, 0],
        "I\u2019m curious why": [0, 1, 0],
        "niceness, non-nice, nice-looking, not no-one": [np.nan] * 3,  # whole words
        "": [np.nan] * 3,
    }
    classifier = start_classifier(str(lexicon_card(PHRASES)), print)
    values = classifier.probabilities([*expected], lambda done: None)
    np.testing.assert_array_equal(values, [*expected.values()])


def test_the_label_of_texts_without_a_phrase(lexicon_card: Callable[..., Path]) -> None:
    classifier = start_classifier(str(lexicon_card({**PHRASES, "otherwise": "curious"})), print)
    values = classifier.probabilities(["Hm.", "Nice.", " "], lambda done: None)
    np.testing.assert_array_equal(values, [[0, 1, 0], [1, 0, 0], [np.nan] * 3])


def test_settings_follow_the_phrases(lexicon_card: Callable[..., Path]) -> None:
    before = start_classifier(str(lexicon_card(PHRASES)), print).settings
    after = start_classifier(str(lexicon_card({**PHRASES, "otherwise": "kind"})), print).settings
    assert {key for key in after if after[key] != before[key]} == {"classifier_lexicon_sha256"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"otherwise": "sad"}, "there is no label 'sad' in labels"),
        ({"phrases": {"sad": ["oh"]}}, "there is no label 'sad' in labels"),
        ({"phrases": {"kind": ["Oh no"], "grumpy": ["oh  no"]}}, "'oh  no' has two labels, 'kind' and 'grumpy'"),
        ({"phrases": {"kind": ["  "]}}, "phrases.kind.0 is blank"),
        ({"labels": ["curious", "kind", "grumpy"]}, "the labels of made-up differ from those of its lexicon"),
    ],
)
def test_an_invalid_lexicon_is_refused(change: dict[str, Any], message: str, lexicon_card: Callable[..., Path]) -> None:
    with pytest.raises(EvaluationError, match=message):
        start_classifier(str(lexicon_card({**PHRASES, **change})), print)
