from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import ByT5Tokenizer, PreTrainedTokenizerFast

from holisticbias_eval.errors import ModelError, SelectionError
from holisticbias_eval.models.likelihood.causal import PLAIN, CausalScorer
from holisticbias_eval.models.likelihood.scorer import Scores
from holisticbias_eval.models.likelihood.spans import Spans, parts, uncut, whole
from holisticbias_eval.models.likelihood.tokens import TextEncoder
from holisticbias_eval.models.loading.load import load_model
from holisticbias_eval.models.loading.running import in_batches
from holisticbias_eval.models.loading.tokenizers import tokenizer_digest
from known import ignore
from tiny_models import as_loaded, saved, surround, trained_tokenizer

from .small_models import (
    COMMON,
    GPT2,
    SENTENCES,
    assert_scores,
    make_model,
    make_tokenizer,
    plain_part,
    plain_values,
    plainly,
)


@pytest.mark.parametrize("special", [{"bos_token": "<s>", "eos_token": "<s>"}, {}], ids=["bos", "no bos"])
@pytest.mark.parametrize(
    ("text", "phrase", "context"),
    [
        ("I'm a tall guy.", "tall guy", ""),
        ("I'm a tall guy.", "I'm", ""),
        ("Tall guys are people.", "tall guys", ""),
        ("señoras 🙂 naïve.", "🙂 naïve", ""),
        ("I'm a tall guy.", "tall", "Hi! What do you do? "),
        ("I'm a tall guy.", "I'm a tall guy.", "Hi! "),
    ],
)
def test_a_phrase_has_the_likelihood_of_its_tokens(
    text: str, phrase: str, context: str, special: Any, gpt2: Any
) -> None:
    tokenizer = make_tokenizer(**special)
    spans = parts([text], [phrase], [context])
    scores = CausalScorer(as_loaded(gpt2, tokenizer), ignore).score(spans, ignore)
    start, stop = len(context) + spans.start[0], len(context) + spans.stop[0]
    lead = [tokenizer.bos_token_id] if special else []
    inside = plain_part(gpt2, tokenizer, context + text, start, stop, lead)
    scored = [v for v in inside if not np.isnan(v)]
    assert scores.nll[0] == pytest.approx(sum(scored), abs=1e-4)
    assert scores.tokens[0] == len(scored)
    if len(scored) == len(inside):
        assert scores.bytes[0] == len(phrase.encode())


@pytest.mark.parametrize(
    ("special", "around", "lead"),
    [
        ({"bos_token": "<s>", "eos_token": "<s>"}, "$A </s>", ["<s>"]),
        ({"bos_token": "<s>", "eos_token": "</s>"}, "$A </s>", ["</s>"]),
        ({"bos_token": "<s>"}, "<s> $A </s>", ["<s>"]),
        ({"bos_token": "<s>"}, "<mask> <s> $A", ["<mask>", "<s>"]),
        ({}, "<unk> $A </s>", ["<unk>"]),
        ({}, "$A </s>", []),
    ],
)
def test_what_a_tokenizer_puts_before_a_text_is_given_and_what_it_puts_after_is_not(
    special: dict[str, str], around: str, lead: list[str], gpt2: Any
) -> None:
    tokenizer = make_tokenizer(**special)
    surround(tokenizer, around)
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    scores = scorer.score(whole(SENTENCES), ignore)
    before = tokenizer.convert_tokens_to_ids(lead)
    values = plain_values(gpt2, tokenizer, SENTENCES, before)
    assert_scores(scores, [own[max(0, len(before) - 1) :] for own in values])
    assert ("".join(lead) or "not counted") in scorer.settings["first_token"]


LLAMA = {"▁": 3, "▁I": 4, "▁a": 5, "ll": 6, "t": 7, "a": 8, "l": 9, "I": 10, "▁t": 11, "▁I▁t": 12, "<unk>": 0}


