"""Beam search: transformers' own, except that repeated sequences are looked for in the response alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import respond_all
from holisticbias_eval.models.generation.writing import Plain, TokenPrompts
from holisticbias_eval.models.loading.load import LoadedModel
from tiny_models import TEXTS, conversation_of, ending_of, first_samples, local_generator, tiny_loaded

NEW = 9


def beam(blocked: int | None = None) -> Decoding:
    return Decoding(
        id="beam", method="beam", beams=3, max_new_tokens=NEW, min_new_tokens=6, blocked_ngram=blocked, source="a test"
    )


def alone(loaded: LoadedModel, ids: Sequence[int], **settings: Any) -> list[int]:
    """The response of transformers' beam search, for one prompt."""
    model = loaded.model
    config = GenerationConfig(
        num_beams=3, max_new_tokens=NEW, min_new_tokens=6, do_sample=False, eos_token_id=1, pad_token_id=2, **settings
    )
    start = 1 if model.config.is_encoder_decoder else len(ids)
    with torch.no_grad():
        row = model.generate(torch.tensor([list(ids)]), generation_config=config)[0].tolist()
    return list(row[start:])


@pytest.mark.parametrize("name", ["gpt2", "llama", "t5"])
def test_it_is_transformers_own_in_any_batch(name: str) -> None:
    loaded = tiny_loaded(name)
    prompts = first_samples(TEXTS)
    made = [
        respond_all(prompts, local_generator(loaded, beam(), batch=batch, separator="</s>"), lambda _: None)
        for batch in (1, 3, 64)
    ]
    assert list(made[0].text) == list(made[1].text) == list(made[2].text)
    conversation = conversation_of(loaded, separator="</s>")
    settings = {"decoder_start_token_id": 2} if name == "t5" else {}
    for text, ids in zip(made[0].text, conversation.inputs(prompts), strict=True):
        expected = alone(loaded, ids, **settings)
        assert text == loaded.tokenizer.decode(expected, skip_special_tokens=True).strip()


def pairs(tokens: Sequence[int]) -> set[tuple[int, int]]:
    return set(pairwise(tokens))


def test_a_response_may_repeat_its_prompt_but_not_itself() -> None:
    loaded = tiny_loaded("gpt2")
    conversation = conversation_of(loaded, separator="</s>")
    first = respond_all(first_samples(TEXTS), local_generator(loaded, beam(), separator="</s>"), lambda _: None)
    parroted = [f"{text} {response}" for text, response in zip(TEXTS, first.text, strict=True)]
    decoding = beam(blocked=2)
    plain = Plain(loaded.model, decoding, ending_of(loaded, decoding, separator="</s>"))
    echoes = hidden = 0
    for ids in conversation.inputs(first_samples(parroted)):
        tokens = plain.write(TokenPrompts([ids], np.zeros((1, NEW), np.uint64)))[0]
        assert len(pairs(tokens)) == len(tokens) - 1  # no pair of tokens twice
        echoes += bool(pairs(tokens) & pairs(ids))
        hidden += bool(pairs(alone(loaded, ids, no_repeat_ngram_size=2)) & pairs(ids))
    assert echoes > 0
    assert hidden == 0
