"""Classifiers of transformers: probabilities, batches, which change nothing, and what is refused."""

import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.loading.running import in_float64
from holisticbias_eval.readers.classifier import Classifier
from holisticbias_eval.readers.engines import start_classifier
from holisticbias_eval.readers.engines.transformers import TOKENS, batches, blocks

from .conftest import TEXTS

Write = Callable[..., Path]


def started(card: Path, notices: list[str] | None = None) -> Classifier:
    notices = [] if notices is None else notices
    return start_classifier(str(card), notices.append, device="cpu")


def judged(classifier: Classifier, texts: Sequence[str]) -> Floats:
    values = np.full((len(texts), len(classifier.card.labels)), -1.0)
    for rows, found in classifier.classify(texts, lambda done: None):
        assert (values[rows] == -1.0).all()
        values[rows] = found
    return values


@cache
def loaded(folder: Path) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    return AutoModelForSequenceClassification.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)


def plainly(folder: Path, text: str, activation: str, float64: bool = False) -> Floats:
    """One text, one forward pass, and the formula of the activation in NumPy."""
    model, tokenizer = loaded(folder)
    inputs = tokenizer(text, return_tensors="pt", split_special_tokens=True)
    with torch.no_grad(), in_float64(model) if float64 else nullcontext():
        logits = model(**inputs).logits[0].double().numpy()
    if activation == "sigmoid":
        return np.asarray(1 / (1 + np.exp(-logits)))
    powers = np.exp(logits - logits.max())
    return np.asarray(powers / powers.sum())