def test_bytes_stand_for_what_a_tokenizer_does_not_know_and_merges_reach_over_words(gpt2: Any) -> None:
    vocabulary = LLAMA | {f"<0x{i:02X}>": 20 + i for i in range(256)}
    merges = [("▁", "I"), ("▁", "t"), ("l", "l"), ("▁", "a"), ("▁I", "▁t")]
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=merges, byte_fallback=True, unk_token="<unk>"))  # noqa: S106 - a token
    backend.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    text = "I tall ñ🙂"
    pieces = ["▁I▁t", "a", "ll", "▁", "<0xC3>", "<0xB1>", "<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]
    assert tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"]) == pieces
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    values = [0.0, *plainly(gpt2, tokenizer(text)["input_ids"])]
    for phrase, inside in {"all": (1, 3), "tall": (1, 3), "l ñ": (2, 6), "🙂": (6, 10), text: (1, 10)}.items():
        scores = scorer.score(parts([text], [phrase]), ignore)
        assert scores.nll[0] == pytest.approx(sum(values[slice(*inside)]), abs=1e-4)
        assert scores.tokens[0] == inside[1] - inside[0]


SPACED = ("x 12 y.", " x  12", "12  x y ")


@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize("context", ["", "x ", "x  "])
def test_a_space_that_is_a_token_is_in_no_phrase_beside_it(trim: bool, context: str, gpt2: Any) -> None:
    """Of characters with a token each; the tokenizers of RoBERTa and GPT-NeoX leave spaces out of the places."""
    tokenizer = trained_tokenizer((), ("<s>",), **dict.fromkeys(("bos_token", "eos_token"), "<s>"))
    tokenizer.backend_tokenizer.post_processor = processors.ByteLevel(trim_offsets=trim)
    scorer, lead = CausalScorer(as_loaded(gpt2, tokenizer), ignore), [tokenizer.bos_token_id]
    for text in SPACED:
        values = plain_values(gpt2, tokenizer, [context + text], lead)[0]
        places = [(start, stop) for start in range(len(text)) for stop in range(start + 1, len(text) + 1)]
        start, stop = np.array(places, np.int32).T
        scores = scorer.score(Spans([text] * len(places), start, stop, [context] * len(places)), ignore)
        assert_scores(scores, [values[len(context) + a : len(context) + b] for a, b in places])
    assert ("spaces" in scorer.settings) is trim, "scores in stores are by the tokenizer's own places"


@pytest.mark.parametrize("kind", ["bytes", "pieces", "prepended"])
def test_a_space_that_a_tokenizer_puts_before_a_text_has_none_of_its_bytes(kind: str, gpt2: Any) -> None:
    tokenizer = trained_tokenizer((), ("<s>",))
    backend = tokenizer.backend_tokenizer
    if kind == "bytes":
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    else:
        backend.model = models.BPE(vocab={one: i for i, one in enumerate("\u2581x12é")}, merges=[])
        backend.pre_tokenizer = pre_tokenizers.Metaspace() if kind == "pieces" else None
        prepended = [normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")]
        backend.normalizer = normalizers.Sequence(prepended if kind == "prepended" else [])
    scores = CausalScorer(as_loaded(gpt2, tokenizer), ignore).score(whole(["x 12", "é1", "12"]), ignore)
    assert scores.bytes.tolist() == [4, 3, 2]
    assert scores.tokens.tolist() == [4, 2 + (kind == "bytes"), 2]


def test_without_a_first_token_its_bytes_do_not_count(gpt2: Any) -> None:
    tokenizer = make_tokenizer()
    text = "naïve people"
    (first, *_) = tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
    scores = CausalScorer(as_loaded(gpt2, tokenizer), ignore).score(whole([text, "I", ""]), ignore)
    assert scores.bytes.tolist() == [len(text[first[1] :].encode()), 0, 0]
    assert np.isnan(scores.perplexity[1:]).all()
    assert np.isnan(scores.byte_perplexity[1:]).all()


def test_perplexities_by_hand() -> None:
    scores = Scores(np.array([np.log(16), 0.0]), np.array([2, 0], np.int32), np.array([4, 3], np.int32))
    np.testing.assert_allclose(scores.perplexity, [4.0, np.nan])
    np.testing.assert_allclose(scores.byte_perplexity, [2.0, np.nan])


def test_a_prefix_space_is_the_tokenizers_own() -> None:
    plain, spaced = make_tokenizer(), make_tokenizer()
    spaced.backend_tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    one, other = (TextEncoder(t).encode(whole(["tall guy"])) for t in (plain, spaced))
    assert other.ids.tolist() == plain(" tall guy")["input_ids"] != one.ids.tolist()
    assert tokenizer_digest(plain) != tokenizer_digest(spaced)


def test_padding_and_specials_of_a_tokenizer_are_left_out() -> None:
    tokenizer = make_tokenizer(pad_token="<pad>")  # noqa: S106 - a token
    ids = tokenizer(["I'm a guy.", "I"], add_special_tokens=False)["input_ids"]
    tokenizer(["I'm a guy.", "I"], padding=True)
    encoded = TextEncoder(tokenizer).encode(whole(["I'm a guy.", "I"]))
    assert [encoded.row(i).tolist() for i in range(2)] == ids


@pytest.mark.parametrize("phrase", ["short", ""])
def test_a_phrase_that_is_not_in_its_text(phrase: str) -> None:
    with pytest.raises(SelectionError, match="is not in the text"):
        parts(["I'm a tall guy."], [phrase])


def test_texts_over_the_context_length_are_named(tokenizer: Any) -> None:
    model = make_model("GPT2Config", **GPT2 | {"n_positions": 8})
    with pytest.raises(ModelError, match=r"at most 8 tokens, and these texts have more: 'one two three"):
        CausalScorer(as_loaded(model, tokenizer), ignore).score(whole(["I", "one two three " * 5]), ignore)
    with pytest.raises(ModelError, match=r"texts have more: '(one two three ){5}one two th'; leave them out"):
        CausalScorer(as_loaded(model, tokenizer), ignore).score(whole(["one two three " * 50]), ignore)


def test_a_tokenizer_in_python_scores_whole_texts_alone(gpt2: Any) -> None:
    tokenizer = ByT5Tokenizer()
    scorer = CausalScorer(as_loaded(gpt2, tokenizer), ignore)
    assert_scores(scorer.score(whole(SENTENCES), ignore), plain_values(gpt2, tokenizer, SENTENCES, [1]))
    assert scorer.windows(["I'm tall. " * 40]) == [uncut("I'm tall. " * 40)]
    with pytest.raises(ModelError, match="does not say which characters a token covers, so only whole texts can be"):
        scorer.score(whole(["I'm tall."], ["Hi! "]), ignore)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_longer_text_is_probed_again(dtype: str, tokenizer: Any) -> None:
    window = {"num_key_value_heads": 2, "sliding_window": 12, "attn_implementation": "eager"}
    model = make_model("MistralConfig", **COMMON | window)
    scorer = CausalScorer(as_loaded(model, tokenizer), ignore, dtype=dtype)
    scorer.score(whole(["a b", "a c", "a b c"]), ignore)
    assert scorer.method != PLAIN
    text = "a b c d e f g h i j k l m n"
    found = scorer.score(whole([text]), ignore).nll[0]
    assert scorer.method == PLAIN
    near = 1e-4 if dtype == "float32" else 3
    assert found == pytest.approx(plainly(model, [0, *tokenizer(text)["input_ids"]]).sum(), abs=near)


def test_rounding_leaves_the_frequencies_of_positions_alone(tokenizer: Any, tmp_path: Path) -> None:
    folder = saved(tmp_path, make_model("LlamaConfig", **COMMON), tokenizer)
    model = load_model(str(folder), "AutoModelForCausalLM").load("bfloat16")
    assert model.dtype == torch.bfloat16
    assert model.model.rotary_emb.inv_freq.dtype == torch.float32


def test_batches_are_halved_where_memory_ends() -> None:
    done: list[tuple[int, int]] = []
    notices: list[str] = []

    def run(start: int, stop: int) -> None:
        if stop - start > 3:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        done.append((start, stop))

    in_batches(10, 8, run, notices.append)
    assert done == [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]
    assert len(notices) == 2


def test_one_item_that_does_not_fit_and_other_errors() -> None:
    def no_memory(start: int, stop: int) -> None:
        raise MemoryError

    def broken(start: int, stop: int) -> None:
        raise RuntimeError("shapes do not match")

    with pytest.raises(ModelError, match="out of memory"):
        in_batches(4, 4, no_memory, ignore)
    with pytest.raises(RuntimeError, match="shapes"):
        in_batches(4, 4, broken, ignore)
