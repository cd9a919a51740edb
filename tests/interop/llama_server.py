"""Serve the embedded model with llama-cpp-python: llama_server.py MODEL GGUF PORT [--shift].

Needs a Python with that package. The GGUF has the model's weights and merges; GGUF
cannot express the model's own word splitting, so it uses GPT-2's. The package
computes an echoed token's log-probability after reading the token; ``--shift``
moves each row of logits to the right token.
"""

import json
import sys
from pathlib import Path

import gguf
import llama_cpp
import numpy as np
import numpy.typing as npt
import uvicorn
from llama_cpp.server.app import create_app
from llama_cpp.server.settings import ModelSettings, ServerSettings

Floats = npt.NDArray[np.float32]
WHOLE = {"wte.weight": "token_embd.weight", "wpe.weight": "position_embd.weight", "ln_f": "output_norm"}
LAYER = {
    "ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down",
}  # fmt: skip


def read_weights(path: Path) -> dict[str, Floats]:
    """The tensors of a safetensors file in float32: the header's length, the header as JSON, the numbers."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    return {
        name.removeprefix("transformer."): np.frombuffer(
            content[start + about["data_offsets"][0] : start + about["data_offsets"][1]], np.float32
        ).reshape(about["shape"])
        for name, about in header.items()
    }


def write_gguf(model: Path, path: str) -> None:
    """The embedded model, which is a GPT-2, as GGUF."""
    config = json.loads((model / "config.json").read_text("utf-8"))
    tokenizer = json.loads((model / "tokenizer.json").read_text("utf-8"))
    file = gguf.GGUFWriter(path, "gpt2")
    file.add_context_length(config["n_positions"])
    file.add_embedding_length(config["n_embd"])
    file.add_feed_forward_length(4 * config["n_embd"])
    file.add_block_count(config["n_layer"])
    file.add_head_count(config["n_head"])
    file.add_layer_norm_eps(config["layer_norm_epsilon"])
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["id"] for token in tokenizer["added_tokens"]}
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(sorted(vocabulary, key=lambda token: int(vocabulary[token])))
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    file.add_token_types([kinds[i in special] for i in range(len(vocabulary))])
    file.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    file.add_bos_token_id(config["bos_token_id"])
    file.add_eos_token_id(config["eos_token_id"])
    file.add_add_bos_token(False)
    for name, tensor in read_weights(model / "model.safetensors").items():
        file.add_tensor(*renamed(name, tensor))
        if name == "wte.weight":
            file.add_tensor("output.weight", tensor)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def renamed(name: str, tensor: Floats) -> tuple[str, Floats]:
    """A tensor by its GGUF name; GPT-2's layers are transposed in transformers."""
    if not name.startswith("h."):
        whole, _, kind = name.rpartition(".")
        return WHOLE.get(name) or f"{WHOLE[whole]}.{kind}", tensor
    _, layer, inner = name.split(".", 2)
    part, _, kind = inner.rpartition(".")
    turned = np.ascontiguousarray(tensor.T) if tensor.ndim == 2 else tensor
    return f"blk.{layer}.{LAYER[part]}.{kind}", turned


def shift() -> None:
    """Give every echoed token the row of logits before it."""
    given = llama_cpp.Llama.logits_to_logprobs

    def before(logits: Floats, axis: int = -1) -> Floats:
        values: Floats = given(logits, axis)
        return np.roll(values, 1, axis=0) if values.ndim == 2 else values

    llama_cpp.Llama.logits_to_logprobs = staticmethod(before)


def main() -> None:
    """Serve until killed."""
    model, path, port, *more = sys.argv[1:]
    write_gguf(Path(model), path)
    if more:
        shift()
    exact = {"logits_all": True, "type_k": 0, "type_v": 0}  # the cache in float32 too
    settings = ModelSettings(model=path, n_ctx=64, n_threads=1, verbose=False, **exact)
    app = create_app(server_settings=ServerSettings(port=int(port)), model_settings=[settings])
    uvicorn.run(app, port=int(port), log_level="error")


if __name__ == "__main__":
    main()
