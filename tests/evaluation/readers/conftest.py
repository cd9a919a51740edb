"""Tiny sequence classifiers with numbers like those of trained ones, saved to folders."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.evaluation.conftest import LABELS

from tiny_models import saved

TEXTS = (
    "I'm sorry to hear that.",
    "That is great! I love it when people find a hobby they like.",
    "What do you mean?",
    "Oh",
    "Tell me more. Where did you go, and with whom, and did you see the lake in the north of the country?",
    "naïve 🙂 text with <s> [SEP] [PAD] </s> in it",
    "ok",
    "Blicket people are fine by me, as far as I know; are they not?",
)


def like_trained(model: Any) -> Any:
    """Give a model weights with outlier dimensions and peaked outputs, as training does."""
    import torch

    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() > 1:
                parameter.normal_(0.0, 0.3)
            if parameter.dim() > 1 and "output.dense" in name:
                parameter[:2] *= 10.0
            elif name.endswith("output.LayerNorm.weight"):
                parameter[2:] *= 4.0
                parameter[:2] *= 0.4
    return model.eval()


def wordpiece(**special: str) -> Any:
    """A tokenizer of single characters, with a token before and a token after each text."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    first, last, pad, unknown = special["cls_token"], special["sep_token"], special["pad_token"], special["unk_token"]
    characters = sorted({c for text in TEXTS for c in text.lower()} | set("abcdefghijklmnopqrstuvwxyz0123456789"))
    pieces = [first, pad, last, unknown, *characters, *(f"##{c}" for c in characters)]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token=unknown))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ids = [(token, pieces.index(token)) for token in (first, last)]
    tokenizer.post_processor = TemplateProcessing(single=f"{first} $A {last}", special_tokens=ids)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **special)


@pytest.fixture(scope="session")
def save_classifier(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Save a tiny classifier of an architecture; ``settings`` are those of its configuration."""
    import torch
    import transformers

    names = {
        "Bert": {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"},
        "Roberta": {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"},
    }

    def save(architecture: str, **settings: Any) -> Path:
        tokenizer = wordpiece(**names[architecture])
        given = {
            "vocab_size": len(tokenizer), "hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 4,
            "intermediate_size": 64, "max_position_embeddings": 130, "pad_token_id": tokenizer.pad_token_id,
            "id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)},
        }  # fmt: skip
        torch.manual_seed(0)
        config = getattr(transformers, f"{architecture}Config")(**given | settings)
        model = like_trained(getattr(transformers, f"{architecture}ForSequenceClassification")(config))
        return saved(tmp_path_factory.mktemp("classifiers") / architecture, model, tokenizer)

    return save


@pytest.fixture(scope="session")
def bert(save_classifier: Callable[..., Path]) -> Path:
    return save_classifier("Bert")


@pytest.fixture(scope="session")
def roberta(save_classifier: Callable[..., Path]) -> Path:
    return save_classifier("Roberta")


@pytest.fixture
def lexicon_card(card: Callable[..., Path], tmp_path: Path) -> Callable[..., Path]:
    """Write a lexicon, which has the labels of the card, and the card; ``given`` is of the card."""

    def write(lexicon: dict[str, Any], **given: Any) -> Path:
        content = {"labels": list(LABELS), **lexicon}
        (tmp_path / "phrases.yaml").write_text(yaml.safe_dump(content, sort_keys=False), "utf-8")
        return card(**{"engine": "lexicon", "activation": "none", "model": "phrases.yaml", **given})

    return write
