"""Encoder-decoders: the encoder reads the prompt, the decoder begins with its own tokens."""

from __future__ import annotations

import numpy as np
import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import respond_all
from holisticbias_eval.models.generation.writing import Plain, TokenPrompts
from tiny_models import TEXTS, ending_of, first_samples, local_generator, tiny_loaded

SAMPLE = Decoding(id="sample", method="sample", max_new_tokens=8, min_new_tokens=8, source="a test")


def test_a_forced_first_token_comes_first() -> None:
    loaded = tiny_loaded("bart")
    plain = Plain(loaded.model, SAMPLE, ending_of(loaded, SAMPLE))
    made = plain.write(TokenPrompts([[5, 6, 7], [8, 9, 10]], np.arange(16, dtype=np.uint64).reshape(2, 8)))
    assert [tokens[0] for tokens in made] == [0, 0]
    assert [len(tokens) for tokens in made] == [8, 8]


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_responses_depend_on_the_prompt(name: str) -> None:
    made = respond_all(first_samples(TEXTS), local_generator(tiny_loaded(name), SAMPLE), lambda _: None)
    assert len(set(made.text)) == len(TEXTS)
    assert set(made.finish) == {"length"}


def test_a_prompt_that_the_encoder_cannot_read_is_named() -> None:
    asked = first_samples(["I'm a wug.", "doff " * 200])
    with pytest.raises(ModelError, match="at most 128 tokens; the prompt 'doff doff"):
        respond_all(asked, local_generator(tiny_loaded("bart"), SAMPLE), lambda _: None)
