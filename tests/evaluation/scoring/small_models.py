"""Tiny models with random weights and their own tokenizers, and the obvious way to score with them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.likelihood.scorer import Scores
from tiny_models import trained_tokenizer

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
"""Sentences with shared prefixes, a prefix of another sentence, one token, no token, and non-ASCII text."""
GPT2 = {"vocab_size": 400, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}
COMMON = {
    "vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
    "max_position_embeddings": 128,
}  # fmt: skip
make_tokenizer = partial(trained_tokenizer, SENTENCES, ("<s>", "</s>", "<pad>", "<mask>", "<unk>"))
"""A byte-level tokenizer of some 400 tokens, with the special tokens that are named."""


def make_model(config_class: str, auto_class: str = "AutoModelForCausalLM", /, **settings: Any) -> Any:
    """A model with large random weights, so that a wrong mask or position shows."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, config_class)(**settings)
    model = getattr(transformers, auto_class).from_config(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.25)
    return model


def plainly(model: Any, ids: Sequence[int]) -> Floats:
    """Score a sequence with one pass and one softmax; the values of all tokens but the first."""
    import torch

    if len(ids) < 2:
        return np.zeros(0)
    tokens = torch.tensor([list(ids)])
    with torch.no_grad():
        logits = model(tokens).logits[0, :-1].double()
    values: Floats = -torch.log_softmax(logits, -1).gather(1, tokens[0, 1:, None])[:, 0].numpy()
    return values


def plain_values(model: Any, tokenizer: Any, texts: Sequence[str], lead: Sequence[int] | None = None) -> list[Floats]:
    """The values of the tokens of each text after some tokens, or after the beginning-of-sequence token."""
    before = [tokenizer.bos_token_id] if lead is None else lead
    rows = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    return [plainly(model, [*before, *row]) for row in rows]


def assert_scores(scores: Scores, values: Sequence[Sequence[float] | Floats]) -> None:
    """Texts have the sums of these values of their tokens, and as many tokens."""
    np.testing.assert_allclose(scores.nll, [sum(own) for own in values], atol=1e-4, rtol=0)
    assert scores.tokens.tolist() == [len(own) for own in values]


def plain_part(model: Any, tokenizer: Any, text: str, start: int, stop: int, lead: Sequence[int] = ()) -> list[float]:
    """The values of the tokens of a text that overlap a range of characters; NaN for a first token after nothing."""
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    values = [*([] if lead else [np.nan]), *plainly(model, [*lead, *encoded["input_ids"]])]
    places = zip(values, encoded["offset_mapping"], strict=True)
    return [value for value, (begin, end) in places if end > start and begin < stop]
