"""A response depends on its request and the seed alone; it is what decoding it alone, without a cache, gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.generation.sampling import gumbel_noise, step_seeds
from holisticbias_eval.models.loading.load import LoadedModel
from known import ignore, known
from tiny_models import MODELS, TEXTS, conversation_of, first_samples, local_generator, tiny_loaded

from .test_sampling import warped

STEPS, COUNT = 6, 32
DECODINGS: dict[str, dict[str, Any]] = {
    "restricted": {"method": "sample", "temperature": 0.8, "top_k": 30, "top_p": 0.9, "min_new_tokens": 3},
    "unrestricted": {"method": "sample"},
    "greedy": {"method": "greedy", "blocked_ngram": 2},
}
EVERY_DECODING = {"gpt2", "mamba"}
"""A model that writes prompts of any lengths together, and one with a state; others have the first decoding."""
LIKE_OTHERS = {"neox", "qwen2", "t5", "blenderbot"}
"""Models that write as another one does; they are tried at night."""
NOT_TOGETHER = {"mistral", "mamba", "bloom"}  # a window shorter than the texts, a state, positions from a mask


def requests(count: int = COUNT) -> PromptRequests:
    prompts = [TEXTS[i % len(TEXTS)] for i in range(count)]
    personas = ["" if i % 3 else "I like tufas.\nI am from Blib." for i in range(count)]
    return PromptRequests(prompts, personas, (np.arange(count) // len(TEXTS)).astype(np.int32))


def decoding(name: str) -> Decoding:
    return Decoding.model_validate({"id": name, "max_new_tokens": STEPS, "source": "a test", **DECODINGS[name]})


def allowed(model: Any, decoding: Decoding, scores: torch.Tensor, response: Sequence[int]) -> torch.Tensor:
    """The scores after transformers' own processors."""
    if decoding.min_new_tokens > len(response):
        scores[:, 1] = -torch.inf
    if decoding.blocked_ngram and response:
        ids = torch.tensor([response], dtype=torch.long)
        scores = transformers.NoRepeatNGramLogitsProcessor(decoding.blocked_ngram)(ids, scores)
    forced = model.generation_config.forced_bos_token_id
    if not response and forced is not None:
        only = torch.full_like(scores, -torch.inf)
        only[:, forced] = 0.0
        return only
    return warped(scores, decoding)


def plainly(loaded: LoadedModel, decoding: Decoding, asked: PromptRequests) -> list[tuple[str, str]]:
    """Decode each request alone: one forward pass without a cache per token, noise for all tokens, one argmax."""
    model, tokenizer, conversation = loaded.model, loaded.tokenizer, conversation_of(loaded)
    seeds = step_seeds(7, asked, STEPS)
    found = []
    for row, ids in enumerate(conversation.encoder.encode(asked)):
        response: list[int] = []
        finish, text = "length", ""
        for step in range(STEPS):
            with torch.no_grad():
                if model.config.is_encoder_decoder:
                    start = [model.config.decoder_start_token_id, *response]
                    output = model(torch.tensor([ids]), decoder_input_ids=torch.tensor([start]), use_cache=False)
                else:
                    output = model(torch.tensor([[*ids, *response]]), use_cache=False)
            scores = allowed(model, decoding, output.logits[:, -1].float().clone(), response).double().numpy()
            noise = gumbel_noise(seeds[row : row + 1, step], np.arange(scores.shape[1])[None])
            token = int((scores + noise * (decoding.method == "sample")).argmax())
            if token == 1:
                finish = "stop"
                break
            response.append(token)
            text = tokenizer.decode(response, skip_special_tokens=True)
            if any(stop in text for stop in conversation.stops):
                finish, text = "stop", text[: text.index("\n")]
                break
        found.append((text.strip(), finish))
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.nightly] if name in LIKE_OTHERS else []) for name in MODELS]
)
def test_a_response_is_the_same_in_any_batch_and_alone(name: str) -> None:
    loaded = tiny_loaded(name)
    asked = requests()
    for method in DECODINGS if name in EVERY_DECODING else ("restricted",):
        results = []
        for batch, step in ((64, 1), (7, 3), (1, 8)):
            rows, notices = np.arange(0, COUNT, step), list[str]()
            generator = local_generator(loaded, decoding(method), 7, batch, notices)
            made = respond_all(asked.take(rows), generator, ignore)
            results.append(dict(zip(rows.tolist(), zip(made.text, made.finish, strict=True), strict=True)))
            assert bool(notices) == (name in NOT_TOGETHER)
        whole, *parts = results
        for part in parts:
            assert part == {row: whole[row] for row in part}
        some = np.arange(0, COUNT, 8)
        assert [whole[row] for row in some.tolist()] == plainly(loaded, decoding(method), asked.take(some))
        assert len(set(whole.values())) > 10 or method == "greedy"


def test_prompts_of_one_token_are_answered_and_of_none_refused() -> None:
    loaded, prompts = tiny_loaded("gpt2"), first_samples(["I", TEXTS[0]])
    generator = local_generator(loaded, decoding("greedy"), continuation="{prompt}")
    alone, both = (respond_all(prompts.take(rows), generator, ignore) for rows in (np.arange(1), np.arange(2)))
    assert list(alone.text) == list(both.text[:1])
    with pytest.raises(ModelError, match="the model would read nothing: the tokenizer makes no token of ''"):
        respond_all(first_samples([""]), generator, ignore)


def test_samples_and_personas_and_seeds_differ() -> None:
    loaded = tiny_loaded("gpt2")
    asked = PromptRequests(["I'm a blicket."] * 12, [""] * 6 + ["I like tufas."] * 6, np.arange(12, dtype=np.int32) % 6)
    made = respond_all(asked, local_generator(loaded, decoding("unrestricted"), 7), ignore)
    assert len(set(made.text)) == 12
    seeds = step_seeds(1, asked, 3)
    assert len(np.unique(np.stack([seeds, step_seeds(2, asked, 3)]))) == 12 * 3 * 2


def test_the_probe_counts_equal_responses() -> None:
    found = known(local_generator(tiny_loaded("qwen2"), decoding("restricted"), 7).probe(requests()))
    assert (found.tried, found.same) == (8, 8)
