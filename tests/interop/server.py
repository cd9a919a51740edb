"""Score with llama-cpp-python's server: server.py PYTHON, where PYTHON has that package.

The unchanged server must be refused, because its log-probabilities are shifted by
a token; with the shift undone, its scores must equal those of the same model here.
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
from tokenizers import Tokenizer, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from holisticbias import build_release, load_catalog
from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.api import ApiScorer
from holisticbias_eval.likelihood.causal import CausalScorer
from holisticbias_eval.likelihood.spans import whole
from holisticbias_eval.models.embedded import embedded_model_path
from holisticbias_eval.models.loading import load_model
from holisticbias_eval.remote.http import ApiOptions

TOLERANCE = 0.005  # nats per token: llama.cpp reads its activation functions from tables in half precision
WHERE = ("axis=nonce", "gender=female", "first_turn_only=true")
OPTIONS = ApiOptions(retries=1)


@contextmanager
def serving(python: str, gguf: Path, *arguments: str) -> Iterator[str]:
    """Run a server within the block; yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("llama_server.py")
    process = subprocess.Popen([python, str(script), str(embedded_model_path()), str(gguf), str(port), *arguments])
    try:
        for _ in range(240):
            assert process.poll() is None, "the server has ended"
            with socket.socket() as probe:
                if not probe.connect_ex(("127.0.0.1", port)):
                    break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


def here() -> CausalScorer:
    """The embedded model with the GGUF's tokenizer: GPT-2's words, split by the merges."""
    loaded = load_model(str(embedded_model_path()), "AutoModelForCausalLM")
    content = json.loads(loaded.tokenizer.backend_tokenizer.to_str())
    content["model"]["ignore_merges"] = False
    backend = Tokenizer.from_str(json.dumps(content))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return CausalScorer(replace(loaded, tokenizer=PreTrainedTokenizerFast(tokenizer_object=backend)), print)


def refusal(address: str) -> str:
    """The reason why a server is refused; empty if it is accepted."""
    try:
        ApiScorer("embedded", address, print, OPTIONS)
    except ModelError as error:
        return str(error)
    return ""


def main() -> None:
    """Fail if the shifted server is accepted, or if the corrected one gives other scores."""
    texts = build_release(load_catalog(), "1.0.0", where=WHERE).sentences["text"].to_pylist()
    spans = whole([*texts, "I love señoras 🙂.", "I", ""])
    with tempfile.TemporaryDirectory() as name:
        with serving(sys.argv[1], Path(name, "as-it-is.gguf")) as address:
            refused = refusal(address)
        print(f"llama-cpp-python as it is: {refused}")
        assert "its log-probabilities are shifted" in refused
        with serving(sys.argv[1], Path(name, "shifted.gguf"), "--shift") as address:
            theirs = ApiScorer("embedded", address, print, OPTIONS).score(spans, lambda _: None)
    ours = here().score(spans, lambda _: None)
    assert theirs.tokens.tolist() == ours.tokens.tolist()
    assert theirs.bytes.tolist() == ours.bytes.tolist()
    worst = np.abs(theirs.nll - ours.nll) / np.maximum(1, ours.tokens)
    print(f"llama-cpp-python corrected: {len(spans):,} texts, largest difference {worst.max():.2e} nats per token")
    assert worst.max() < TOLERANCE


if __name__ == "__main__":
    main()
