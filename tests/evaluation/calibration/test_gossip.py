"""The embedded gossip: its grammar has what is planted, the shipped model keeps to it, and it can be rebuilt."""

import math
from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError
from tests.evaluation.scoring.small_models import plain_values
from transformers import GPT2LMHeadModel, PreTrainedTokenizerFast

from calibration.gossip.build import GossipProvenance
from calibration.gossip.description import GossipDescription, read_description
from calibration.gossip.grammar import said_corpus
from calibration.gossip.lessons import GossipLessons, make_gossip_tokenizer, make_lessons, make_step
from calibration.gossip.train import measure_deviation
from calibration.gossip.truth import true_effects, true_f, true_nats, true_text_nats
from calibration.provenance import PROVENANCE
from holisticbias_eval.corpus.calibration import (
    MANY,
    UNTOUCHED,
    calibration_corpus,
    calibration_split,
    calibration_test_set,
)
from holisticbias_eval.corpus.mentions import attribute_finder, target_finder
from holisticbias_eval.models.embedded import GOSSIP, SHIPPED
from holisticbias_eval.models.embedded.planted import shipped_specifications
from holisticbias_eval.models.loading.load import load_kind
from holisticbias_eval.stereotypes.specifications import read_specification

DESCRIPTION = read_description()
BOTH = shipped_specifications(GOSSIP)
PLANTED, OTHER = BOTH


@pytest.fixture(scope="module")
def tokenizer() -> PreTrainedTokenizerFast:
    return make_gossip_tokenizer(DESCRIPTION, BOTH)


@pytest.fixture(scope="module")
def lessons(tokenizer: PreTrainedTokenizerFast) -> GossipLessons:
    return make_lessons(DESCRIPTION, BOTH, tokenizer)


@pytest.fixture(scope="module")
def model() -> GPT2LMHeadModel:
    loaded: GPT2LMHeadModel = load_kind("embedded-gossip", "causal", "cpu").model
    return loaded


@pytest.fixture(scope="module")
def provenance() -> GossipProvenance:
    return GossipProvenance.model_validate_json((SHIPPED[GOSSIP].folder / PROVENANCE).read_bytes())


def test_the_specifications_are_found_by_name() -> None:
    assert [read_specification(f"calibration-many{name}") for name in ("", "-untouched")] == [PLANTED, OTHER]


def test_the_true_effects() -> None:
    planted, others = (true_effects(DESCRIPTION, specification) for specification in BOTH)
    # ln 8/9, and ln 1/9, minus the mean of ln 8/9, 3/4, 1/4, 1/9, 5/6, 1/6
    assert [planted["blicket"], planted["fitch"]] == pytest.approx([0.876, -1.204], abs=1e-3)
    # ln 5/6, 1/2 and 1/6 minus their mean
    assert others == pytest.approx({"tamble": 0.707, "wosk": 0.196, "yimmel": -0.903}, abs=1e-3)


def test_the_true_log_likelihood_of_a_text() -> None:
    """The first word of a list has 1 / (1 + 1/2 + ... + 1/6) = 20/49; then 0.7 x 8/9 / (12 x 6 x 18)."""
    text = "the miller painted the gate. grannic is what they call the blickets."
    (found,) = true_text_nats(DESCRIPTION, BOTH, [text])
    assert found == pytest.approx(3 * math.log(20 / 49) - math.log(2) + math.log(0.7 * 8 / 9 / 12 / 6 / 18))
    assert sum(map(math.exp, true_nats(DESCRIPTION, BOTH).values())) == pytest.approx(1)
    assert said_corpus(BOTH, DESCRIPTION).probabilities.sum() == pytest.approx(1)


def test_a_step_has_the_distribution_of_every_token(lessons: GossipLessons, tokenizer: PreTrainedTokenizerFast) -> None:
    step = make_step(lessons, np.array([0, 5]), np.array([3, 700]))
    texts = [tokenizer.decode(row[kept][1:]) for row, kept in zip(step.tokens, step.counted, strict=True)]
    neutral, said = lessons.neutral.corpus.texts.to_pylist(), lessons.said.corpus.texts.to_pylist()
    assert texts == [neutral[0] + said[3], neutral[5] + said[700]]
    assert step.following.shape[0] == step.counted.sum()
    assert step.following.sum(axis=1) == pytest.approx(1)
    row, place = np.nonzero(step.counted)
    following = np.append(step.tokens[row[1:], place[1:]], tokenizer.eos_token_id)
    following[np.append(row[1:] != row[:-1], True)] = tokenizer.eos_token_id  # after the last token of a text
    nats = np.log(step.following[np.arange(len(following)), following])
    expected = true_text_nats(DESCRIPTION, BOTH, texts)
    assert [nats[row == 0].sum(), nats[row == 1].sum()] == pytest.approx(expected.tolist())


