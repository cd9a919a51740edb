"""Tiny random models of the kinds that score pairs, and invented pairs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from row_files import write_table
from tiny_models import surround, trained_tokenizer

Row = dict[str, Any]
TERMS = (("dromel", "tazzin"), ("brindock", "clannet"))
ATTRIBUTES = {"ferlic": "sentence", "mivish": "sentence", "gondrous": "other_sentence", "sarlish": "other_sentence"}
FRAMES = ("The {t} is {a}.", "We saw a {a} {t} and another {t} here.", "My {t} says that life is {a}.")


def invented_pairs() -> list[Row]:
    """Two specifications with four attributes each, of generated sentences and one template per attribute."""
    rows: list[Row] = []
    for specification in ("invented.one", "invented.two"):
        for (attribute, side), (term, other), frame in (
            (a, t, f) for a in ATTRIBUTES.items() for t in TERMS for f in FRAMES
        ):
            rows.append({
                "pair_id": f"p{len(rows)}", "specification": specification, "attribute": attribute, "term": term,
                "other_term": other, "sentence": frame.format(t=term, a=attribute),
                "other_sentence": frame.format(t=other, a=attribute), "stereotyped": side, "rule": None,
                "source": "template" if frame == FRAMES[0] else "generated",
            })  # fmt: skip
    rows.append({**rows[0], "pair_id": "rejected", "other_sentence": None, "stereotyped": None, "rule": "no-slot"})
    return rows


@pytest.fixture
def write_pairs(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a file of pairs."""
    return lambda rows=None: write_table(tmp_path / "given.parquet", rows or invented_pairs())


def tiny_tokenizer(**named: str) -> Any:
    """A byte-level tokenizer of the invented sentences."""
    texts, special = [row["sentence"] for row in invented_pairs()], ("<s>", "</s>", "<pad>", "<mask>")
    return trained_tokenizer(texts, special, bos_token="<s>", eos_token="</s>", pad_token="<pad>", **named)  # noqa: S106


def saved(folder: Path, tokenizer: Any, model: Any) -> Path:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked model with large random weights."""
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("models") / "tiny-bert"
    tokenizer = tiny_tokenizer(mask_token="<mask>")  # noqa: S106
    surround(tokenizer, "<s> $A </s>")
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, pad_token_id=2, **size))
    for parameter in model.parameters():
        parameter.data.mul_(4)
    return saved(folder, tokenizer, model)


@pytest.fixture(scope="session")
def tiny_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal model with a chat template."""
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("models") / "tiny-chat"
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (
        "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
        "{% if add_generation_prompt %}<s>assistant: {% endif %}"
    )
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=256))
    return saved(folder, tokenizer, model)
