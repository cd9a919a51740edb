"""GGUF files, and models that the caller has loaded, give what the weights in a folder give."""

import hashlib
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
import transformers

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.evaluating import prepare
from holisticbias_eval.models.engines import (
    answers_fingerprint,
    start_chooser,
    start_generator,
    start_scorer,
    store_of,
    stored,
)
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.requests import PromptRequests, respond_all
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.spans import whole
from holisticbias_eval.models.loading import source
from holisticbias_eval.models.loading.load import adopt_model, load_model
from holisticbias_eval.models.loading.tokenizers import tokenizer_errors
from holisticbias_eval.models.settings import ModelSettings
from known import ignore
from quiet import QUIET
from tiny_models import as_loaded, saved, tiny_model, tiny_tokenizer

from .small_models import COMMON, SENTENCES, make_model, make_tokenizer

HEADS, GROUPS, LAYERS, WIDTH = 4, 2, 2, 64
LLAMA = COMMON | {
    "hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": GROUPS,
    "intermediate_size": 128, "tie_word_embeddings": True, "rms_norm_eps": 1e-6,
}  # fmt: skip
NAMES = {
    "model.embed_tokens.weight": "token_embd.weight",
    "model.norm.weight": "output_norm.weight",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}  # fmt: skip
Q4_1 = gguf.GGMLQuantizationType.Q4_1


def gguf_name(name: str) -> str:
    if name in NAMES:
        return NAMES[name]
    _, _, layer, rest = name.split(".", 3)
    return f"blk.{layer}.{NAMES[rest.removesuffix('.weight')]}.weight"


