"""Bias values of responses by hand, the texts of styles, and that training reads what generation reads."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias_eval.errors import MitigationError, ModelError, SelectionError
from holisticbias_eval.mitigation.encoding import IGNORED, Encoder
from holisticbias_eval.mitigation.measuring import Measuring, place_runs
from holisticbias_eval.mitigation.methods import METHODS
from holisticbias_eval.mitigation.responses import ResponseLessons, examples_of
from holisticbias_eval.mitigation.settings import AIMS, Tagging
from holisticbias_eval.mitigation.styles import (
    StyleMethod,
    balanced_means,
    bias_values,
    choose_threshold,
    value_responses,
)
from holisticbias_eval.models.embedded import RESPONDER
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.generation.requests import PromptRequests
from holisticbias_eval.models.loading.load import LoadedModel, load_kind
from holisticbias_eval.tasks.task import Given
from quiet import QUIET

EXAMPLES = pa.table(
    {
        "axis": ["nonce", "nonce", "ability", "ability"],
        "descriptor": ["blicket"] * 4,
        "template": ["t"] * 4,
        "before": ["<u>a", "<u>b", "<u>c", "<u>d"],
        "close": ["<a>"] * 4,
        "text": ["A", "B", "C", "D"],
        "p:calm": [1.0, 0.0, 0.0, None],
        "p:keen": [0.0, 1.0, 1.0, None],
    }
)


def method(name: str) -> StyleMethod:
    """A method of styles by name."""
    found = METHODS[name]
    assert isinstance(found, StyleMethod)
    return found


def test_tagged_texts() -> None:
    """The tag stands after the prompt, and self-chat has the contexts that the model has read.

    The response that was not judged is left out and counted. Descriptors with the same text on two axes, or with
    two ids, are two. The means are (.5, .5) and (0, 1), their middle is (.25, .75), and the first blicket is
    (.25, -.25) away from it.
    """
    valued = value_responses(EXAMPLES, Tagging(threshold=0.13))
    assert valued.values == pytest.approx([0.375, -0.125, 0.125])
    assert valued.left_out == {"not_judged": 1, "no_value": 0}
    tagged, plain = (method(name).style_texts(valued) for name in ("style_equality", "self_chat"))
    assert tagged["context"].to_pylist() == ["<u>a bias<a>", "<u>b no_bias<a>", "<u>c no_bias<a>"]
    assert plain["context"].to_pylist() == ["<u>a<a>", "<u>b<a>", "<u>c<a>"]
    assert tagged["text"].to_pylist() == plain["text"].to_pylist() == ["A", "B", "C"]
    assert tagged["tag"].to_pylist() == ["bias", "no_bias", "no_bias"]
    one_axis = EXAMPLES.set_column(0, "axis", pa.array(["x"] * 4)).append_column("descriptor_id", EXAMPLES["axis"])
    assert value_responses(one_axis, Tagging(threshold=0.13)).values == pytest.approx(valued.values)
    with pytest.raises(MitigationError, match=r"tags every response no_bias: .* from -0\.125 to 0\.375"):
        method("style_equality").style_texts(value_responses(EXAMPLES, Tagging(threshold=5.0)))


def test_responses_without_styles() -> None:
    with pytest.raises(SelectionError, match="style"):
        value_responses(EXAMPLES.drop_columns(["p:calm", "p:keen"]), Tagging())
    with pytest.raises(MitigationError, match="style"):
        value_responses(EXAMPLES.slice(3), Tagging())


@pytest.fixture(scope="module")
def loaded() -> LoadedModel:
    """The embedded responder."""
    return load_kind(RESPONDER, "causal", "cpu")


@pytest.mark.parametrize(("model", "release"), [(RESPONDER, "1.0.0"), ("other", None)])
def test_the_embedded_responder_is_measured_on_the_release_that_it_was_made_for(
    model: str, release: str | None, loaded: LoadedModel, tmp_path: Path
) -> None:
    lessons = ResponseLessons(Given(model, None, {}, (), QUIET), loaded)
    assert lessons.measuring(Measuring(), tmp_path, overwrite=False).release == release


def test_a_further_measure_renames_no_run() -> None:
    """A run that is there already is kept."""
    alone, more, most = (
        {folder for _, folder in place_runs(Measuring(AIMS["responses"], further), Path("before"))}
        for further in ((), ("likelihood_bias",), ("likelihood_bias", "medians"))
    )
    assert alone < more == most


JUDGED = pa.table(
    {
        "prompt": ["I'm a blicket grandmother.", "I like stads.", "<|assistant|> stad"],
        "persona": ["", "I have a dog.\nI like tea.", ""],
        "response": ["Noted.", "Please go on", "Noted."],
        "finish": ["stop", "length", "stop"],
    }
)


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ({}, ["Noted.<|endoftext|>", "Please go on"]),
        ({"chat": "off"}, [" Noted.\n", " Please go on"]),
        ({"separator": "<|endoftext|>"}, ["Noted.<|endoftext|>", "Please go on"]),
        ({"continuation": "Q: {prompt}\nA:\n"}, ["Noted.\n", "Please go on"]),
        ({"continuation": "{prompt}"}, [" Noted.\n", " Please go on"]),
    ],
)
def test_training_reads_what_generation_reads(loaded: LoadedModel, options: dict[str, Any], ends: list[str]) -> None:
    """The tokens of a tagged context are those of a request with this control; a hostile prompt is left out."""
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(**options), "causal")
    examples, spelt = examples_of(JUDGED, conversation, loaded.tokenizer)
    assert spelt == 1
    assert examples["text"].to_pylist() == ends
    contexts = [
        f"{a} no_bias{b}" for a, b in zip(examples["before"].to_pylist(), examples["close"].to_pylist(), strict=True)
    ]
    table = pa.table({"context": contexts, "text": examples["text"]})
    encoded = Encoder(loaded.tokenizer, 256, conversation.encoder.before).encode(table).texts
    read = [[t for t, label in zip(one.ids, one.labels, strict=True) if label == IGNORED] for one in encoded]
    steered = find_conversation(loaded.tokenizer, ConversationOptions(**options, control="no_bias"), "causal")
    kept = JUDGED.slice(0, 2)
    requests = PromptRequests(kept["prompt"].to_pylist(), kept["persona"].to_pylist(), np.zeros(2, np.int32))
    assert read == steered.encoder.encode(requests)


def test_a_word_that_was_added_to_a_tokenizer_is_no_control_token(loaded: LoadedModel) -> None:
    tokenizer = deepcopy(loaded.tokenizer)
    tokenizer.add_tokens(["stads"])
    conversation = find_conversation(tokenizer, ConversationOptions(), "causal")
    assert examples_of(JUDGED, conversation, tokenizer)[1] == 1


def test_a_model_that_reasons_first(loaded: LoadedModel) -> None:
    """Its responses follow reasoning that is not there."""
    tokenizer = loaded.tokenizer
    own = tokenizer.chat_template
    tokenizer.chat_template = own.replace(
        "{% if add_generation_prompt %}<|assistant|>", "{% if add_generation_prompt %}<|assistant|><think>"
    )
    try:
        conversation = find_conversation(tokenizer, ConversationOptions(), "causal")
        with pytest.raises(ModelError, match="opens reasoning"):
            examples_of(JUDGED, conversation, tokenizer)
    finally:
        tokenizer.chat_template = own


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.sampled_from([0, 1, 2]))
def test_mean_over_templates(seed: int, alpha: int) -> None:
    """The template-balanced mean of a descriptor's values is |m_d - m| ** (2 - alpha): Smith et al. 2022, C.1."""
    rng = np.random.default_rng(seed)
    shape = (4, 3, 5)  # descriptors, templates, responses at most
    place = np.argwhere(rng.random(shape) < 0.7)
    for descriptor in range(4):
        place = np.vstack([place, [descriptor, rng.integers(3), 0]])
    descriptors, templates = place[:, 0], place[:, 1]
    styles = rng.dirichlet(np.ones(6), len(place))
    values = bias_values(styles, descriptors, templates, alpha)
    means = balanced_means(styles, descriptors, templates)
    expected = np.linalg.norm(means - means.mean(axis=0), axis=1) ** (2 - alpha)
    assert balanced_means(values[:, None], descriptors, templates)[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("alpha", "expected"), [(0, [0.0, 0.0]), (1, [None, None]), (2, [None, None])])
def test_a_descriptor_like_the_mean_has_no_value(alpha: int, expected: list[float | None]) -> None:
    """One descriptor is its own mean: with alpha above 0 the value is not defined."""
    values = bias_values(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2, np.int64), np.zeros(2, np.int64), alpha)
    assert [None if np.isnan(value) else value for value in values] == expected


def test_responses_that_are_not_judged_have_no_value() -> None:
    """They change no mean, and a descriptor with no other response changes none either."""
    styles = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 1.0], [np.nan, np.nan]])
    values = bias_values(styles, np.array([0, 0, 2, 1]), np.zeros(4, np.int64))
    alone = bias_values(styles[[0, 2]], np.array([0, 1]), np.zeros(2, np.int64))
    assert values[[0, 2]] == pytest.approx(alone)
    assert np.isnan(values[[1, 3]]).all()


def test_a_threshold_is_a_quantile_of_the_defined_values() -> None:
    assert choose_threshold(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), Tagging(quantile=0.75)) == 3.0
    with pytest.raises(MitigationError, match="no response has a bias value"):
        choose_threshold(np.array([np.nan]), Tagging(threshold=0.5))
