from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tokenizers.processors import TemplateProcessing

from holisticbias_eval.models.likelihood.masked import VARIANTS, MaskedScorer
from holisticbias_eval.models.likelihood.spans import Spans, parts, whole
from known import ignore

COMMON = {
    "vocab_size": 400,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 130,
    "pad_token_id": 2,
}
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("BertConfig", COMMON),
    ("RobertaConfig", COMMON),
    ("DebertaV2Config", COMMON | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16}),
    ("DistilBertConfig", {"vocab_size": 400, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    ("ElectraConfig", COMMON | {"embedding_size": 32}),
]


@pytest.fixture(scope="session")
def masked_tokenizer(make_tokenizer: Callable[..., Any]) -> Any:
    """A tokenizer that puts special tokens around a text, like BERT's and RoBERTa's."""
    tokenizer = make_tokenizer(cls_token="<s>", sep_token="</s>", pad_token="<pad>", mask_token="<mask>")  # noqa: S106 - tokens
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    return tokenizer


def naively(model: Any, tokenizer: Any, spans: Spans, variant: str) -> list[list[float]]:
    """Score a span by masking each token in turn, one input at a time."""
    import torch

    rows = []
    for text, start, stop, context in zip(spans.text, spans.start, spans.stop, spans.context, strict=True):
        encoded = tokenizer(context + text, return_offsets_mapping=True)
        words, row = encoded.word_ids(), []
        for i, (begin, end) in enumerate(encoded["offset_mapping"]):
            if words[i] is None or begin - len(context) >= stop or end - len(context) <= start:
                continue
            ids = list(encoded["input_ids"])
            for j in range(i, len(ids)):
                if j == i or (variant == "within_word_l2r" and words[j] == words[i]):
                    ids[j] = tokenizer.mask_token_id
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, i].double()
            row.append(float(-torch.log_softmax(logits, -1)[encoded["input_ids"][i]]))
        rows.append(row)
    return rows


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("config", "settings"), MODELS, ids=lambda v: v if isinstance(v, str) else "")
def test_masked_models_give_their_own_likelihoods(
    config: str,
    settings: dict[str, Any],
    variant: str,
    make_model: Any,
    masked_tokenizer: Any,
    loaded: Any,
    sentences: Sequence[str],
) -> None:
    model = make_model(config, "AutoModelForMaskedLM", **settings)
    scorer = MaskedScorer(loaded(model, masked_tokenizer), ignore, variant)
    texts = ["This is a tall guy.", "This is a Deaf guy.", "Naïve people are people."]
    phrases = parts(texts, ["tall guy", "Deaf guy", "naïve people"])
    for spans in (whole(sentences[:7]), phrases, whole(texts[:1], ["Hi! "])):
        values = naively(model, masked_tokenizer, spans, variant)
        scores = scorer.score(spans, ignore)
        np.testing.assert_allclose(scores.nll, [sum(v) for v in values], atol=1e-4, rtol=0)
        assert scores.tokens.tolist() == [len(v) for v in values]


@pytest.mark.parametrize(("config", "settings"), MODELS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_head_is_computed_at_the_masks_alone(
    config: str,
    settings: dict[str, Any],
    make_model: Any,
    masked_tokenizer: Any,
    loaded: Any,
    sentences: Sequence[str],
) -> None:
    model = make_model(config, "AutoModelForMaskedLM", **settings)
    scorer = MaskedScorer(loaded(model, masked_tokenizer), ignore)
    scorer.score(whole(sentences[:2]), ignore)
    positions: list[int] = []
    model.get_output_embeddings().register_forward_hook(lambda _, given, __: positions.append(given[0].shape[1]))
    scorer.score(whole(sentences[:4]), ignore)
    assert set(positions) == {1}


def test_one_input_answers_for_every_word_that_may_stand_at_its_mask(
    make_model: Any, masked_tokenizer: Any, loaded: Any
) -> None:
    scorer = MaskedScorer(loaded(make_model("BertConfig", "AutoModelForMaskedLM", **COMMON), masked_tokenizer), ignore)
    texts = ["I'm x.", "I'm y.", "I'm z."]
    assert all(len(masked_tokenizer(t)["input_ids"]) == len(masked_tokenizer("I'm x.")["input_ids"]) for t in texts)
    work = scorer.work(Spans(texts, np.array([4] * 3, np.int32), np.array([5] * 3, np.int32), [""] * 3))
    assert work.tokens == 3 * work.forward