def own_rounding(folder: Path, texts: Sequence[str]) -> float:
    """The largest error of the plain model in float32, which outlier dimensions and the processor's threads decide."""
    single, exact = (np.array([plainly(folder, text, "softmax", d) for text in texts]) for d in (False, True))
    return float(np.abs(single - exact).max())


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_probabilities_are_those_of_the_plain_model(
    architecture: str, activation: str, card: Write, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(architecture)
    values = judged(started(card(model=str(folder), activation=activation)), TEXTS)
    expected = np.array([plainly(folder, text, activation) for text in TEXTS])
    assert np.ptp(expected, axis=0).min() > 0.02  # the texts differ
    np.testing.assert_allclose(values, expected, atol=1e-6)


@pytest.mark.parametrize("architecture", ["bert", "roberta"])
def test_a_text_has_the_same_probabilities_in_any_batch(
    architecture: str, card: Write, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(architecture)
    classifier = started(card(model=str(folder)))
    texts = [f"{text} {word}" for word in ("lake", "") for text in TEXTS]
    together = judged(classifier, texts)
    rounding = max(1e-6, own_rounding(folder, texts))
    assert rounding < 1e-5
    np.testing.assert_allclose(judged(classifier, texts[::-1])[::-1], together, atol=rounding)
    np.testing.assert_allclose(np.concatenate([judged(classifier, [text]) for text in texts]), together, atol=rounding)


def test_special_tokens_in_a_text_are_text(card: Write, bert: Path) -> None:
    values = judged(started(card(model=str(bert))), ["a [SEP] b", "a [ sep ] b", "a [PAD] b", "a [ pad ] b"])
    np.testing.assert_allclose(values[[0, 2]], values[[1, 3]], atol=1e-6)


def test_longer_texts_are_cut_and_counted(card: Write, roberta: Path) -> None:
    notices: list[str] = []
    classifier = started(card(model=str(roberta)), notices)
    start = "a" + " a" * 125  # with two special tokens exactly what 130 positions leave to a RoBERTa: 128
    values = judged(classifier, [start, f"{start} b", f"{start} c d", "ok"])
    assert notices == ["made-up reads 128 tokens: 2 longer texts are cut at their end"]
    np.testing.assert_allclose(values[1], values[0], atol=1e-6)
    np.testing.assert_allclose(values[2], values[0], atol=1e-6)


def test_a_decoder_without_a_padding_token_judges_batches(card: Write, tiny_gpt2: Path, tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2ForSequenceClassification

    folder = tmp_path / "gpt2"
    shutil.copytree(tiny_gpt2, folder)
    torch.manual_seed(0)
    config = GPT2Config.from_pretrained(folder, id2label={0: "kind", 1: "curious", 2: "grumpy"})
    GPT2ForSequenceClassification(config).save_pretrained(folder)
    classifier = started(card(model="gpt2"))
    texts = ["abc", "abd", "a longer text", ""]
    values = judged(classifier, texts)
    assert np.isnan(values[3]).all()  # no token
    for row, text in zip(values[:3], texts, strict=False):
        np.testing.assert_allclose(row, plainly(folder, text, "softmax"), atol=1e-6)


def test_a_card_that_does_not_fit_the_model(card: Write, bert: Path) -> None:
    with pytest.raises(EvaluationError, match="has 2 labels, the model has 3: kind, curious, grumpy"):
        started(card(model=str(bert), labels=["kind", "curious"]))
    with pytest.raises(EvaluationError, match="has 'curious' as label 0, the model has 'kind'"):
        started(card(model=str(bert), labels=["curious", "kind", "grumpy"]))
    with pytest.raises(EvaluationError, match="a revision is for a Hub repository"):
        started(card(model=str(bert), revision="0" * 40))


def test_a_card_may_name_labels_that_the_model_only_numbers(card: Write, save_classifier: Callable[..., Path]) -> None:
    folder = save_classifier("Bert", id2label={i: f"LABEL_{i}" for i in range(3)}, label2id=None)
    assert started(card(model=str(folder), labels=["a", "b", "c"])).card.labels == ("a", "b", "c")


def test_an_activation_that_the_model_contradicts_is_noticed(card: Write, save_classifier: Callable[..., Path]) -> None:
    notices: list[str] = []
    folder = str(save_classifier("Bert", problem_type="multi_label_classification"))
    started(card(model=folder, activation="sigmoid"), notices)
    assert not notices
    started(card(model=folder, activation="softmax"), notices)
    assert notices == [
        "the card of made-up has the activation softmax, its model says multi_label_classification: check it"
    ]


def test_pickled_weights_are_refused(card: Write, bert: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file

    folder = Path(shutil.copytree(bert, tmp_path / "pickled"))
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(EvaluationError, match="no safetensors weights, and pickled weights are never loaded"):
        started(card(model=str(folder)))


def test_a_repositorys_own_code_never_runs(card: Write, bert: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(bert, tmp_path / "custom"))
    config = json.loads((folder / "config.json").read_text("utf-8"))
    auto = dict.fromkeys(("AutoConfig", "AutoModelForSequenceClassification"), "own.Own")
    config |= {"model_type": "own", "auto_map": auto}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: ...\n", "utf-8")
    with pytest.raises(EvaluationError, match="its own code, which is never run here"):
        started(card(model=str(folder)))
    assert not (tmp_path / "ran").exists()


def test_a_language_model_is_not_a_classifier(card: Write, tiny_gpt2: Path) -> None:
    with pytest.raises(EvaluationError, match=r"its weights lack score\.weight: the checkpoint is incomplete"):
        started(card(model=str(tiny_gpt2), labels=["a", "b"]))


def test_settings_follow_weights_tokenizer_and_configuration(card: Write, bert: Path, tmp_path: Path) -> None:
    def settings(folder: Path) -> dict[str, Any]:
        found = dict(started(card(model=str(folder))).settings)
        del found["classifier_model"]
        return found

    before = settings(bert)
    assert before == settings(Path(shutil.copytree(bert, tmp_path / "same")))
    other = Path(shutil.copytree(bert, tmp_path / "other"))
    content = json.loads((other / "tokenizer.json").read_text("utf-8"))
    content["normalizer"] = None
    (other / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    config = json.loads((other / "config.json").read_text("utf-8"))
    (other / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 0.1}), "utf-8")
    changed = {key for key, value in settings(other).items() if value != before[key]}
    assert changed == {"classifier_tokenizer_sha256", "classifier_config_sha256"}


def test_batches() -> None:
    def found(lengths: list[int], *, padded: bool = True) -> list[tuple[int, int]]:
        return [(batch.start, batch.stop) for batch in batches(np.array(lengths, np.int64), padded=padded)]

    assert found([10, 9, 8, 7, 7]) == [(0, 3), (3, 5)]  # 8 is 0.8 of 10
    assert found([10, 9, 9, 7], padded=False) == [(0, 1), (1, 3), (3, 4)]
    assert found([]) == []
    assert found([2 * TOKENS] * 2) == [(0, 1), (1, 2)]
    assert found([TOKENS // 2] * 3) == [(0, 2), (2, 3)]


@given(lengths=st.lists(st.integers(0, 600), max_size=80), padded=st.booleans())
def test_every_sequence_is_in_one_batch_of_similar_lengths(lengths: list[int], padded: bool) -> None:
    (rows,) = blocks(np.array(lengths)) if lengths else (np.zeros(0, np.int64),)
    ordered = np.array(lengths, np.int64)[rows]
    assert (np.diff(ordered) <= 0).all()
    found = list(batches(ordered, padded=padded))
    assert [i for batch in found for i in range(batch.start, batch.stop)] == list(range(np.count_nonzero(ordered)))
    for batch in found:
        longest, shortest = ordered[batch.start], ordered[batch.stop - 1]
        assert longest * (batch.stop - batch.start) <= max(TOKENS, longest)
        assert shortest >= (0.8 if padded else 1) * longest