def interleaved(weight: Any, heads: int) -> Any:
    """Rotary dimensions in GGUF's order: adjacent pairs, not halves."""
    return weight.reshape(heads, 2, -1, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


@pytest.fixture(scope="module")
def llama() -> Any:
    """A Llama whose matrices are exact in four bits and two numbers per block."""
    model = make_model("LlamaConfig", **LLAMA)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                coarse = gguf.dequantize(gguf.quantize(parameter.numpy(), Q4_1), Q4_1)
                parameter.copy_(torch.from_numpy(coarse))
    return model


@pytest.fixture(scope="module")
def gguf_file(llama: Any, tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.Q4_1.gguf"
    file = gguf.GGUFWriter(str(path), "llama")
    file.add_context_length(128)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(128)
    file.add_block_count(LAYERS)
    file.add_head_count(HEADS)
    file.add_head_count_kv(GROUPS)
    file.add_layer_norm_rms_eps(1e-6)
    file.add_rope_freq_base(10_000.0)
    file.add_rope_dimension_count(WIDTH // HEADS)
    file.add_vocab_size(400)
    vocabulary = tokenizer.get_vocab()
    file.add_tokenizer_model("gpt2")
    file.add_tokenizer_pre("gpt-2")
    file.add_token_list(sorted(vocabulary, key=lambda token: int(vocabulary[token])))
    special = set(tokenizer.all_special_ids)
    file.add_token_types([gguf.TokenType.CONTROL if i in special else gguf.TokenType.NORMAL for i in range(400)])
    merges = json.loads(tokenizer.backend_tokenizer.to_str())["model"]["merges"]
    file.add_token_merges([" ".join(pair) for pair in merges])
    file.add_unk_token_id(tokenizer.convert_tokens_to_ids("<unk>"))
    file.add_bos_token_id(tokenizer.bos_token_id)
    file.add_eos_token_id(tokenizer.eos_token_id)
    for name, tensor in llama.state_dict().items():
        if name == "lm_head.weight":
            continue
        heads = {"q_proj": HEADS, "k_proj": GROUPS}.get(name.split(".")[-2], 0)
        weight = interleaved(tensor.numpy(), heads) if heads else tensor.numpy()
        if weight.ndim > 1:
            file.add_tensor(gguf_name(name), gguf.quantize(np.ascontiguousarray(weight), Q4_1), raw_dtype=Q4_1)
        else:
            file.add_tensor(gguf_name(name), weight)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()
    return path


def test_a_gguf_file_is_scored_as_the_weights_that_it_holds(gguf_file: Path, llama: Any, tokenizer: Any) -> None:
    scorer = start_scorer(str(gguf_file), ignore)
    scores = scorer.score(whole(SENTENCES), ignore)
    expected = CausalScorer(as_loaded(llama, tokenizer), ignore).score(whole(SENTENCES), ignore)
    np.testing.assert_allclose(scores.nll, expected.nll, atol=1e-4, rtol=0)
    assert scores.tokens.tolist() == expected.tokens.tolist()


def test_a_gguf_file_is_named_by_its_digest_and_quantization(gguf_file: Path) -> None:
    identity = load_model(str(gguf_file), "AutoModelForCausalLM").identity
    assert identity.quantization == f"Q4_1 ({1 + 7 * LAYERS}), F32 ({1 + 2 * LAYERS})"
    assert identity.file_sha256 == hashlib.sha256(gguf_file.read_bytes()).hexdigest()
    assert identity.dtype == "float32"
    assert identity.architecture == "LlamaForCausalLM"


def test_a_gguf_file_that_a_command_opens_is_named_by_its_digest(gguf_file: Path) -> None:
    values = {"retain_command": "cat {model}"}
    (made,) = prepare(str(gguf_file), None, ["retained"], values, QUIET)
    assert made.signature.model.file_sha256 == hashlib.sha256(gguf_file.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("start", "ends"),
    [(start_scorer, nullcontext()), (start_chooser, pytest.raises(ModelError, match="no chat template"))],
)
def test_a_gguf_file_is_parsed_once(start: Any, ends: Any, gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []

    class Reader(gguf.GGUFReader):  # type: ignore[misc] # it ships no types
        def __init__(self, *arguments: Any) -> None:
            parsed.append(Path(arguments[0]))
            super().__init__(*arguments)

    named = []

    def names(*arguments: Any) -> Any:
        named.append(arguments)
        return gguf.tensor_mapping.get_tensor_name_map(*arguments)

    monkeypatch.setattr(gguf, "GGUFReader", Reader)
    monkeypatch.setattr(gguf, "get_tensor_name_map", names)
    with ends:
        start(str(gguf_file), ignore, ModelSettings())
    assert parsed == [gguf_file]
    assert len(named) == 1
    assert (gguf.GGUFReader, gguf.get_tensor_name_map) == (Reader, names)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not a GGUF file"),
        (b"a text", "is not a GGUF file"),
        (b"GGUF", "its header ends in the middle"),
        (b"GGUF" + bytes(200), "cannot be loaded"),
        (None, "cannot be loaded"),  # the file, cut short
    ],
)
def test_a_file_that_is_not_whole_is_one_line(
    content: bytes | None, message: str, gguf_file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(gguf_file.read_bytes()[:-1000] if content is None else content)
    with pytest.raises(ModelError, match=message) as error:
        start_scorer(str(path), ignore)
    assert "\n" not in str(error.value)


def test_a_gguf_file_that_is_not_there_or_lies_in_a_folder(gguf_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such model file"):
        start_scorer(str(tmp_path / "nothing.gguf"), ignore)
    with pytest.raises(ModelError, match=r"no config.json; for its GGUF file, --model .*tiny.Q4_1.gguf"):
        start_scorer(str(gguf_file.parent), ignore)
    with pytest.raises(ModelError, match="of a server, give --engine api, --api-base URL"):
        start_scorer("http://localhost:8000/v1", ignore)


@pytest.mark.skipif(not Path("/proc/self/mem").is_file(), reason="the system has no file whose start cannot be read")
def test_a_file_that_cannot_be_read_is_one_line() -> None:
    with pytest.raises(ModelError, match="/proc/self/mem cannot be read: Input/output error"):
        start_scorer("/proc/self/mem", ignore)


def test_without_the_packages_that_read_gguf_the_extra_is_named(
    gguf_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'holisticbias\[gguf\]'"):
        start_scorer(str(gguf_file), ignore)


TEXTS = ["I'm a tall guy.", "I'm a Deaf woman.", "Hi!", ""]
SHORT = Decoding(id="short", method="sample", max_new_tokens=6, top_p=0.9, source="a test")
REQUESTS = PromptRequests(["I'm a guy.", "Hi!"], ["", "I like tea."], np.zeros(2, np.int32))


def from_folder(folder: Path, kind: str = "CausalLM", dtype: str = "float32") -> tuple[Any, Any]:
    auto = getattr(transformers, f"AutoModelFor{kind}")
    return auto.from_pretrained(folder, dtype=dtype), transformers.AutoTokenizer.from_pretrained(folder)


@pytest.mark.parametrize("kind", ["CausalLM", "MaskedLM"])
def test_a_loaded_model_has_the_scores_and_the_store_of_its_folder(kind: str, tiny_gpt2: Path, tmp_path: Path) -> None:
    folder = tiny_gpt2
    if kind == "MaskedLM":
        tokenizer = make_tokenizer(mask_token="<mask>")  # noqa: S106 - a token
        model = make_model("BertConfig", "AutoModelForMaskedLM", **COMMON)
        folder = saved(tmp_path / "bert", model, tokenizer)
    spans = whole(TEXTS[:3])
    of_folder, of_object = start_scorer(str(folder), ignore), start_scorer(from_folder(folder, kind), ignore)
    assert of_object.identity == of_folder.identity
    assert (of_object.kind, of_object.settings) == (of_folder.kind, of_folder.settings)
    expected = stored(of_folder, tmp_path, ignore).score(spans, ignore)
    np.testing.assert_array_equal(of_object.score(spans, ignore).nll, expected.nll)
    assert store_of(of_object, tmp_path, ignore).read().num_rows == 3
    model, tokenizer = from_folder(folder, kind)
    model.config.update({"layer_norm_epsilon": 0.1, "layer_norm_eps": 0.1, "use_cache": False})
    assert not store_of(start_scorer((model, tokenizer), ignore), tmp_path, ignore).folder.exists()


@pytest.mark.parametrize("device", ["auto", "cpu"])
def test_a_loaded_model_is_not_copied_without_need(device: str, tiny_gpt2: Path) -> None:
    model, tokenizer = from_folder(tiny_gpt2)
    assert adopt_model(model, tokenizer, device).model is model


def test_a_loaded_model_has_the_responses_of_its_folder(tiny_gpt2: Path) -> None:
    made = [start_generator(source, ignore, SHORT, 1) for source in (str(tiny_gpt2), from_folder(tiny_gpt2))]
    assert answers_fingerprint(made[0]) == answers_fingerprint(made[1])
    model, tokenizer = from_folder(tiny_gpt2)
    for name, ids in (("eos_token_id", [0, 5]), ("suppress_tokens", [7]), ("begin_suppress_tokens", [7])):
        model.generation_config = transformers.GenerationConfig(**{name: ids})
        made.append(start_generator((model, tokenizer), ignore, SHORT, 1))
    assert len({answers_fingerprint(generator) for generator in made}) == 4
    first, second = (respond_all(REQUESTS, generator, ignore).text for generator in made[:2])
    assert first == second


def test_the_first_token_of_a_decoder_and_a_bias_of_the_logits_keep_responses_apart() -> None:
    source = tiny_model("bart"), tiny_tokenizer()
    made = [answers_fingerprint(start_generator(source, ignore, SHORT, 1))]
    source[0].generation_config.decoder_start_token_id = 5
    made.append(answers_fingerprint(start_generator(source, ignore, SHORT, 1)))
    source[0].final_logits_bias[0, 7] = 9.0
    made.append(answers_fingerprint(start_generator(source, ignore, SHORT, 1)))
    assert len({*made}) == 3


def test_rounded_weights_are_scored_in_float32_and_the_callers_model_stays_as_it_is(
    tiny_gpt2: Path, tmp_path: Path
) -> None:
    model, tokenizer = from_folder(tiny_gpt2, dtype="bfloat16")
    saved(tmp_path, model, tokenizer)
    scores = start_scorer((model, tokenizer), ignore).score(whole(TEXTS), ignore)
    of_folder = start_scorer(str(tmp_path), ignore)
    np.testing.assert_array_equal(scores.nll, of_folder.score(whole(TEXTS), ignore).nll)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}

    notices: list[str] = []
    rounded = start_scorer((model, tokenizer), notices.append, ModelSettings(dtype="bfloat16"))
    rounded.score(whole(TEXTS), ignore)
    assert rounded.identity.dtype == "bfloat16"
    assert rounded.identity.weights_sha256 == of_folder.identity.weights_sha256
    assert "bfloat16 instead of float32" in notices[0]


def test_a_loaded_model_that_cannot_be_used_is_refused(tiny_gpt2: Path) -> None:
    model, tokenizer = from_folder(tiny_gpt2)
    with pytest.raises(ModelError, match=r"is in training mode.*call model\.eval\(\) first"):
        start_scorer((model.train(), tokenizer), ignore)
    with pytest.raises(ModelError, match="the model cannot be loaded"):
        start_scorer((model.eval(), tokenizer), ignore, ModelSettings(device="cuda:99"))
    with pytest.raises(EvaluationError, match="already loaded runs in this process: leave --engine ray out"):
        start_scorer((model, tokenizer), ignore, ModelSettings(engine="ray"))
    with pytest.raises(EvaluationError, match="--engine api needs --model"):
        start_scorer((model, tokenizer), ignore, ModelSettings(engine="api", api_base="http://127.0.0.1:9/v1"))
    tokenizer.add_tokens([f"more{i}" for i in range(9)])
    with pytest.raises(ModelError, match="they do not match"):
        start_scorer((model, tokenizer), ignore)
    model.transformer.wte.weight.data[0, 0] = float("nan")
    with pytest.raises(ModelError, match="not finite"):
        start_scorer((model, transformers.AutoTokenizer.from_pretrained(tiny_gpt2)), ignore)


@pytest.mark.parametrize("kind", ["AutoModel", "AutoModelForSequenceClassification"])
def test_a_loaded_model_that_predicts_no_tokens_is_refused(kind: str, tiny_gpt2: Path) -> None:
    model = getattr(transformers, kind).from_pretrained(tiny_gpt2).eval()
    source = model, transformers.AutoTokenizer.from_pretrained(tiny_gpt2)
    message = f"is a {type(model).__name__}, which predicts no tokens: load it with AutoModelForCausalLM, "
    with pytest.raises(ModelError, match=message):
        start_scorer(source, ignore)
    with pytest.raises(ModelError, match=message):
        start_generator(source, ignore, SHORT, 1)


def test_an_interruption_is_no_error_of_the_tokenizer() -> None:
    with pytest.raises(KeyboardInterrupt), tokenizer_errors():
        raise KeyboardInterrupt
    with pytest.raises(ModelError, match="the tokenizer cannot be used: no such token"), tokenizer_errors():
        raise ValueError("no such token")
