from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood import causal
from holisticbias_eval.models.likelihood.batches import PackSize
from holisticbias_eval.models.likelihood.causal import PLAIN, CausalScorer
from holisticbias_eval.models.likelihood.spans import whole
from known import ignore
from tiny_models import as_loaded

from .small_models import COMMON, GPT2, SENTENCES, assert_scores, make_model, plain_values

ARCHITECTURES = yaml.safe_load(Path(__file__).with_name("architectures.yaml").read_text("utf-8"))
NEO = {"vocab_size": 400, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 128}


@pytest.mark.parametrize(
    ("config", "method", "settings"),
    [*ARCHITECTURES["tried"], *(pytest.param(*one, marks=pytest.mark.nightly) for one in ARCHITECTURES["nightly"])],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_every_architecture_gives_its_own_likelihoods(
    config: str, method: str, settings: dict[str, Any], tokenizer: Any
) -> None:
    model = make_model(config, **settings)
    notices: list[str] = []
    scorer = CausalScorer(as_loaded(model, tokenizer), notices.append, PackSize(slots=24, batch=60))
    scores = scorer.score(whole(SENTENCES), ignore)
    assert_scores(scores, plain_values(model, tokenizer, SENTENCES))
    assert scorer.method == method
    assert len(notices) == (method == PLAIN)


def test_packs_are_tried_as_full_as_they_will_be(tokenizer: Any) -> None:
    window = 64
    model = make_model("GPTNeoConfig", **NEO, attention_types=[[["global", "local"], 1]], window_size=window)
    texts = [f"{text} {more}" for text in SENTENCES if text for more in ("And you?", "Tell me!", "Why is that so?")]
    scores = CausalScorer(as_loaded(model, tokenizer), ignore).score(whole(texts), ignore)
    values = plain_values(model, tokenizer, texts)
    assert max(map(len, values)) < window < PackSize().slots
    assert_scores(scores, values)


@pytest.mark.parametrize(
    ("config", "settings"),
    [
        ("BertConfig", COMMON),
        ("RobertaConfig", COMMON | {"pad_token_id": 2}),
        ("XLNetConfig", {"vocab_size": 400, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}),
    ],
)
def test_a_model_that_looks_ahead_is_refused(config: str, settings: dict[str, Any], tokenizer: Any) -> None:
    scorer = CausalScorer(as_loaded(make_model(config, **settings), tokenizer), ignore)
    with pytest.raises(ModelError, match=r"uses the words after a word to predict it.*--kind masked"):
        scorer.score(whole(SENTENCES), ignore)


def test_a_model_that_reads_no_plain_text_is_one_line(tokenizer: Any) -> None:
    model = make_model("GPT2Config", **GPT2 | {"n_positions": 4})
    model.config.n_positions = 128
    with pytest.raises(ModelError, match=r"tiny \(GPT2LMHeadModel\) cannot read a plain text: .*IndexError"):
        CausalScorer(as_loaded(model, tokenizer), ignore).score(whole(["I'm a tall guy and a veteran."]), ignore)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.text("ab é", max_size=9), min_size=1, max_size=15), slots=st.integers(1, 40))
def test_any_texts_in_packs_of_any_size(gpt2: Any, tokenizer: Any, rows: list[str], slots: int) -> None:
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore, PackSize(slots, batch=3 * slots))
    scores = scorer.score(whole(rows), ignore)
    assert_scores(scores, plain_values(gpt2, tokenizer, rows))
    assert scorer.method == "tiled head"


def test_very_many_texts_are_scored_in_parts(gpt2: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    spans = whole([f"{start} {end}" for start in ("a b", "é", "ab a") for end in ("b", "a é", "b b a")])
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    at_once, work, done = scorer.score(spans, ignore), scorer.work(spans), list[int]()
    monkeypatch.setattr(causal, "_TEXTS_AT_ONCE", 2)
    in_parts = scorer.score(spans, done.append)
    np.testing.assert_allclose(in_parts.nll, at_once.nll, atol=1e-4, rtol=0)
    assert (in_parts.tokens.tolist(), in_parts.bytes.tolist()) == (at_once.tokens.tolist(), at_once.bytes.tolist())
    assert sum(done) == len(spans)
    assert scorer.work(spans).tokens == work.tokens
    assert work.forward < scorer.work(spans).forward < work.tokens
