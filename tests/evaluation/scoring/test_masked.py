"""Masked models and encoder-decoders give what masking, or reading a label, one token at a time gives."""

from typing import Any

import numpy as np
import pytest
import torch

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.batches import following
from holisticbias_eval.models.likelihood.masked import MaskedScorer
from holisticbias_eval.models.likelihood.scorer import Work, score_spans
from holisticbias_eval.models.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.likelihood.spans import Spans, parts, uncut, whole
from known import ignore
from tiny_models import DECODER, as_loaded, surround
from tiny_models import MODELS as TINY

from .small_models import COMMON, SENTENCES, assert_scores, make_model, make_tokenizer

BERT = COMMON | {"max_position_embeddings": 130, "pad_token_id": 2}
MODELS: list[tuple[str, dict[str, Any]]] = [
    ("BertConfig", BERT),
    ("RobertaConfig", BERT),
    ("DebertaV2Config", BERT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 16}),
    ("DistilBertConfig", {"vocab_size": 400, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    ("ElectraConfig", BERT | {"embedding_size": 32}),
]


@pytest.fixture(scope="session")
def masked_tokenizer() -> Any:
    """A tokenizer that puts special tokens around a text, like BERT's and RoBERTa's."""
    tokenizer = make_tokenizer(cls_token="<s>", sep_token="</s>", pad_token="<pad>", mask_token="<mask>")  # noqa: S106 - tokens
    surround(tokenizer, "<s> $A </s>")
    return tokenizer


def naively(model: Any, tokenizer: Any, spans: Spans, variant: str) -> list[list[float]]:
    """Score a span by masking each token in turn, one input at a time."""
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


@pytest.mark.parametrize("variant", ["original", "within_word_l2r"])
@pytest.mark.parametrize(("config", "settings"), MODELS, ids=lambda v: v if isinstance(v, str) else "")
def test_masked_models_give_their_own_likelihoods(
    config: str, settings: dict[str, Any], variant: str, masked_tokenizer: Any
) -> None:
    model = make_model(config, "AutoModelForMaskedLM", **settings)
    scorer = MaskedScorer(as_loaded(model, masked_tokenizer), ignore, variant)
    texts = ["This is a tall guy.", "This is a Deaf guy.", "Naïve people are people."]
    phrases = parts(texts, ["tall guy", "Deaf guy", "naïve people"])
    for spans in (whole(SENTENCES[:7]), phrases, whole(texts[:1], ["Hi! "])):
        values = naively(model, masked_tokenizer, spans, variant)
        assert_scores(scorer.score(spans, ignore), values)


@pytest.mark.parametrize(("config", "settings"), MODELS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_head_is_computed_at_the_masks_alone(config: str, settings: dict[str, Any], masked_tokenizer: Any) -> None:
    model = make_model(config, "AutoModelForMaskedLM", **settings)
    scorer = MaskedScorer(as_loaded(model, masked_tokenizer), ignore)
    scorer.score(whole(SENTENCES[:2]), ignore)
    positions: list[int] = []
    model.get_output_embeddings().register_forward_hook(lambda _, given, __: positions.append(given[0].shape[1]))
    scorer.score(whole(SENTENCES[:4]), ignore)
    assert set(positions) == {1}


def test_one_input_answers_for_every_word_that_may_stand_at_its_mask(masked_tokenizer: Any) -> None:
    scorer = MaskedScorer(as_loaded(make_model("BertConfig", "AutoModelForMaskedLM", **BERT), masked_tokenizer), ignore)
    texts = ["I'm x.", "I'm y.", "I'm z."]
    assert all(len(masked_tokenizer(t)["input_ids"]) == len(masked_tokenizer("I'm x.")["input_ids"]) for t in texts)
    work = scorer.work(Spans(texts, np.array([4] * 3, np.int32), np.array([5] * 3, np.int32), [""] * 3))
    assert work.tokens == 3 * work.forward


BART = DECODER | TINY["bart"][1] | {"forced_eos_token_id": None}
T5 = DECODER | TINY["t5"][1]
SPARSE = {"num_decoder_layers": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1, "num_experts": 4}
ENCODER_DECODERS: list[tuple[str, dict[str, Any]]] = [
    ("T5Config", T5),
    ("BartConfig", BART),
    ("BlenderbotConfig", BART),
    ("SwitchTransformersConfig", T5 | SPARSE),
]


def as_labels(model: Any, tokenizer: Any, spans: Spans) -> list[list[float]]:
    """Score one context and one text at a time with encoder and decoder."""
    rows = []
    for text, start, stop, context in zip(spans.text, spans.start, spans.stop, spans.context, strict=True):
        label = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = [model.config.decoder_start_token_id, 0, *label["input_ids"]]
        with torch.no_grad():
            inputs = torch.tensor([tokenizer(context)["input_ids"]])
            logits = model(input_ids=inputs, decoder_input_ids=torch.tensor([ids])).logits[0].double()
        values = -torch.log_softmax(logits, -1)
        places = zip(values[1:], label["input_ids"], label["offset_mapping"], strict=False)
        rows.append([float(own[token]) for own, token, (begin, end) in places if begin < stop and end > start])
    return rows


@pytest.mark.parametrize(("config", "settings"), ENCODER_DECODERS, ids=lambda v: v if isinstance(v, str) else "")
def test_the_text_is_scored_as_the_label_under_its_context(config: str, settings: dict[str, Any]) -> None:
    tokenizer = make_tokenizer(bos_token="<s>", eos_token="</s>", pad_token="<pad>")  # noqa: S106 - tokens
    surround(tokenizer, "<s> $A </s>")
    model = make_model(config, "AutoModelForSeq2SeqLM", **settings)
    scorer = Seq2SeqScorer(as_loaded(model, tokenizer), ignore)
    contexts = [("Hi!", "What do you do?", "")[i % 3] for i in range(len(SENTENCES))]
    phrase = parts(["I'm a tall guy.", "I'm a tall guy."], ["tall", "guy"], ["Hi!", "Hi!"])
    for spans in (whole(SENTENCES, contexts), phrase):
        values = as_labels(model, tokenizer, spans)
        assert_scores(scorer.score(spans, ignore), values)
        read = 2 * len(spans) + sum(len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in spans.text)
        assert scorer.work(spans) == Work(read, read)
    assert scorer.windows(["I'm tall."]) == [uncut("I'm tall.")]


def test_likelihoods_of_a_large_vocabulary_are_exact() -> None:
    logits, tokens = 5 * torch.randn(1, 33, 250_000, generator=torch.manual_seed(0)), torch.arange(33)[None]
    exact = torch.nn.functional.cross_entropy(logits[0, :-1].double(), tokens[0, 1:], reduction="none")
    assert float((following(logits, tokens)[0] - exact).abs().max()) < 5e-6


def test_words_that_a_tokenizer_does_not_mark_are_not_masked(masked_tokenizer: Any) -> None:
    loaded = as_loaded(make_model("BertConfig", "AutoModelForMaskedLM", **BERT), masked_tokenizer)
    scorer = MaskedScorer(loaded, ignore, "within_word_l2r")
    scorer._encoder._fast = None  # as of a tokenizer in Python
    with pytest.raises(ModelError, match="the tokenizer does not mark words: use the original pseudo-log-likelihood"):
        scorer.score(whole(["I'm tall."]), ignore)


def test_a_model_that_reads_no_plain_text_is_one_line() -> None:
    model = make_model("BartConfig", "AutoModelForSeq2SeqLM", **BART | {"max_position_embeddings": 4})
    model.config.max_position_embeddings = 128
    scorer = Seq2SeqScorer(as_loaded(model, make_tokenizer(bos_token="<s>")), ignore)  # noqa: S106 - a token
    with pytest.raises(ModelError, match=r"tiny \(BartFor.*\) cannot read a plain text: .*IndexError"):
        scorer.score(whole(["I'm a tall guy and a veteran."], ["Hi! What do you do for a living?"]), ignore)


@pytest.mark.parametrize(
    ("context", "message"),
    [("", "the encoder would read nothing.*--context"), ("Hi! " * 200, "the encoder reads at most 128 tokens")],
)
def test_a_context_that_no_encoder_can_read(context: str, message: str) -> None:
    model = make_model("BartConfig", "AutoModelForSeq2SeqLM", **BART)
    scorer = Seq2SeqScorer(as_loaded(model, make_tokenizer(bos_token="<s>", eos_token="</s>")), ignore)  # noqa: S106 - tokens
    with pytest.raises(ModelError, match=message):
        scorer.score(whole(["I'm tall."], [context]), ignore)


def test_what_is_no_number_is_refused(masked_tokenizer: Any) -> None:
    model = make_model("BertConfig", "AutoModelForMaskedLM", **BERT)
    model.cls.predictions.bias.data[:] = float("inf")
    with pytest.raises(ModelError, match=r"no finite likelihood for 1 of 2 sentences, for example '(tall ){16}': its"):
        score_spans(whole(["", "tall " * 20]), MaskedScorer(as_loaded(model, masked_tokenizer), ignore), ignore)


def test_a_decoder_needs_a_token_to_start_with() -> None:
    model = make_model("T5Config", "AutoModelForSeq2SeqLM", **TINY["t5"][1])
    model.generation_config.decoder_start_token_id = None
    with pytest.raises(ModelError, match="tiny: its configuration has no decoder_start_token_id"):
        Seq2SeqScorer(as_loaded(model, make_tokenizer()), ignore)


def test_an_encoder_needs_a_token_to_read() -> None:
    loaded = as_loaded(make_model("T5Config", "AutoModelForSeq2SeqLM", **TINY["t5"][1]), make_tokenizer())
    said = "makes no token of the context ''; if the measure takes --context, give one; else the tokenizer must add a"
    with pytest.raises(ModelError, match=said):
        Seq2SeqScorer(loaded, ignore).score(whole(["tall"]), ignore)


def test_a_text_without_a_token_has_no_score(masked_tokenizer: Any) -> None:
    scorer = MaskedScorer(as_loaded(make_model("BertConfig", "AutoModelForMaskedLM", **BERT), masked_tokenizer), ignore)
    assert scorer.score(whole([""]), ignore).tokens.tolist() == [0]
    first, *others = scorer.windows(["I'm tall. " * 40])[0]
    assert (first.begin, first.start, others[-1].stop) == (0, 0, 400)
