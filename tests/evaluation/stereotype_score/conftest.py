"""Tiny random models of the kinds that score pairs, and invented pairs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.scoring.small_models import COMMON, GPT2, make_model, make_tokenizer

from row_files import write_table
from tiny_models import saved, surround

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
                "source": "template" if frame == FRAMES[0] else "generated", "group": "dax", "other_group": "fep",
            })  # fmt: skip
    rows.append({**rows[0], "pair_id": "rejected", "other_sentence": None, "stereotyped": None, "rule": "no-slot"})
    return rows


@pytest.fixture
def write_pairs(tmp_path: Path) -> Callable[..., Path]:
    """Write rows as a file of pairs."""
    return lambda rows=None: write_table(tmp_path / "given.parquet", rows or invented_pairs())


TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A masked model with large random weights."""
    tokenizer = make_tokenizer(**TOKENS, mask_token="<mask>")  # noqa: S106
    surround(tokenizer, "<s> $A </s>")
    model = make_model("BertConfig", "AutoModelForMaskedLM", **COMMON | {"pad_token_id": 2})
    return saved(tmp_path_factory.mktemp("models") / "tiny-bert", model, tokenizer)


@pytest.fixture(scope="session")
def tiny_chat(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal model with a chat template."""
    tokenizer = make_tokenizer(**TOKENS)
    tokenizer.chat_template = (
        "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}"
        "{% if add_generation_prompt %}<s>assistant: {% endif %}"
    )
    model = make_model("GPT2Config", **GPT2 | {"n_positions": 256})
    return saved(tmp_path_factory.mktemp("models") / "tiny-chat", model, tokenizer)
