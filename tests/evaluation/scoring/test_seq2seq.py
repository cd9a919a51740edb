from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tokenizers.processors import TemplateProcessing

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.likelihood.spans import Spans, parts, whole
from known import ignore

BART = {
    "vocab_size": 400, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "max_position_embeddings": 128,
    "decoder_start_token_id": 1, "forced_eos_token_id": None,
}  # fmt: skip
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("T5Config", {"vocab_size": 400, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4,
                  "decoder_start_token_id": 2}),
    ("BartConfig", BART),
    ("BlenderbotConfig", BART),
    ("SwitchTransformersConfig", {"vocab_size": 400, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2,
                                  "num_decoder_layers": 2, "num_sparse_encoder_layers": 1,
                                  "num_sparse_decoder_layers": 1, "num_heads": 4, "num_experts": 4,
                                  "decoder_start_token_id": 2}),
]  # fmt: skip


def naively(model: Any, tokenizer: Any, spans: Spans) -> list[list[float]]:
    """Score one context and one text at a time with encoder and decoder."""
    import torch

    rows = []
    for text, start, stop, context in zip(spans.text, spans.start, spans.stop, spans.context, strict=True):
        label = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [model.config.decoder_start_token_id, 0, *label["input_ids"]]
        with torch.no_grad():
            inputs = torch.tensor([tokenizer(context)["input_ids"]])
            logits = model(input_ids=inputs, decoder_input_ids=torch.tensor([ids])).logits[0].double()
        values = -torch.log_softmax(logits, -1)
        rows.append(
            [
                float(values[i + 1, token])
                for i, (token, (begin, end)) in enumerate(zip(label["input_ids"], label["offset_mapping"], strict=True))
                if begin < stop and end > start
            ]
        )
    return rows


@pytest.mark.parametrize(("config", "settings"), MODELS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_text_is_scored_as_the_label_under_its_context(
    config: str, settings: dict[str, Any], make_model: Any, make_tokenizer: Any, loaded: Any, sentences: Sequence[str]
) -> None:
    tokenizer = make_tokenizer(bos_token="<s>", eos_token="</s>", pad_token="<pad>")  # noqa: S106 - tokens
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    model = make_model(config, "AutoModelForSeq2SeqLM", **settings)
    scorer = Seq2SeqScorer(loaded(model, tokenizer), ignore)
    contexts = [("Hi!", "What do you do?", "")[i % 3] for i in range(len(sentences))]
    phrase = parts(["I'm a tall guy.", "I'm a tall guy."], ["tall", "guy"], ["Hi!", "Hi!"])
    for spans in (whole(sentences, contexts), phrase):
        values = naively(model, tokenizer, spans)
        scores = scorer.score(spans, ignore)
        np.testing.assert_allclose(scores.nll, [sum(v) for v in values], atol=1e-4, rtol=0)
        assert scores.tokens.tolist() == [len(v) for v in values]


def test_a_model_that_reads_no_plain_text_is_one_line(make_model: Any, make_tokenizer: Any, loaded: Any) -> None:
    model = make_model("BartConfig", "AutoModelForSeq2SeqLM", **BART | {"max_position_embeddings": 4})
    model.config.max_position_embeddings = 128
    scorer = Seq2SeqScorer(loaded(model, make_tokenizer(bos_token="<s>")), ignore)  # noqa: S106 - a token
    with pytest.raises(ModelError, match=r"tiny \(BartFor.*\) cannot read a plain text: .*IndexError"):
        scorer.score(whole(["I'm a tall guy and a veteran."], ["Hi! What do you do for a living?"]), ignore)


@pytest.mark.parametrize(
    ("context", "message"),
    [("", "the encoder would read nothing.*--context"), ("Hi! " * 200, "the encoder reads at most 128 tokens")],
)
def test_a_context_that_no_encoder_can_read(
    context: str, message: str, make_model: Any, make_tokenizer: Any, loaded: Any
) -> None:
    model = make_model("BartConfig", "AutoModelForSeq2SeqLM", **BART)
    scorer = Seq2SeqScorer(loaded(model, make_tokenizer(bos_token="<s>", eos_token="</s>")), ignore)  # noqa: S106 - tokens
    with pytest.raises(ModelError, match=message):
        scorer.score(whole(["I'm tall."], [context]), ignore)
