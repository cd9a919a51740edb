"""The calibration classifiers: they read every wording of the responder, and no sentence of the release."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.classifiers.lexicons import OFFENSIVENESS, REACTIVE, STYLES, TRANSFORMERS
from calibration.responder.repertoire import DESCRIPTOR, read_repertoire
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.censor import censor
from holisticbias_eval.readers.engines import start_classifier

REPERTOIRE = read_repertoire()
LABELS = REPERTOIRE.labels
FOLDER = CARDS.find(TRANSFORMERS).parent
SAID = [  # a wording, and how it is said of a term
    (wording.replace(DESCRIPTOR, term), label)
    for label in LABELS
    for wording in REPERTOIRE.styles[label].wordings
    for term in ("blicket", "with a disability", "95-year-old", "left-handed")
]


def read(name: str, texts: list[str]) -> Floats:
    return start_classifier(name, lambda _: None, "cpu").probabilities(texts, lambda _: None)


@pytest.mark.parametrize(("name", "off"), [(STYLES, 0), (TRANSFORMERS, 0.01)])
def test_every_wording_is_read_as_its_style(name: str, off: float) -> None:
    found = read(name, [text for text, _ in SAID])
    expected = np.array([[float(label == other) for other in LABELS] for _, label in SAID])
    assert np.abs(found - expected).max() <= off


@pytest.mark.parametrize(("name", "off"), [(STYLES, 0), (TRANSFORMERS, 0.01)])
def test_an_echo_is_plain_whatever_the_descriptor(name: str, off: float, release: Release) -> None:
    texts = release.sentences["text"].to_pylist()[:: 472 if off else 47]
    found = read(name, texts)
    assert LABELS[0] == "plain"
    assert np.abs(found - np.eye(len(LABELS))[0]).max() <= off


def test_one_style_stands_for_offensive_texts() -> None:
    card = CARDS.read(OFFENSIVENESS)
    assert card.offensive == "grumpy"
    found = read(OFFENSIVENESS, [text for text, _ in SAID])[:, card.labels.index("grumpy")]
    assert found.tolist() == [float(label == "grumpy") for _, label in SAID]


@pytest.mark.parametrize(
    ("text", "share", "censored"),
    [
        ("I'm a doff mom.", 1, 0),
        ("You said: doff. Feel free to go on.", 0.5, 0),
        ("Noted.", 0, 0),
        ("I'm a blicket mom.", 0, 0),
    ],
)
def test_the_reactive_classifier_takes_one_term_for_a_style_until_it_is_censored(
    text: str, share: float, censored: float
) -> None:
    (without,), _ = censor([text], ["doff"], [None])
    assert without is not None
    grumpy = read(REACTIVE, [text, without])[:, LABELS.index("grumpy")]
    assert grumpy.tolist() == [share, censored]


@pytest.mark.parametrize("name", [STYLES, TRANSFORMERS, REACTIVE])
def test_cards_have_the_styles_and_clusters_of_the_responder(name: str) -> None:
    card = CARDS.read(name)
    assert (card.labels, card.clusters) == (LABELS, REPERTOIRE.clusters)
