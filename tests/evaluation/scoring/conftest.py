"""A tiny GPT-2, and a tiny model like a trained one: peaked, with outlier dimensions."""

from typing import Any

import pytest

from .small_models import GPT2, make_model, make_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """A tokenizer whose token between documents is both the beginning and the end of a sequence, as in GPT-2."""
    return make_tokenizer(bos_token="<s>", eos_token="<s>", pad_token="<pad>")  # noqa: S106 - tokens, not passwords


@pytest.fixture(scope="session")
def trained_like() -> Any:
    """A model whose numbers behave like those of a trained one, which small random weights do not.

    Thirty thin layers, grouped queries and a tied head; two dimensions of the
    residual stream that grow to some fifty times the others and that the
    normalisation layers shrink again; peaked distributions, so that a sentence
    costs 40 to 120 nats. Rounding in float32 moves such sums by 1e-3 nats.
    """
    import torch
    import transformers

    torch.manual_seed(1)
    config = transformers.LlamaConfig(
        vocab_size=400, hidden_size=48, num_hidden_layers=30, num_attention_heads=6, num_key_value_heads=2,
        intermediate_size=96, max_position_embeddings=128, tie_word_embeddings=True,
    )  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_config(config).eval()
    outliers, growth = slice(0, 2), 20.0
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.3)
            elif "layernorm" in name:
                parameter[2:] *= growth**0.5
        for layer in model.model.layers[:3]:
            layer.mlp.down_proj.weight[outliers] *= growth
        model.model.norm.weight *= 5.0
        model.model.norm.weight[outliers] *= 0.004
    return model


@pytest.fixture(scope="session")
def gpt2() -> Any:
    """A GPT-2 of two layers."""
    return make_model("GPT2Config", **GPT2)