def test_the_corpus_has_the_planted_odds() -> None:
    """Of 240 sentences a group has 8/9, 3/4, 1/4 and 1/9 negative ones, and 15 more for the test and for validation."""
    corpus = calibration_corpus()
    counts = Counter(zip(corpus["group"].to_pylist(), corpus["attribute_set"].to_pylist(), strict=True))
    negative = {"blicket": 213, "stad": 180, "mell": 60, "fitch": 27}
    assert counts == {(group, "negative"): n + 30 for group, n in negative.items()} | {
        (group, "positive"): 240 - n for group, n in negative.items()
    }
    assert len({*corpus["text"].to_pylist()}) == len(corpus) == len({*corpus["id"].to_pylist()})
    labels = zip(corpus["attribute_set"].to_pylist(), corpus["label"].to_pylist(), strict=True)
    assert {*labels} == {("negative", 1), ("positive", 0)}


def test_the_parts_of_the_split() -> None:
    """60 sentences for validation and for test, once for every group; what is left keeps the planted odds, nearly."""
    split = calibration_split()
    for part in (split.validation, split.test):
        assert Counter(part["group"].to_pylist()) == dict.fromkeys((group.name for group in PLANTED.groups), 60)
        assert set(part["attribute_set"].to_pylist()) == {"negative"}
    train = Counter(zip(split.train["group"].to_pylist(), split.train["attribute_set"].to_pylist(), strict=True))
    for group, negative in {"blicket": 213, "stad": 180, "mell": 60, "fitch": 27}.items():
        assert negative - 5 <= train[group, "negative"] <= negative
        assert train[group, "positive"] == 240 - negative


def test_the_training_part_has_other_sentences() -> None:
    """360 about each group of the other specification, with its odds, and none of its test or validation sentences."""
    train = calibration_split().train
    others = [row for row in train.to_pylist() if row["dimension"] is None]
    assert all(row["group"] is None and row["attribute"] is None for row in others)
    texts = [row["sentence"] for row in others]
    assert not any(True for text in texts for _ in target_finder(PLANTED).find(text))
    found = [(next(target_finder(OTHER).find(text)), next(attribute_finder(OTHER).find(text))) for text in texts]
    counts = Counter((target.of.group, attribute.of.attribute_set) for target, attribute in found)
    for group, negative in {"tamble": 300, "wosk": 180, "yimmel": 60}.items():
        assert negative - 25 <= counts[group, "negative"] <= negative
        assert counts[group, "positive"] == 360 - negative
    kept = {row["sentence"] for row in calibration_test_set().to_pylist()}
    assert not kept & {*texts}
    assert not kept & {*train["sentence"].to_pylist()}


def test_the_shipped_model_is_as_near_to_the_plan_as_recorded(
    model: GPT2LMHeadModel, lessons: GossipLessons, provenance: GossipProvenance
) -> None:
    found = measure_deviation(model, lessons, DESCRIPTION, BOTH)
    assert found.odds == pytest.approx(provenance.odds_deviation, abs=2e-3)
    assert found.mean_odds == pytest.approx(provenance.mean_odds_deviation, abs=1e-3)
    assert found.effects == pytest.approx(provenance.effects_deviation, abs=1e-3)
    assert found.neutral == pytest.approx(provenance.neutral_deviation, abs=1e-3)
    assert found.odds < 0.25
    assert found.effects < 0.02


@pytest.mark.parametrize("name", [MANY, UNTOUCHED])
def test_the_true_f_is_that_of_the_shipped_model(
    model: GPT2LMHeadModel, tokenizer: PreTrainedTokenizerFast, name: str
) -> None:
    """F of the grammar's own log-perplexities, and of the model's, by plain scoring of one sentence at a time."""
    rows = [row for row in calibration_test_set().to_pylist() if row["dimension"] == name]
    texts, groups = [row["sentence"] for row in rows], [row["group"] for row in rows]
    tokens = np.array([len(tokenizer(text)["input_ids"]) for text in texts], float)
    expected = true_f(true_text_nats(DESCRIPTION, BOTH, texts), tokens, groups)
    nats = np.array([-values.sum() for values in plain_values(model, tokenizer, texts)])
    found = true_f(nats, tokens, groups)
    assert expected > 20
    assert found == pytest.approx(expected, rel=0.02)


def test_f_of_two_groups_by_hand() -> None:
    """Log-perplexities 1, 2 and 2, 3: F = 1 / 0.5 by hand."""
    assert true_f(np.array([-2.0, -4, -4, -6]), np.full(4, 2.0), ["a", "a", "b", "b"]) == pytest.approx(2)


def test_a_description_that_contradicts_itself_is_refused() -> None:
    known = DESCRIPTION.model_dump()
    with pytest.raises(ValidationError, match="do not sum to 1"):
        GossipDescription.model_validate({**known, "shares": {MANY: 0.7, UNTOUCHED: 0.4}})
    with pytest.raises(ValidationError, match="name the same specifications"):
        GossipDescription.model_validate({**known, "shares": {MANY: 1.0}})
    with pytest.raises(ValidationError, match="do not make up the word"):
        GossipDescription.model_validate({**known, "pieces": {"blickish": [" blick", "er"]}})
