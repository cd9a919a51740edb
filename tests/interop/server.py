"""Score and answer with llama-cpp-python's server: server.py PYTHON, where PYTHON has that package.

The unchanged server must be refused, because its log-probabilities are shifted by
a token; with the shift undone, its scores must equal those of the same model here.
Its responses must keep to the maximum length, which it takes under one of two names, and
be those of the same model here where nothing is drawn.
"""

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from holisticbias import build_release, load_catalog
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.generation.conversation import ConversationOptions
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.opening import LEFT_OUT, find_opening
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.loading.load import LoadedModel, load_model
from holisticbias_eval.models.server.generator import ApiGenerator
from holisticbias_eval.models.server.openai import Endpoint
from holisticbias_eval.models.server.scorer import ApiScorer
from holisticbias_eval.models.settings import ModelSettings

TOLERANCE = 0.005  # nats per token: llama.cpp reads its activation functions from tables in half precision
WHERE = ("axis=nonce", "gender=female", "first_turn_only=true")
OPTIONS = ModelSettings(api_retries=1, api_concurrency=2)
LONGEST = 8
PROMPTS = ("I'm a", "I love", "I have a friend who is a", "I think that people who are")
GREEDY = Decoding(id="greedy", method="greedy", max_new_tokens=LONGEST, source="the likeliest token at each step")
SAMPLED = Decoding(id="sampled", method="sample", max_new_tokens=LONGEST, source="the model's own distribution")

PATTERN = ConversationOptions(continuation="{prompt}")
Tries = tuple[tuple[Endpoint, Decoding, ConversationOptions | None], ...]
COMPLETED: Tries = (("completions", GREEDY, PATTERN), ("completions", SAMPLED, PATTERN))


@contextmanager
def serving(*command: str) -> Iterator[str]:
    """Run a server within the block, by a command in which PORT stands for its port; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([str(port) if word == "PORT" else word for word in command])
    try:
        for _ in range(1200):
            assert process.poll() is None, "the server has ended"
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def here() -> LoadedModel:
    """The embedded model with the GGUF's tokenizer: GPT-2's words, split by the merges."""
    loaded = load_model(str(SHIPPED[EMBEDDED_MODEL].folder), "AutoModelForCausalLM")
    content = json.loads(loaded.tokenizer.backend_tokenizer.to_str())
    content["model"]["ignore_merges"] = False
    backend = Tokenizer.from_str(json.dumps(content))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return replace(loaded, tokenizer=PreTrainedTokenizerFast(tokenizer_object=backend))


def refusal(address: str) -> str:
    """The reason why a server is refused; empty if it is accepted."""
    try:
        ApiScorer("embedded", address, print, OPTIONS)
    except ModelError as error:
        return str(error)
    return ""


def check_responses(server: str, address: str, model: LoadedModel, tries: Tries) -> None:
    """Fail if a response is too long, or if the likeliest continuation is not that of the model here."""
    requests = PromptRequests(PROMPTS, [""] * len(PROMPTS), np.zeros(len(PROMPTS), np.int32))
    for endpoint, decoding, conversation in tries:
        settings = OPTIONS.model_copy(update={"api_endpoint": endpoint})
        generator = ApiGenerator(
            "embedded", address, print, decoding, 0, conversation or ConversationOptions(), settings
        )
        found, same = respond_all(requests, generator, lambda _: None), generator.probe(requests)
        assert max(found.tokens) <= decoding.max_new_tokens
        assert all(finish in {"stop", "length"} for finish in found.finish)
        print(f"{server}, {endpoint}, {decoding.method}: {same.same} of {same.tried} responses the same again")
        if decoding is GREEDY:
            assert list(found.text) == [likeliest(model, prompt) for prompt in PROMPTS]


def likeliest(loaded: LoadedModel, prompt: str) -> str:
    """The likeliest continuation, token by token, up to a line break."""
    ids = torch.tensor([loaded.tokenizer(prompt)["input_ids"]])
    made = loaded.model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=LONGEST)
    return str(loaded.tokenizer.decode(made[0, ids.shape[1] :], skip_special_tokens=True)).partition("\n")[0].strip()


def check_scores(server: str, address: str, model: LoadedModel) -> None:
    """Fail if the scores without first tokens, before which a server may put none, are not those of the model here."""
    texts = build_release(load_catalog(), "1.0.0", where=WHERE).sentences["text"].to_pylist()
    spans = whole([*texts, "I love señoras 🙂.", "I", ""])
    left_out = OPTIONS.model_copy(update={"first_token": LEFT_OUT})
    theirs = ApiScorer("embedded", address, print, left_out).score(spans, lambda _: None)
    opening = find_opening(model.tokenizer, LEFT_OUT, None)
    ours = CausalScorer(model, print, opening=opening).score(spans, lambda _: None)
    assert theirs.tokens.tolist() == ours.tokens.tolist()
    assert theirs.bytes.tolist() == ours.bytes.tolist()
    worst = np.abs(theirs.nll - ours.nll) / np.maximum(1, ours.tokens)
    print(f"{server}: {len(spans):,} texts, largest difference {worst.max():.2e} nats per token")
    assert worst.max() < TOLERANCE


def main() -> None:
    """Fail if the shifted server is accepted, or if the corrected one gives other scores."""
    script = str(Path(__file__).with_name("llama_server.py"))
    with tempfile.TemporaryDirectory() as name:
        command = (sys.argv[1], script, str(SHIPPED[EMBEDDED_MODEL].folder), str(Path(name, "embedded.gguf")), "PORT")
        with serving(*command) as address:
            refused = refusal(address)
            check_responses("llama-cpp-python", address, here(), (*COMPLETED, ("chat", SAMPLED, None)))
        print(f"llama-cpp-python as it is: {refused}")
        assert "its log-probabilities are shifted" in refused
        with serving(*command, "--shift") as address:
            check_scores("llama-cpp-python corrected", address, here())


if __name__ == "__main__":
    main()
