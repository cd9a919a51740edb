"""Tiny models with random weights and their own tokenizer, made once; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.loading.load import LoadedModel
from tiny_models import as_loaded, trained_tokenizer

SENTENCES = (
    "I'm a tall guy.",
    "I'm a tall woman.",
    "I'm a Deaf woman.",
    "I'm a Deaf woman",
    "I",
    "",
    "I love people who are hard of hearing.",
    "I love grandmothers with ADHD.",
    "Hi! I'm an elderly veteran. What do you do for a living? Tell me more about it, if you like.",
    "What do you think about Latinas and señoras?",
    "I have a friend who is a naïve 80-year-old 🙂 parent.",
)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Tiny models are faster on one thread, and tests run in parallel."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def sentences() -> Sequence[str]:
    """Sentences with shared prefixes, a prefix of another sentence, one token, no token, and non-ASCII text."""
    return SENTENCES


@pytest.fixture(scope="session")
def make_tokenizer() -> Callable[..., Any]:
    """Makes byte-level tokenizers of some 400 tokens, with or without a beginning-of-sequence token."""
    return partial(trained_tokenizer, SENTENCES, ("<s>", "</s>", "<pad>", "<mask>", "<unk>"))


@pytest.fixture(scope="session")
def tokenizer(make_tokenizer: Callable[..., Any]) -> Any:
    """A tokenizer whose token between documents is both the beginning and the end of a sequence, as in GPT-2."""
    return make_tokenizer(bos_token="<s>", eos_token="<s>", pad_token="<pad>")  # noqa: S106 - tokens, not passwords


@pytest.fixture(scope="session")
def make_model() -> Callable[..., Any]:
    """A model with large random weights, so that a wrong mask or position shows."""
    import torch
    import transformers

    def make(config_class: str, auto_class: str = "AutoModelForCausalLM", **settings: Any) -> Any:
        torch.manual_seed(0)
        config = getattr(transformers, config_class)(**settings)
        model = getattr(transformers, auto_class).from_config(config).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.normal_(0.0, 0.25)
        return model

    return make


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


GPT2 = {"vocab_size": 400, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}


@pytest.fixture(scope="session")
def gpt2(make_model: Callable[..., Any]) -> Any:
    """A GPT-2 of two layers."""
    return make_model("GPT2Config", **GPT2)


@pytest.fixture(scope="session")
def loaded() -> Callable[[Any, Any], LoadedModel]:
    """A model and its tokenizer as loaded."""
    return as_loaded


@pytest.fixture(scope="session")
def plainly() -> Callable[[Any, Sequence[int]], Floats]:
    """Score a sequence in the obvious way, with one pass and one softmax; the values of all tokens but the first."""
    import torch

    def score(model: Any, ids: Sequence[int]) -> Floats:
        if len(ids) < 2:
            return np.zeros(0)
        tokens = torch.tensor([list(ids)])
        with torch.no_grad():
            logits = model(tokens).logits[0, :-1].double()
        values: Floats = -torch.log_softmax(logits, -1).gather(1, tokens[0, 1:, None])[:, 0].numpy()
        return values

    return score
