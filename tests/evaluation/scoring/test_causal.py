from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood import causal
from holisticbias_eval.models.likelihood.batches import PackSize
from holisticbias_eval.models.likelihood.causal import PLAIN, CausalScorer
from holisticbias_eval.models.likelihood.spans import whole
from known import ignore
from tiny_models import as_loaded

from .small_models import COMMON, GPT2, SENTENCES, make_model, plainly

GROUPED = COMMON | {"num_key_value_heads": 2}
HEADED = GROUPED | {"head_dim": 8}
TILED, MODEL = "tiled head", "whole model"
FALCON = {key: value for key, value in COMMON.items() if key != "intermediate_size"}
NEO = {"vocab_size": 400, "hidden_size": 32, "num_layers": 2, "num_heads": 4, "max_position_embeddings": 128}
MODERN = COMMON | dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id", "cls_token_id", "sep_token_id"), 2)
SLIDING = ["sliding_attention", "full_attention"]
ARCHITECTURES: list[tuple[str, dict[str, Any], str]] = [
    ("GPT2Config", GPT2, TILED),
    ("GPTJConfig", GPT2 | {"rotary_dim": 4}, TILED),
    ("LlamaConfig", GROUPED, TILED),
    ("OPTConfig", COMMON | {"ffn_dim": 64, "word_embed_proj_dim": 16}, TILED),
    # what comes after the body: scales, caps, other heads
    ("Gemma2Config", HEADED | {"query_pre_attn_scalar": 8}, MODEL),
    ("GraniteConfig", GROUPED | {"logits_scaling": 8.0, "residual_multiplier": 0.3}, MODEL),
    ("CohereConfig", GROUPED | {"logit_scale": 0.3}, MODEL),
    ("BertConfig", COMMON | {"is_decoder": True}, MODEL),
    # where a position comes from
    ("BloomConfig", {"vocab_size": 400, "hidden_size": 32, "n_layer": 2, "n_head": 4}, PLAIN),
    ("FalconConfig", FALCON | {"alibi": True}, PLAIN),
    ("RobertaConfig", COMMON | {"is_decoder": True}, PLAIN),
    # windows shorter than the sentences
    ("MistralConfig", GROUPED | {"sliding_window": 5, "attn_implementation": "eager"}, PLAIN),
    ("GPTNeoConfig", NEO | {"attention_types": [[["global", "local"], 1]], "window_size": 8}, PLAIN),
    (
        "Llama4TextConfig",
        HEADED | {"attention_chunk_size": 8, "layer_types": ["chunked_attention", "full_attention"],
                  "num_local_experts": 4, "intermediate_size_mlp": 64},
        PLAIN,
    ),
    # experts, and what is read in turn
    (
        "DeepseekV3Config",
        COMMON | {"num_key_value_heads": 4, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 2,
                  "topk_group": 1, "first_k_dense_replace": 1, "kv_lora_rank": 8, "q_lora_rank": 16, "head_dim": 4,
                  "qk_rope_head_dim": 4, "qk_nope_head_dim": 4, "v_head_dim": 8, "moe_intermediate_size": 32},
        TILED,
    ),
    (
        "MambaConfig",
        {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
        PLAIN,
    ),
]  # fmt: skip
MORE: list[tuple[str, dict[str, Any], str]] = [
    ("GPTBigCodeConfig", GPT2, TILED),
    ("CodeGenConfig", GPT2 | {"rotary_dim": 4}, TILED),
    ("GPTNeoConfig", NEO | {"attention_types": [[["global"], 2]]}, TILED),
    ("GPTNeoXConfig", COMMON, TILED),
    ("OPTConfig", COMMON | {"ffn_dim": 64, "word_embed_proj_dim": 32}, TILED),
    ("MistralConfig", GROUPED | {"sliding_window": None}, TILED),
    ("MixtralConfig", GROUPED | {"num_local_experts": 4, "sliding_window": None}, TILED),
    ("Qwen2Config", GROUPED, TILED),
    ("Qwen3Config", HEADED, TILED),
    ("GemmaConfig", HEADED, TILED),
    ("PhiConfig", COMMON, TILED),
    ("Phi3Config", GROUPED | {"pad_token_id": 2}, TILED),
    ("OlmoConfig", GROUPED, TILED),
    ("Olmo2Config", GROUPED, TILED),
    ("CohereConfig", GROUPED, MODEL),
    ("StableLmConfig", GROUPED, TILED),
    ("Starcoder2Config", GROUPED | {"sliding_window": None}, TILED),
    ("GraniteConfig", GROUPED, TILED),
    ("NemotronConfig", HEADED, TILED),
    ("FalconConfig", FALCON | {"alibi": False}, TILED),
    ("MptConfig", {"vocab_size": 400, "d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 128}, PLAIN),
    ("GraniteMoeConfig", GROUPED | {"logits_scaling": 6.0, "num_local_experts": 4}, MODEL),
    ("Gemma2Config", HEADED | {"query_pre_attn_scalar": 8, "final_logit_softcapping": 5.0}, MODEL),
    ("Gemma3TextConfig", HEADED | {"query_pre_attn_scalar": 8, "final_logit_softcapping": 5.0}, MODEL),
    ("NanoChatConfig", GROUPED, MODEL),
    ("LlamaConfig", GROUPED | {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}, TILED),
    ("GPTNeoXConfig", COMMON | {"use_parallel_residual": False, "tie_word_embeddings": True}, TILED),
    ("ModernBertDecoderConfig", MODERN, MODEL),
    ("XLMConfig", {"n_words": 400, "emb_dim": 32, "n_layers": 2, "n_heads": 4, "causal": True}, PLAIN),
    ("Gemma2Config", HEADED | {"query_pre_attn_scalar": 8, "sliding_window": 5}, PLAIN),
    ("Gemma3TextConfig", HEADED | {"sliding_window": 5, "layer_types": SLIDING}, PLAIN),
    ("Cohere2Config", GROUPED | {"sliding_window": 5, "layer_types": SLIDING}, PLAIN),
    ("Qwen3Config", HEADED | {"use_sliding_window": True, "sliding_window": 5, "layer_types": SLIDING}, PLAIN),
    ("Exaone4Config", GROUPED | {"sliding_window": 5, "layer_types": SLIDING}, PLAIN),
    ("Olmo3Config", GROUPED | {"sliding_window": 5, "layer_types": SLIDING}, PLAIN),
    ("GptOssConfig", HEADED | {"sliding_window": 5, "layer_types": SLIDING, "num_local_experts": 4}, PLAIN),
    ("ModernBertDecoderConfig", MODERN | {"local_attention": 8, "global_attn_every_n_layers": 2}, PLAIN),
    ("OlmoeConfig", GROUPED | {"num_experts": 4, "num_experts_per_tok": 2}, TILED),
    ("Qwen3MoeConfig", HEADED | {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}, TILED),
    ("RwkvConfig", {"vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32}, PLAIN),
    ("RecurrentGemmaConfig", HEADED | {"attention_window_size": 8, "lru_width": 32, "num_hidden_layers": 3}, PLAIN),
]  # fmt: skip
"""Architectures whose way is that of another one; they are tried at night."""


def expected(model: Any, tokenizer: Any, texts: Sequence[str]) -> list[Floats]:
    """Score every token after the beginning-of-sequence token in the obvious way."""
    rows = [[tokenizer.bos_token_id, *tokenizer(t, add_special_tokens=False)["input_ids"]] for t in texts]
    return [plainly(model, row) for row in rows]


@pytest.mark.parametrize(
    ("config", "settings", "method"),
    [*ARCHITECTURES, *(pytest.param(*one, marks=pytest.mark.nightly) for one in MORE)],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_every_architecture_gives_its_own_likelihoods(
    config: str, settings: dict[str, Any], method: str, tokenizer: Any
) -> None:
    model = make_model(config, **settings)
    notices: list[str] = []
    scorer = CausalScorer(as_loaded(model, tokenizer), notices.append, PackSize(slots=24, batch=60))
    scores = scorer.score(whole(SENTENCES), ignore)
    values = expected(model, tokenizer, SENTENCES)
    np.testing.assert_allclose(scores.nll, [v.sum() for v in values], atol=1e-4, rtol=0)
    assert scores.tokens.tolist() == [len(v) for v in values]
    assert scorer.method == method
    assert len(notices) == (method == PLAIN)


def test_packs_are_tried_as_full_as_they_will_be(tokenizer: Any) -> None:
    window = 64
    model = make_model("GPTNeoConfig", **NEO, attention_types=[[["global", "local"], 1]], window_size=window)
    texts = [f"{text} {more}" for text in SENTENCES if text for more in ("And you?", "Tell me!", "Why is that so?")]
    scores = CausalScorer(as_loaded(model, tokenizer), ignore).score(whole(texts), ignore)
    values = expected(model, tokenizer, texts)
    assert max(map(len, values)) < window < PackSize().slots
    np.testing.assert_allclose(scores.nll, [v.sum() for v in values], atol=1e-4, rtol=0)


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
    values = [v.sum() for v in expected(gpt2, tokenizer, rows)]
    np.testing.assert_allclose(scores.nll, values, atol=1e-4, rtol=0)
    assert scorer.method == TILED


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
