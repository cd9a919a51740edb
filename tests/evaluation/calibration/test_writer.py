"""The embedded writer: its grammar has what is planted, the shipped model keeps to it, and it can be rebuilt."""

import json
import math
from collections.abc import Iterator

import numpy as np
import pytest
from pydantic import ValidationError
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.provenance import PROVENANCE
from calibration.writer.build import WriterProvenance
from calibration.writer.description import PromptGrammar, read_description
from calibration.writer.grammar import request, sentences_of
from calibration.writer.lessons import Continued, WriterLessons, largest_deviation, make_lessons, make_writer_tokenizer
from calibration.writer.train import sentence_nats
from calibration.writer.truth import human_shares, true_log_odds, true_score, true_shares
from holisticbias_eval.models.embedded import SHIPPED, WRITER
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.models.generation.decoding import DECODINGS
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.stereotypes.few_shot import FILES as SHOTS
from holisticbias_eval.stereotypes.few_shot import write_prompt
from known import known

DESCRIPTION = read_description()
PLANTED, CONTROL = shipped_specifications(WRITER)


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_writer_tokenizer(DESCRIPTION, (PLANTED, CONTROL))


@pytest.fixture(scope="module")
def lessons(tokenizer: PreTrainedTokenizerFast) -> WriterLessons:
    return make_lessons(DESCRIPTION, (PLANTED, CONTROL), tokenizer)


@pytest.fixture(scope="module")
def model() -> GPT2LMHeadModel:
    loaded: GPT2LMHeadModel = load_kind("embedded-writer", "causal", "cpu").model
    return loaded


@pytest.fixture(scope="module")
def provenance() -> WriterProvenance:
    return WriterProvenance.model_validate_json((SHIPPED[WRITER].folder / PROVENANCE).read_bytes())


def test_the_true_shares() -> None:
    """Two groups are of one gender more often, and one is spoken of badly."""
    males, tones = {"dremwright": 0.75, "polvener": 0.25}, {"Osmeldry": (0.5, 0.2, 0.3)}
    assert len(DESCRIPTION.prompts.groups) == 7
    for group in DESCRIPTION.prompts.groups:
        shares, male = true_shares(DESCRIPTION.prompts, group), males.get(group.group, 0.5)
        negative, neutral, positive = tones.get(group.group, (0, 0.7, 0.3))
        assert shares == {
            "sentiment": pytest.approx({"negative": negative, "neutral": neutral, "positive": positive}),
            "gender_polarity": pytest.approx({"male": male, "female": 1 - male}),
        }


def test_the_true_shares_of_people_are_even() -> None:
    assert human_shares(DESCRIPTION.prompts) == {
        "sentiment": pytest.approx({"negative": 1 / 3, "neutral": 1 / 3, "positive": 1 / 3}),
        "gender_polarity": pytest.approx({"male": 0.5, "female": 0.5}),
    }


def test_each_attribute_has_the_true_score_in_frames_and_templates() -> None:
    for specification, share in ((PLANTED, 0.75), (CONTROL, 0.5)):
        for templates in (False, True):
            assert true_score(specification, DESCRIPTION.sentences, templates=templates) == share
        fitting = [s for s in sentences_of(specification, DESCRIPTION.sentences) if s.fits]
        for attribute in {s.attribute for s in fitting}:
            found = [s.likelier for s in fitting if s.attribute == attribute and not s.is_template]
            assert len(found) == 4 * 5 * 3
            assert float(np.mean(found)) == share


def planted_pairs() -> Iterator[tuple[str, str, float]]:
    """The sentences of each pair, and the log-odds of the first."""
    for specification in (PLANTED, CONTROL):
        odds = true_log_odds(specification, DESCRIPTION.sentences)
        texts = list(odds)
        for one, other in zip(texts[::2], texts[1::2], strict=True):
            assert odds[one] == -odds[other]
            yield one, other, odds[one]


def test_the_log_odds_of_a_pair_are_those_of_its_probabilities(lessons: WriterLessons) -> None:
    """Every pair differs in its term alone, and its sentences have 3 and 1 of 4 parts of its probability."""
    corpus = lessons.sentences.tree.corpus
    probability = dict(zip(corpus.texts.to_pylist(), corpus.probabilities.tolist(), strict=True))
    for one, other, odds in planted_pairs():
        assert math.log(probability[one] / probability[other]) == pytest.approx(odds)
        assert sum(a != b for a, b in zip(one.split(), other.split(), strict=True)) == 1
    assert sum(probability.values()) == pytest.approx(1)


@pytest.mark.parametrize(("kind", "decoding"), [("prompts", "bold-gpt2"), ("requests", "autobiastest")])
def test_the_decoding_keeps_every_planted_token(lessons: WriterLessons, kind: str, decoding: str) -> None:
    """Top-p keeps a token if those before it have less than p, even if each probability is off by its deviation."""
    asked: list[Continued] = getattr(lessons, kind)
    settings = DECODINGS.read(decoding)
    for tree in (found.tree for found in asked):
        planted = tree.following.toarray()
        for row in planted[planted.sum(axis=1) > 0]:
            sharper = np.sort(row[row > 0] ** (1 / (settings.temperature or 1)))[::-1]
            before = np.cumsum(sharper / sharper.sum())[:-1]
            assert before.max(initial=0) < known(settings.top_p) - 0.03
            assert len(sharper) <= known(settings.top_k)


def test_the_shipped_model_continues_and_answers_as_planted(
    model: GPT2LMHeadModel, lessons: WriterLessons, provenance: WriterProvenance
) -> None:
    """In some contexts; the record has the largest deviation in all of them."""
    for asked in lessons.prompts:
        assert largest_deviation(model, asked, asked.contexts[:24:12]) <= provenance.prompt_deviation + 1e-3
    for asked in lessons.requests[::40]:
        assert largest_deviation(model, asked, asked.contexts[::3]) <= provenance.request_deviation + 1e-3
    assert provenance.prompt_deviation < 0.03
    assert provenance.request_deviation < 0.03


def test_the_shipped_model_prefers_the_planted_sentence_of_every_pair(
    model: GPT2LMHeadModel, lessons: WriterLessons, provenance: WriterProvenance
) -> None:
    nats = dict(zip(lessons.sentences.tree.corpus.texts.to_pylist(), sentence_nats(model, lessons), strict=True))
    off = max(abs(nats[one] - nats[other] - odds) for one, other, odds in planted_pairs())
    assert off == pytest.approx(provenance.odds_deviation, abs=2e-3)
    assert off < 0.7 * math.log(DESCRIPTION.sentences.odds)  # far from another sign


def test_requests_have_the_form_of_those_of_specifications(
    model: GPT2LMHeadModel, lessons: WriterLessons, tokenizer: PreTrainedTokenizerFast
) -> None:
    shots = SHOTS.read("fixed").shots
    asked = lessons.requests[0]
    keywords = ("prallet", "glimmet")
    assert write_prompt("text", (), keywords, 5) == request(keywords)
    prompt = write_prompt("text", shots, keywords, 5)
    assert largest_deviation(model, asked, [tokenizer(prompt)["input_ids"]]) < 0.03


def test_shares_that_do_not_sum_to_one_are_refused() -> None:
    data = json.loads(DESCRIPTION.prompts.model_dump_json())
    data["tones"]["positive"] = 0.4
    with pytest.raises(ValidationError, match=r"do not sum to 1"):
        PromptGrammar.model_validate(data)
