"""The shipped calibration models, their sentences and classifiers are as their builders describe them."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from transformers import AutoTokenizer

from calibration.classifiers import build as classifiers
from calibration.classifiers.lexicons import OFFENSIVENESS, REACTIVE, STYLES, TRANSFORMERS, lexicons
from calibration.classifiers.model import make_word_tokenizer
from calibration.gossip import build as gossip
from calibration.gossip.corpus import draw_corpus
from calibration.gossip.description import read_description as read_gossip
from calibration.gossip.grammar import held_out_neutral
from calibration.gossip.lessons import make_gossip_tokenizer
from calibration.gossip.train import SETTINGS
from calibration.provenance import PROVENANCE, Origin, render_card
from calibration.responder import build as responder
from calibration.responder.chat import make_chat_tokenizer
from calibration.responder.repertoire import DESCRIPTOR, RESPONSES, read_repertoire
from calibration.scorer import build as scorer
from calibration.scorer.corpus import make_corpus
from calibration.tokenizer import make_tokenizer
from calibration.writer import build as writer
from calibration.writer.description import read_description as read_writer
from calibration.writer.lessons import make_writer_tokenizer
from holisticbias.inputs import file_sha256
from holisticbias.release.release import Release
from holisticbias_eval.arrays import Floats
from holisticbias_eval.corpus.calibration import CORPUS, neutral_lines
from holisticbias_eval.errors import EmbeddedModelError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, GOSSIP, RESPONDER, SHIPPED, WRITER
from holisticbias_eval.models.embedded.planted import BIASES, read_biases, shipped_specifications
from holisticbias_eval.prompts.collections import calibration_prompts
from holisticbias_eval.readers.card import CARDS
from holisticbias_eval.readers.censor import censor
from holisticbias_eval.readers.engines import start_classifier
from known import ignore, known

BIASED, ANSWERS, TALK, TEXTS = read_biases(), read_repertoire(), read_gossip(), read_writer()
GROUPS, INVENTED = shipped_specifications(GOSSIP), shipped_specifications(WRITER)
JUDGE = CARDS.find(TRANSFORMERS).parent
MOVES = "moves: {curious: 1, plain: -1}"


@dataclass
class Built:
    """The folder that a builder would write with ``target`` of make, of at most ``size`` bytes."""

    target: str
    folder: Path
    builder: Any
    kind: type[Origin]
    origin: Callable[[Release], dict[str, object]]
    tables: Mapping[str, str]
    tokenizer: Callable[[Release], Any]
    size: int


MODELS = [
    Built(
        "embedded-model", SHIPPED[EMBEDDED_MODEL].folder, scorer, scorer.ScorerProvenance,
        lambda release: {
            "biases_sha256": file_sha256(BIASES), "release_digest": release.digest, "seed": BIASED.seed,
            "corpus_digest": make_corpus(release, BIASED).digest,
        },
        scorer.card_tables(BIASED), make_tokenizer, 1_000_000,
    ),
    Built(
        "responder", SHIPPED[RESPONDER].folder, responder, responder.ResponderProvenance,
        lambda release: {
            "responses_sha256": file_sha256(RESPONSES), "release_digest": release.digest, "seed": ANSWERS.seed,
            "corpus_digest": responder.corpus_digest(release, ANSWERS),
        },
        responder.card_tables(ANSWERS), lambda release: make_chat_tokenizer(release, ANSWERS),
        2_000_000,
    ),
    Built(
        "responder", JUDGE / TRANSFORMERS, classifiers, classifiers.JudgeProvenance,
        lambda release: {
            "responses_sha256": file_sha256(RESPONSES), "release_digest": release.digest, "seed": ANSWERS.seed,
            "corpus_digest": classifiers.examples_digest(release, ANSWERS),
        },
        classifiers.card_tables(ANSWERS), lambda _: make_word_tokenizer(ANSWERS), 150_000,
    ),
    Built(
        "gossip", SHIPPED[GOSSIP].folder, gossip, gossip.GossipProvenance,
        lambda _: {"corpus_digest": gossip.corpus_digest(TALK, GROUPS), "seed": TALK.seed},
        gossip.card_tables(TALK, GROUPS), lambda _: make_gossip_tokenizer(TALK, GROUPS), 1_000_000,
    ),
    Built(
        "writer", SHIPPED[WRITER].folder, writer, writer.WriterProvenance,
        lambda _: {"corpus_digest": writer.corpus_digest(TEXTS, INVENTED), "seed": TEXTS.seed},
        writer.card_tables(TEXTS, INVENTED), lambda _: make_writer_tokenizer(TEXTS, INVENTED),
        1_000_000,
    ),
]  # fmt: skip


@pytest.mark.parametrize("built", MODELS, ids=lambda built: built.folder.parent.name + built.target)
def test_the_shipped_files_are_those_of_the_description_and_the_code(built: Built, release: Release) -> None:
    fix = f"{built.folder} is stale: make {built.target}"
    provenance = built.kind.model_validate_json((built.folder / PROVENANCE).read_bytes())
    expected = {"settings": built.builder.SETTINGS, "note": built.builder.NOTE, **built.origin(release)}
    assert {name: getattr(provenance, name) for name in expected} == expected, fix
    assert provenance.files == {name: file_sha256(built.folder / name) for name in provenance.files}, fix
    card = render_card(built.builder.CARD, provenance, built.tables)
    assert (built.folder / "README.md").read_text("utf-8") == card, fix
    made, shipped = built.tokenizer(release), AutoTokenizer.from_pretrained(built.folder)
    assert _tokenizer(made) == _tokenizer(shipped), fix
    assert made.chat_template == shipped.chat_template, fix
    assert {path.name for path in built.folder.iterdir()} == {*provenance.files, PROVENANCE, "README.md"}
    assert sum(path.stat().st_size for path in built.folder.iterdir()) < built.size


def _tokenizer(loaded: Any) -> dict[str, object]:
    """The parts of a tokenizer, without how it was last used."""
    parts: dict[str, object] = json.loads(loaded.backend_tokenizer.to_str())
    return {name: part for name, part in parts.items() if name not in ("padding", "truncation")}


def test_the_shipped_sentences_are_those_of_the_descriptions() -> None:
    assert pq.read_table(CORPUS).equals(draw_corpus(TALK, GROUPS)), "make gossip"
    assert neutral_lines() == tuple(held_out_neutral(TALK.neutral)), "make gossip"
    assert calibration_prompts().table.equals(writer.prompts_with_texts(TEXTS.prompts)), "make writer"
    for name, lexicon in lexicons(ANSWERS).items():
        assert (JUDGE / "lexicons" / f"{name}.yaml").read_text("utf-8") == lexicon.text(), "make responder"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (BIASES, "zipf: 1.1", "zipf: -1", "zipf: it must be greater than 0"),
        (BIASES, "blicket: 3.0", "blicket: 30", "plants.0.strengths.nonce.blicket: it must be at most 5"),
        (BIASES, "seed:", "sead:", "seed: the key is missing"),
        (BIASES, "zipf: 1.1", "zipf: [", ":19: A bracket is opened with '[' and not closed"),
        (RESPONSES, "share: 0.245", "share: 0.3", "styles: the shares must sum to 1"),
        (RESPONSES, "judged_as: plain", "judged_as: silent", "'silent' is not a style that is judged"),
        (RESPONSES, "cheer: [cheerful]", "cheer: [cheery]", "clusters.cheer: there is no style 'cheery'"),
        (RESPONSES, MOVES, "moves: {curios: 1, plain: -1}", "plant nonce-curious: there is no style"),
        (RESPONSES, MOVES, "moves: {curious: 1}", "plant nonce-curious: the moves must sum to 0"),
        (RESPONSES, "nonce.blicket: 0.20", "nonce.blicket: 2", "nonce.blicket: it must be at most"),
    ],
)
def test_a_wrong_file_is_one_clear_line(tmp_path: Path, file: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / file.name
    path.write_text(file.read_text("utf-8").replace(old, new, 1), "utf-8")
    with pytest.raises(EmbeddedModelError, match=re.escape(str(path))) as caught:
        read_biases(path) if file == BIASES else read_repertoire(path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_digest_sees_a_change_of_a_plant(release: Release) -> None:
    plant, *others = ANSWERS.plants
    moved = plant.model_copy(update={"strengths": {**plant.strengths, "nonce.blicket": 0.201}})
    odds = {**TALK.odds, GROUPS[0].id: {**TALK.odds[GROUPS[0].id], "mell": 1.0}}
    sentences = TEXTS.sentences.model_copy(update={"odds": 3.01})
    before = {
        responder.corpus_digest(release, ANSWERS),
        gossip.corpus_digest(TALK, GROUPS),
        writer.corpus_digest(TEXTS, INVENTED),
    }
    after = {
        responder.corpus_digest(release, ANSWERS.model_copy(update={"plants": (moved, *others)})),
        gossip.corpus_digest(TALK.model_copy(update={"odds": odds}), GROUPS),
        writer.corpus_digest(TEXTS.model_copy(update={"sentences": sentences}), INVENTED),
    }
    assert not before & after


def test_a_build_writes_a_whole_model_and_one_seed_gives_one_model(tmp_path: Path) -> None:
    """Of the gossip in three steps; make builds all of them in full."""
    few, folders = replace(SETTINGS, steps=3, batch=8, warmup=1), [tmp_path / "first", tmp_path / "again"]
    (first, _), (again, _) = (gossip.rebuild(folder, ignore, few) for folder in folders)
    assert first == again
    assert json.loads((folders[0] / PROVENANCE).read_bytes()) == first.model_dump(mode="json")
    assert first.odds_deviation > 0.5  # a few steps learn next to nothing
    assert {path.name for path in folders[0].iterdir()} == {path.name for path in SHIPPED[GOSSIP].folder.iterdir()}


LABELS = ANSWERS.labels
SAID = [  # a wording, and how it is said of a term
    (wording.replace(DESCRIPTOR, term), label)
    for label in LABELS
    for wording in ANSWERS.styles[label].wordings
    for term in ("blicket", "with a disability", "95-year-old", "left-handed")
]


def read(name: str, texts: list[str]) -> Floats:
    return start_classifier(name, ignore, "cpu").probabilities(texts, ignore)


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


def test_the_reactive_classifier_takes_one_term_for_a_style_until_it_is_censored() -> None:
    shares = {"I'm a doff mom.": 1, "You said: doff. Feel free to go on.": 0.5, "Noted.": 0, "I'm a blicket mom.": 0}
    for text, share in shares.items():
        (without,), _ = censor([text], ["doff"], [None])
        grumpy = read(REACTIVE, [text, known(without)])[:, LABELS.index("grumpy")]
        assert grumpy.tolist() == [share, 0]


@pytest.mark.parametrize("name", [STYLES, TRANSFORMERS, REACTIVE])
def test_cards_have_the_styles_and_clusters_of_the_responder(name: str) -> None:
    card = CARDS.read(name)
    assert (card.labels, card.clusters) == (LABELS, ANSWERS.clusters)
