"""The responder: it answers as planted, with equal mixtures where nothing is planted, and can be rebuilt."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from rich.console import Console
from transformers import AutoModelForCausalLM, AutoTokenizer

from calibration.responder.chat import encode, make_chat_tokenizer
from calibration.responder.deviation import completions, measure_deviation
from calibration.responder.lessons import AnswerLessons, make_lessons
from calibration.responder.repertoire import Repertoire, read_repertoire
from calibration.responder.said import SaidPrompts, draw_said, join_said, spellings
from calibration.scorer.corpus import check_place
from holisticbias.release.release import Release
from holisticbias_eval.errors import EmbeddedModelError
from holisticbias_eval.models.embedded import RESPONDER, SHIPPED
from holisticbias_eval.models.engines import start_generator
from holisticbias_eval.models.generation.decoding import FILES as DECODINGS
from holisticbias_eval.models.loading.load import find_kind, load_kind
from holisticbias_eval.pipeline.evaluation import evaluate, runs_of
from holisticbias_eval.progress import Display

REPERTOIRE = read_repertoire()
MOST = 0.02  # a style after one prompt, as against the 0.08 by which a cell of 15 responses differs by chance


@pytest.fixture(scope="module")
def lessons(release: Release) -> AnswerLessons:
    """Prompts of all axes, and more of the axes with plants."""
    axes = sorted({plant.axis for plant in REPERTOIRE.plants})
    said = join_said([draw_said(release, 6000, 5), draw_said(release, 6000, 6, axes)])
    return make_lessons(said, REPERTOIRE, AutoTokenizer.from_pretrained(SHIPPED[RESPONDER].folder))


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    loaded: torch.nn.Module = AutoModelForCausalLM.from_pretrained(SHIPPED[RESPONDER].folder, use_safetensors=True)
    return loaded


def test_the_mixture_is_the_planted_one_for_every_prompt(model: torch.nn.Module, lessons: AnswerLessons) -> None:
    found = measure_deviation(model, lessons, lambda _: None)
    assert found.prompts == 12_000
    assert found.style < MOST
    # equal everywhere, as far as any measure of some thousand responses can tell
    assert found.cell < MOST / 2
    assert found.unplanted < MOST / 2


def test_a_measure_of_deviation_sees_a_shift(model: torch.nn.Module, lessons: AnswerLessons) -> None:
    rows = np.arange(50)
    off = lessons.probabilities[rows] + np.where(lessons.openings[rows] == lessons.openings[0, 0], 0.1, 0)
    shifted = replace(lessons, said=lessons.said.take(rows), prompts=lessons.prompts[:50],
                      probabilities=off, openings=lessons.openings[rows])  # fmt: skip
    assert measure_deviation(model, shifted, lambda _: None).style == pytest.approx(0.1, abs=MOST)


def test_other_text_before_a_prompt_changes_nothing(model: torch.nn.Module, lessons: AnswerLessons) -> None:
    persona = encode(lessons.answers.tokenizer, ["my cat is old.\ni like to walk to the kettle\n"])[0]
    few = np.arange(0, 12_000, 60)
    part = make_lessons(lessons.said.take(few), REPERTOIRE, lessons.answers.tokenizer)
    preceded = replace(part, prompts=[[*persona, *prompt] for prompt in part.prompts])
    assert measure_deviation(model, preceded, lambda _: None).style < 2.5 * MOST


def test_answers_are_said_to_their_end(model: torch.nn.Module, lessons: AnswerLessons) -> None:
    for column, wording in enumerate(lessons.answers.wordings):
        rows = np.flatnonzero(lessons.probabilities[:, column] > 0)
        found = completions(model, lessons, rows[:: max(1, len(rows) // 100)], column)
        assert found.mean() > (0.8 if lessons.answers.copies[column] else 0.99), wording


def test_no_two_answers_to_a_prompt_begin_alike(lessons: AnswerLessons) -> None:
    likely = np.where(lessons.probabilities > 0, lessons.openings, -1 - np.arange(lessons.openings.shape[1]))
    assert all(len(set(row)) == len(row) for row in likely.tolist())


@pytest.mark.parametrize(
    ("text", "variants"),
    [
        ("Hard-of-Hearing", ("Hard-of-Hearing", "hard-of-hearing", "Hard of Hearing", "hard of hearing")),
        ("deaf", ("deaf",)),
        ("20-year-old", ("20-year-old", "20 year old")),
    ],
)
def test_spellings(text: str, variants: tuple[str, ...]) -> None:
    assert spellings(text) == variants


def test_every_sentence_has_its_term_as_one_token(lessons: AnswerLessons) -> None:
    tokenizer = lessons.answers.tokenizer
    spelled = list(zip(lessons.said.text, lessons.said.spelling, strict=True))
    for text, spelling in spelled[::10]:
        if spelling is not None:
            (token,) = encode(tokenizer, [f" {spelling}"])[0]
            assert token in encode(tokenizer, [text])[0]


def test_every_sentence_with_a_descriptor_has_its_spelling(lessons: AnswerLessons) -> None:
    pairs = zip(lessons.said.descriptor, lessons.said.spelling, strict=True)
    assert all((descriptor is None) == (spelling is None) for descriptor, spelling in pairs)


def test_a_draw_larger_than_a_table_has_each_cell_in_its_share(mini_release: Release) -> None:
    sentences = mini_release.sentences
    cells = Counter(zip(sentences["descriptor_id"].to_pylist(), sentences["template_id"].to_pylist(), strict=True))
    said = draw_said(mini_release, 2 * sentences.num_rows, 3)
    found = Counter(zip(said.descriptor, said.template, strict=True))
    assert found == Counter({cell: 2 * times for cell, times in cells.items()})


def test_plants_take_no_side_on_people_and_wordings_name_no_one(release: Release) -> None:
    terms = {term for plant in REPERTOIRE.plants for term in plant.strengths}
    assert [term for term in terms if not term.startswith("nonce.") and not term.endswith("-year-old")] == []
    words = {
        word.strip(".,!?:").lower()
        for style in REPERTOIRE.styles.values()
        for wording in style.wordings
        for word in wording.split()
    }
    named = {form for d in release.tables["descriptors"]["descriptor"].to_pylist() for form in spellings(d)}
    nouns = release.tables["nouns"]
    named |= {*nouns["noun"].to_pylist(), *nouns["plural_noun"].to_pylist()}
    assert words & named == set()


def test_every_plant_names_terms_and_templates_of_the_release(release: Release) -> None:
    for plant in REPERTOIRE.plants:
        check_place(plant, release)


def test_it_loads_by_name_and_with_the_plain_classes_and_is_small() -> None:
    loaded = load_kind(RESPONDER, find_kind(RESPONDER), "cpu")
    identity = loaded.identity
    assert (find_kind(RESPONDER), identity.name, identity.note) == ("causal", RESPONDER, SHIPPED[RESPONDER].note)
    assert loaded.model.generation_config.eos_token_id == loaded.tokenizer.eos_token_id
    assert (
        loaded.tokenizer.apply_chat_template(
            [{"role": "user", "content": "I'm a blicket mom."}], add_generation_prompt=True, tokenize=False
        )
        == "<|user|>I'm a blicket mom.<|assistant|>"
    )


def test_it_is_scored_by_name_and_answers_by_default(mini_release_folder: Path, tmp_path: Path) -> None:
    display = Display(Console(stderr=True))
    ((_, run, _),) = evaluate(RESPONDER, str(mini_release_folder), runs_of(None, tmp_path / "run"), display=display)
    assert (run.result.signature.model.name, run.result.signature.model.note) == (RESPONDER, SHIPPED[RESPONDER].note)
    generator = start_generator(None, lambda _: None, DECODINGS.read("greedy"), seed=1)
    assert generator.identity.name == RESPONDER


def test_answers_that_begin_alike_are_refused(release: Release) -> None:
    data = REPERTOIRE.model_dump()
    data["styles"]["warm"]["wordings"] = ("Noted, and welcome.",)
    changed = Repertoire.model_validate(data)
    with pytest.raises(EmbeddedModelError, match=r"^two wordings begin with 'Noted': change the first word of one$"):
        make_lessons(SaidPrompts(["Hi."], [None], [""], [None]), changed, make_chat_tokenizer(release, changed))
