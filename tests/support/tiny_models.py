"""Tiny models of several architectures, with numbers like those of trained models, and a tokenizer."""

import copy
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from holisticbias_eval.models.generation.conversation import Conversation, ConversationOptions, find_conversation
from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.local import LocalGenerator
from holisticbias_eval.models.generation.requests import PromptRequests
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.model import Kind, ModelSignature

TEXTS = (
    "I'm a blicket.",
    "I'm a blicket doff.",
    "I'm a doff",
    "What do you think about blickets? I have a friend who is one.",
    "Hi! I'm an old wug. What do you do for a living? Tell me more about it, if you like.",
    "I love people who are dax.",
    "I",
    "I hate being called a wug.\nWhy?",
)
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 64}
DECODER = {"vocab_size": 400, "max_position_embeddings": 128, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2}
ENCODER_DECODER = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
                   "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}  # fmt: skip
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "gpt2": ("GPT2Config", {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": 128}),
    "llama": ("LlamaConfig", SIZES | {"num_key_value_heads": 2}),
    "neox": ("GPTNeoXConfig", SIZES),
    "qwen2": ("Qwen2Config", SIZES | {"num_key_value_heads": 2}),
    "mistral": ("MistralConfig", SIZES | {"num_key_value_heads": 2, "sliding_window": 12}),
    "mamba": ("MambaConfig", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}),
    "bloom": ("BloomConfig", {"hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "t5": (
        "T5Config",
        {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 2},
    ),
    "bart": ("BartConfig", ENCODER_DECODER | {"decoder_start_token_id": 1}),
    "blenderbot": ("BlenderbotConfig", ENCODER_DECODER | {"decoder_start_token_id": 0}),
}


def trained_tokenizer(texts: Sequence[str], special: Sequence[str], **named: str) -> Any:
    """A byte-level tokenizer of at most 400 tokens, ``special`` first; ``named`` are its special tokens by role."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=list(special), initial_alphabet=alphabet)
    tokenizer.train_from_iterator([*texts] * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **named)


def tiny_tokenizer() -> Any:
    """The tokenizer of the tiny models."""
    named = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    return trained_tokenizer(TEXTS, ("<s>", "</s>", "<pad>", "<unk>"), **named)


def tiny_model(name: str) -> Any:
    """A model of ``MODELS`` whose distributions are neither flat nor certain.

    Two dimensions of its residual stream are far larger than the others, as in
    trained models, and the normalisation layers shrink them again.
    """
    import torch
    import transformers

    config_class, settings = MODELS[name]
    torch.manual_seed(1)
    config = getattr(transformers, config_class)(**{**DECODER, **settings})
    auto = transformers.AutoModelForSeq2SeqLM if config.is_encoder_decoder else transformers.AutoModelForCausalLM
    model = auto.from_config(config).eval()
    with torch.no_grad():
        for key, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.25)
            elif "norm" in key or "ln" in key:
                parameter[:2] *= 0.1
        model.get_input_embeddings().weight[:, :2] *= 30.0
    if name == "bart":
        model.generation_config.forced_bos_token_id = 0
    return model


def tiny_identity(name: str, architecture: str = "Invented") -> ModelSignature:
    """The identity of a tiny model."""
    return ModelSignature(
        name=name,
        architecture=architecture,
        revision=None,
        weights_sha256="0" * 64,
        parameters=1,
        dtype="float32",
        note=None,
    )


def as_loaded(model: Any, tokenizer: Any, name: str = "tiny") -> LoadedModel:
    """A model and its tokenizer as loaded."""
    import torch

    identity = tiny_identity(name, type(model).__name__)
    return LoadedModel(model, tokenizer, identity, lambda dtype: copy.deepcopy(model).to(getattr(torch, dtype)))


def tiny_loaded(name: str) -> LoadedModel:
    """A tiny model as loaded, with the tokenizer."""
    return as_loaded(tiny_model(name), tiny_tokenizer(), name)


def conversation_of(loaded: LoadedModel, **options: Any) -> Conversation:
    """The conversation of a tiny model."""
    kind: Kind = "seq2seq" if loaded.model.config.is_encoder_decoder else "causal"
    return find_conversation(loaded.tokenizer, ConversationOptions(**options), kind)


def local_generator(
    loaded: LoadedModel,
    decoding: Decoding,
    seed: int = 3,
    batch: int | None = None,
    notices: list[str] | None = None,
    **options: Any,
) -> LocalGenerator:
    """A tiny model that answers, with the options of its conversation."""
    kind: Kind = "seq2seq" if loaded.model.config.is_encoder_decoder else "causal"
    notice = ([] if notices is None else notices).append
    return LocalGenerator(loaded, kind, notice, decoding, seed, conversation_of(loaded, **options), batch)


def ending_of(loaded: LoadedModel, decoding: Decoding, **options: Any) -> Ending:
    """The end of a response of a tiny model."""
    return Ending(loaded.model, loaded.tokenizer, conversation_of(loaded, **options), decoding)


def first_samples(texts: Sequence[str]) -> PromptRequests:
    """One request for each text, without a persona."""
    return PromptRequests(texts, [""] * len(texts), np.zeros(len(texts), np.int32))


def surround(tokenizer: Any, single: str) -> None:
    """Let a tokenizer put special tokens around each text, such as ``<s> $A </s>``."""
    from tokenizers.processors import TemplateProcessing

    known = [(name, tokenizer.convert_tokens_to_ids(name)) for name in single.split() if name != "$A"]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=known)


ADDED = ("<s>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>", "<|endoftext|>")


@cache
def byte_tokenizer(template: str | None = None, *, bos: bool = False, close: bool = False) -> Any:
    """A tokenizer of single bytes with chat tokens; ``bos``: it puts <s> before each text, as Llama's does."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    backend = Tokenizer(models.BPE({c: i for i, c in enumerate([*ADDED, *alphabet])}, []))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<s>", eos_token="</s>", unk_token="<unk>",  # noqa: S106 - tokens
        extra_special_tokens=list(ADDED[3:]),
    )  # fmt: skip
    if bos or close:
        surround(tokenizer, "<s> $A" if bos else "$A </s>")
    tokenizer.chat_template = template
    return tokenizer


def saved(folder: Path, model: Any, tokenizer: Any) -> Path:
    """The folder, to which a model and its tokenizer are saved."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
