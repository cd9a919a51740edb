"""A model of transformers that the caller has loaded gives what its folder gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.engines import start_generator, start_scorer
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.loading.load import adopt_model
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.stored import answers_fingerprint, store_of, stored
from known import ignore

TEXTS = ["I'm a tall guy.", "I'm a Deaf woman.", "Hi!", ""]
SHORT = Decoding(id="short", method="sample", max_new_tokens=6, top_p=0.9, source="a test")
BERT = {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
REQUESTS = PromptRequests(["I'm a guy.", "Hi!"], ["", "I like tea."], np.zeros(2, np.int32))


def loaded(folder: Path, kind: str = "CausalLM", dtype: str = "float32") -> tuple[Any, Any]:
    auto = getattr(transformers, f"AutoModelFor{kind}")
    return auto.from_pretrained(folder, dtype=dtype), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("kind", ["CausalLM", "MaskedLM"])
def test_a_loaded_model_has_the_scores_and_the_store_of_its_folder(
    kind: str, tiny_gpt2: Path, make_model: Any, make_tokenizer: Any, tmp_path: Path
) -> None:
    folder = tiny_gpt2
    if kind == "MaskedLM":
        folder = tmp_path / "bert"
        make_model("BertConfig", "AutoModelForMaskedLM", **BERT).save_pretrained(folder)
        make_tokenizer(mask_token="<mask>").save_pretrained(folder)  # noqa: S106 - a token
    spans = whole(TEXTS[:3])
    of_folder, of_object = start_scorer(str(folder), ignore), start_scorer(loaded(folder, kind), ignore)
    assert of_object.identity == of_folder.identity
    assert (of_object.kind, of_object.settings) == (of_folder.kind, of_folder.settings)
    expected = stored(of_folder, tmp_path, ignore).score(spans, ignore)
    np.testing.assert_array_equal(of_object.score(spans, ignore).nll, expected.nll)
    assert store_of(of_object, tmp_path, ignore).read().num_rows == 3


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_a_loaded_model_is_not_copied_without_need(device: str, tiny_gpt2: Path) -> None:
    model, tokenizer = loaded(tiny_gpt2)
    assert adopt_model(model, tokenizer, device).model is model


def test_a_loaded_model_has_the_responses_of_its_folder(tiny_gpt2: Path) -> None:
    made = [start_generator(source, ignore, SHORT, 1) for source in (str(tiny_gpt2), loaded(tiny_gpt2))]
    assert answers_fingerprint(made[0]) == answers_fingerprint(made[1])
    first, second = (respond_all(REQUESTS, generator, ignore).text for generator in made)
    assert first == second


def test_rounded_weights_are_scored_in_float32_and_the_callers_model_stays_as_it_is(
    tiny_gpt2: Path, tmp_path: Path
) -> None:
    model, tokenizer = loaded(tiny_gpt2, dtype="bfloat16")
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    scores = start_scorer((model, tokenizer), ignore).score(whole(TEXTS), ignore)
    of_folder = start_scorer(str(tmp_path), ignore)
    np.testing.assert_array_equal(scores.nll, of_folder.score(whole(TEXTS), ignore).nll)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}

    notices: list[str] = []
    rounded = start_scorer((model, tokenizer), notices.append, ModelSettings(dtype="bfloat16"))
    rounded.score(whole(TEXTS), ignore)
    assert rounded.identity.dtype == "bfloat16"
    assert rounded.identity.weights_sha256 == of_folder.identity.weights_sha256
    assert "bfloat16 instead of float32" in notices[0]


def test_a_loaded_model_that_cannot_be_used_is_one_line(tiny_gpt2: Path) -> None:
    model, tokenizer = loaded(tiny_gpt2)
    with pytest.raises(ModelError, match=r"is in training mode.*call model\.eval\(\) first"):
        start_scorer((model.train(), tokenizer), ignore)
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        start_scorer((model.eval(), tokenizer), ignore, ModelSettings(device="cuda:99"))
    with pytest.raises(EvaluationError, match="already loaded runs in this process: leave --engine ray out"):
        start_scorer((model, tokenizer), ignore, ModelSettings(engine="ray"))
    with pytest.raises(EvaluationError, match="the api engine needs --api-base"):
        start_scorer((model, tokenizer), ignore, ModelSettings(engine="api", api_base="http://127.0.0.1:9/v1"))
    tokenizer.add_tokens([f"more{i}" for i in range(9)])
    with pytest.raises(ModelError, match="they do not match"):
        start_scorer((model, tokenizer), ignore)
    model.transformer.wte.weight.data[0, 0] = float("nan")
    with pytest.raises(ModelError, match="not finite"):
        start_scorer((model, transformers.AutoTokenizer.from_pretrained(tiny_gpt2)), ignore)
