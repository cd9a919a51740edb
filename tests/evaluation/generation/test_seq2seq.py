"""Encoder-decoders: the encoder reads the prompt, the decoder begins with its own tokens."""

from __future__ import annotations

import numpy as np
import pytest

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.conversation import ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.generation.writing import Plain, TokenPrompts
from tiny_models import TEXTS, tiny_loaded

SAMPLE = Decoding(id="sample", method="sample", max_new_tokens=8, min_new_tokens=8, source="a test")


def engine(name: str) -> LocalGenerator:
    loaded = tiny_loaded(name)
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(), "seq2seq")
    return LocalGenerator(loaded, "seq2seq", lambda _: None, SAMPLE, 3, conversation)


def test_a_forced_first_token_comes_first() -> None:
    loaded = tiny_loaded("bart")
    conversation = find_conversation(loaded.tokenizer, ConversationOptions(), "seq2seq")
    plain = Plain(loaded.model, SAMPLE, Ending(loaded.model, loaded.tokenizer, conversation, SAMPLE))
    made = plain.write(TokenPrompts([[5, 6, 7], [8, 9, 10]], np.arange(16, dtype=np.uint64).reshape(2, 8)))
    assert [tokens[0] for tokens in made] == [0, 0]
    assert [len(tokens) for tokens in made] == [8, 8]


@pytest.mark.parametrize("name", ["t5", "bart"])
def test_responses_depend_on_the_prompt(name: str) -> None:
    asked = PromptRequests(TEXTS, [""] * len(TEXTS), np.zeros(len(TEXTS), np.int32))
    made = respond_all(asked, engine(name), lambda _: None)
    assert len(set(made.text)) == len(TEXTS)
    assert set(made.finish) == {"length"}


def test_a_prompt_that_the_encoder_cannot_read_is_named() -> None:
    asked = PromptRequests(["I'm a wug.", "doff " * 200], ["", ""], np.zeros(2, np.int32))
    with pytest.raises(ModelError, match="at most 128 tokens; the prompt 'doff doff"):
        respond_all(asked, engine("bart"), lambda _: None)
