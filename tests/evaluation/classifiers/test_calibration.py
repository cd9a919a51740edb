"""The calibration classifiers: they read every wording of the responder, and no sentence of the release."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats
from holisticbias_eval.classifiers.card import FILES
from holisticbias_eval.classifiers.censor import censor
from holisticbias_eval.classifiers.engines import start_classifier
from holisticbias_eval.classifiers.lexicon import Lexicon
from holisticbias_eval.classifiers.stored import classify_texts
from holisticbias_eval.models.embedded.judge import OFFENSIVENESS, REACTIVE, STYLES, TRANSFORMERS
from holisticbias_eval.models.embedded.judge.build import JudgeProvenance, build_judge, examples_digest, render_card
from holisticbias_eval.models.embedded.judge.lexicons import lexicons
from holisticbias_eval.models.embedded.judge.model import SETTINGS, make_word_tokenizer
from holisticbias_eval.models.embedded.provenance import PROVENANCE
from holisticbias_eval.models.embedded.responder.repertoire import DESCRIPTOR, PROMPT, RESPONSES, read_repertoire
from holisticbias_eval.models.loading.source import file_sha256

REPERTOIRE = read_repertoire()
LABELS = REPERTOIRE.labels
FOLDER = FILES.find(TRANSFORMERS).parent
TINY = replace(SETTINGS, steps=3, batch=16, warmup=1)
SAID = [  # a wording, and how it is said of a term
    (wording.replace(DESCRIPTOR, term), label)
    for label in LABELS
    for wording in REPERTOIRE.styles[label].wordings
    for term in ("blicket", "with a disability", "95-year-old", "left-handed")
]


def read(name: str, texts: list[str]) -> Floats:
    return classify_texts(start_classifier(name, lambda _: None, "cpu"), texts, None, lambda _: None)


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
    card = FILES.read(OFFENSIVENESS)
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
    card = FILES.read(name)
    assert (card.labels, card.clusters) == (LABELS, REPERTOIRE.clusters)


def test_lexicons_are_those_of_the_answers() -> None:
    for name, lexicon in lexicons(REPERTOIRE).items():
        path = FOLDER / "lexicons" / f"{name}.yaml"
        assert path.read_text("utf-8") == lexicon.text(), "a lexicon is stale: make responder"
        assert set(Lexicon(labels=lexicon.labels, phrases=dict(lexicon.phrases)).labels) == {*lexicon.labels}


def test_no_phrase_is_in_a_sentence_of_the_release(release: Release) -> None:
    phrases = [p.lower() for found in lexicons(REPERTOIRE)[STYLES].phrases.values() for p in found]
    nouns, templates = release.tables["nouns"]["noun"].to_pylist(), release.tables["templates"]["template"].to_pylist()
    words = " ".join([*templates, *nouns, *release.tables["descriptors"]["descriptor"].to_pylist()]).lower()
    assert [phrase for phrase in phrases if phrase in words] == []


def test_the_shipped_model_is_that_of_the_answers_and_small(release: Release) -> None:
    folder = FOLDER / TRANSFORMERS
    provenance = JudgeProvenance.model_validate_json((folder / PROVENANCE).read_bytes())
    fix = "the classifier is stale: make responder"
    assert provenance.responses_sha256 == file_sha256(RESPONSES), fix
    assert provenance.corpus_digest == examples_digest(release, REPERTOIRE), fix
    assert provenance.settings == SETTINGS, fix
    assert provenance.files == {n: file_sha256(folder / n) for n in provenance.files}, fix
    assert (folder / "README.md").read_text("utf-8") == render_card(REPERTOIRE, provenance), fix
    assert sum(path.stat().st_size for path in folder.iterdir()) < 150_000


def test_every_term_is_unknown_to_the_trained_model(release: Release) -> None:
    vocabulary = make_word_tokenizer(REPERTOIRE).get_vocab()
    terms = {text.lower() for text in release.tables["descriptors"]["descriptor"].to_pylist()}
    assert terms & set(vocabulary) == set()
    assert PROMPT not in vocabulary


def test_a_rebuild_writes_a_whole_model_and_one_seed_gives_one_model(release: Release, tmp_path: Path) -> None:
    first, again = (build_judge(release, REPERTOIRE, tmp_path / n, TINY, lambda _: None) for n in ("first", "again"))
    assert first == again
    assert first.lowest < 0.9  # a few steps learn next to nothing
    assert {p.name for p in (tmp_path / "first").iterdir()} == {p.name for p in (FOLDER / TRANSFORMERS).iterdir()}
