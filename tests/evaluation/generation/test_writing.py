"""Writing responses: what ends one, the settings of the model, encoder-decoders, and beams as those of transformers."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from transformers import GenerationConfig

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, Responses, respond_all
from holisticbias_eval.models.generation.sampling import step_seeds
from holisticbias_eval.models.generation.writing import Plain, Together, TokenPrompts
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.tokenizers import decoder_start
from known import ignore
from tiny_models import TEXTS, conversation_of, ending_of, first_samples, local_generator, tiny_loaded

SAMPLE = Decoding(id="sample", method="sample", max_new_tokens=8, source="a test")


def asked() -> PromptRequests:
    return PromptRequests([*TEXTS] * 3, [""] * 24, np.arange(24, dtype=np.int32))


def respond(loaded: LoadedModel, decoding: Decoding = SAMPLE, **options: Any) -> Responses:
    return respond_all(asked(), local_generator(loaded, decoding, **options), ignore)


def favouring(token: int, by: float) -> LoadedModel:
    """A GPT-2 whose head favours a token."""
    loaded = tiny_loaded("gpt2")
    model = loaded.model
    head = torch.nn.Linear(32, 400)
    head.weight.data = model.lm_head.weight.data.clone()
    head.bias.data.zero_()[token] = by
    model.lm_head = head
    return loaded


def test_an_end_token_ends_a_response_and_is_not_part_of_it() -> None:
    loaded = favouring(1, 1000.0)
    made = respond(loaded)
    assert set(made.text) == {""}
    assert set(made.finish) == {"stop"}
    assert made.tokens.tolist() == [0] * 24
    longer = respond(loaded, SAMPLE.model_copy(update={"min_new_tokens": 5}))
    assert longer.tokens.tolist() == [5] * 24
    assert set(longer.finish) == {"stop"}
    never = respond(loaded, WHOLE)
    assert (set(never.tokens.tolist()), set(never.finish)) == ({8}, {"length"})


@pytest.mark.parametrize("key", ["suppress_tokens", "begin_suppress_tokens"])
def test_suppressed_tokens_do_not_come(key: str) -> None:
    loaded = favouring(77, 1000.0)
    setattr(loaded.model.generation_config, key, [77])
    together = Together(loaded.model, SAMPLE, ending_of(loaded, SAMPLE))
    tokens = together.write(TokenPrompts(conversation_of(loaded).encoder.encode(asked()), step_seeds(3, asked(), 8)))
    assert not any(77 in row[:1] for row in tokens)
    assert any(77 in row for row in tokens) == (key == "begin_suppress_tokens")


def test_other_settings_of_the_model_are_not_used() -> None:
    expected = respond(tiny_loaded("mistral"))
    loaded = tiny_loaded("mistral")
    settings = loaded.model.generation_config
    settings.temperature, settings.top_k, settings.no_repeat_ngram_size, settings.num_beams = 0.1, 1, 1, 4
    assert list(respond(loaded).text) == list(expected.text)


@pytest.mark.parametrize(
    ("name", "prompt", "says"),
    [
        ("gpt2", "wug " * 140, r"at most 128 tokens; the prompt 'wug wug .*max_new_tokens"),
        ("gpt2", "a " * 500, "has 506 and its response up to 8"),
        ("gpt2", "a " * 100_000, "has 200,000 characters: leave"),  # before its tokens are made
        ("bart", "doff " * 200, "at most 128 tokens; the prompt 'doff doff"),
    ],
    ids=lambda value: value[:9],
)
def test_a_prompt_without_room_for_a_response_is_named(name: str, prompt: str, says: str) -> None:
    generator = local_generator(tiny_loaded(name), SAMPLE)
    for ask in (lambda asked: respond_all(asked, generator, ignore), generator.probe):
        with pytest.raises(ModelError, match=says):
            ask(first_samples(["I'm a blicket.", prompt]))


def test_a_model_whose_scores_are_not_numbers_is_refused() -> None:
    loaded = tiny_loaded("gpt2")
    loaded.model.transformer.ln_f.weight.data[3] = np.nan
    with pytest.raises(ModelError, match="no finite score"):
        respond(loaded)


def test_no_requests_have_no_responses_and_no_probe() -> None:
    engine = local_generator(tiny_loaded("gpt2"), SAMPLE)
    nothing = asked().take(np.zeros(0, np.int64))
    assert len(respond_all(nothing, engine, ignore)) == 0
    assert engine.probe(nothing) is None


def test_a_response_is_cut_before_the_text_that_ends_it() -> None:
    loaded = favouring(tiny_loaded("gpt2").tokenizer.convert_tokens_to_ids("Ċ"), 4.0)
    notices: list[str] = []
    made = respond(loaded, continuation="{prompt}\n", notices=notices)
    assert notices == [], "responses that go on are still written together"
    assert not any("\n" in text for text in made.text)
    assert {"stop", "length"} == set(made.finish)
    tokens = [len(loaded.tokenizer(text)["input_ids"]) for text in made.text]
    assert all(count >= 1 for count, finish in zip(made.tokens, made.finish, strict=True) if finish == "stop")
    assert any(count < 8 for count in tokens)
    assert list(respond(loaded, continuation="{prompt}\n", batch=1).text) == list(made.text)


def test_every_end_token_of_the_models_settings_counts() -> None:
    loaded = favouring(77, 1000.0)
    assert set(respond(loaded).finish) == {"length"}
    loaded.model.generation_config.eos_token_id = [1, 77]
    assert set(respond(loaded).finish) == {"stop"}


WHOLE = SAMPLE.model_copy(update={"min_new_tokens": 8})
TOKENS = ("eos_token_id", "suppress_tokens", "begin_suppress_tokens", "forced_bos_token_id")


@pytest.mark.parametrize("name", TOKENS)
def test_a_token_that_the_model_lacks_never_comes(name: str) -> None:
    """Some settings say -1 for no token, or name a token of the vocabulary that a model had before it was cut."""
    loaded = tiny_loaded("gpt2")
    usual = ending_of(loaded, WHOLE).settings
    setattr(loaded.model.generation_config, name, [-1, 400])
    ending = ending_of(loaded, WHOLE)
    assert ending.settings == usual
    scores = torch.zeros(1, 400)
    ending.mask(scores, 0)
    assert [token for token in range(400) if not scores[0, token].isfinite()] == [1]


@pytest.mark.parametrize("value", ["12", 1.5, [1, "a"], [[1]], {"a": 1}])
def test_an_end_that_is_not_a_token_is_refused(value: object) -> None:
    loaded = tiny_loaded("gpt2")
    loaded.model.generation_config.eos_token_id = value
    with pytest.raises(ModelError, match=r"its eos_token_id is .*, not the number of a token"):
        ending_of(loaded, WHOLE)


@pytest.mark.parametrize(("value", "expected"), [(-1, 2), (400, 2), ([5], 5), (None, 2)])
def test_the_first_token_of_a_decoder_is_one_of_the_model(value: object, expected: int) -> None:
    model = tiny_loaded("bart").model
    model.generation_config.decoder_start_token_id = value
    assert decoder_start(model) == expected
    model.generation_config.decoder_start_token_id = "1"  # noqa: S105 - no password
    with pytest.raises(ModelError, match="its decoder_start_token_id is '1', not the number of a token"):
        decoder_start(model)


def test_a_forced_first_token_comes_first() -> None:
    loaded = tiny_loaded("bart")
    plain = Plain(loaded.model, WHOLE, ending_of(loaded, WHOLE))
    made = plain.write(TokenPrompts([[5, 6, 7], [8, 9, 10]], np.arange(16, dtype=np.uint64).reshape(2, 8)))
    assert [tokens[0] for tokens in made] == [0, 0]
    assert [len(tokens) for tokens in made] == [8, 8]


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


@pytest.mark.parametrize("name", ["gpt2", "t5"])
def test_beams_are_those_of_transformers_in_any_batch(name: str) -> None:
    loaded = tiny_loaded(name)
    prompts = first_samples(TEXTS)
    made = [
        respond_all(prompts, local_generator(loaded, beam(), batch=batch, separator="</s>"), ignore)
        for batch in (3, 64)
    ]
    assert list(made[0].text) == list(made[1].text)
    conversation = conversation_of(loaded, separator="</s>")
    settings = {"decoder_start_token_id": 2} if name == "t5" else {}
    for text, ids in zip(made[0].text, conversation.encoder.encode(prompts), strict=True):
        expected = alone(loaded, ids, **settings)
        assert text == loaded.tokenizer.decode(expected, skip_special_tokens=True).strip()


def test_a_response_may_repeat_its_prompt_but_not_itself() -> None:
    loaded = tiny_loaded("gpt2")
    conversation = conversation_of(loaded, separator="</s>")
    first = respond_all(first_samples(TEXTS), local_generator(loaded, beam(), separator="</s>"), ignore)
    parroted = [f"{text} {response}" for text, response in zip(TEXTS, first.text, strict=True)]
    decoding = beam(blocked=2)
    plain = Plain(loaded.model, decoding, ending_of(loaded, decoding, separator="</s>"))
    echoes = hidden = 0
    for ids in conversation.encoder.encode(first_samples(parroted)):
        tokens = plain.write(TokenPrompts([ids], np.zeros((1, NEW), np.uint64)))[0]
        assert len(set(pairwise(tokens))) == len(tokens) - 1  # no pair of tokens twice
        echoes += bool(set(pairwise(tokens)) & set(pairwise(ids)))
        hidden += bool(set(pairwise(alone(loaded, ids, no_repeat_ngram_size=2))) & set(pairwise(ids)))
    assert echoes > 0
    assert hidden == 0
