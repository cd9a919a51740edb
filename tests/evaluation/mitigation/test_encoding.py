"""Texts as tokens to learn, their batches and likelihoods, against scoring one text at a time."""

import math

import numpy as np
import pyarrow as pa
import pytest

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.encoding import IGNORED, Collator, Encoder
from holisticbias_eval.mitigation.validation import measure_likelihoods, perplexity_of, validation_f
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.opening import find_opening
from holisticbias_eval.models.likelihood.spans import whole
from tiny_models import TEXTS, tiny_loaded

WINDOW = 128


def table(texts: list[str], contexts: list[str | None] | None = None) -> pa.Table:
    columns = {"text": pa.array(texts, pa.string())}
    return pa.table(columns if contexts is None else {**columns, "context": pa.array(contexts, pa.string())})


def test_only_the_text_is_learned_and_offsets_are_of_context_and_text() -> None:
    tokenizer = tiny_loaded("gpt2").tokenizer
    encoder = Encoder(tokenizer, WINDOW)
    (one,) = encoder.encode(table(["I'm a dax."], ["Hi! "])).texts
    assert one.text == "Hi! I'm a dax."
    spelt = ["".join(one.text[start:stop]) for start, stop in one.offsets]
    assert "".join(spelt) == one.text
    learned = [one.text[start:stop] for (start, stop), label in zip(one.offsets, one.labels, strict=True) if label >= 0]
    assert "".join(learned).strip() == "I'm a dax."
    assert [i for i, label in zip(one.ids, one.labels, strict=True) if label != IGNORED] == [
        label for label in one.labels if label != IGNORED
    ]


@pytest.mark.parametrize(("window", "kept"), [(6, 6), (12, 12), (500, None)])
def test_a_long_text_loses_its_context_first_and_then_its_end(window: int, kept: int | None) -> None:
    tokenizer = tiny_loaded("gpt2").tokenizer
    context, text = "What do you think about blickets? ", "I'm a blicket doff."
    full = Encoder(tokenizer, 10_000, "none").encode(table([text], [context])).texts[0]
    cut = Encoder(tokenizer, window, "none").encode(table([text], [context]))
    one = cut.texts[0]
    assert cut.cut == (kept is not None)
    assert len(one.ids) == (kept or len(full.ids))
    first = next(i for i, label in enumerate(full.labels) if label != IGNORED)
    learned = full.labels[first : first + window]
    if len(learned) == window:
        learned = learned[1:]  # the context is gone, so nothing is before the first token
    assert [label for label in one.labels if label != IGNORED] == learned


@pytest.mark.parametrize("first_token", ["auto", "none", "published", "<unk>"])
def test_training_reads_the_first_token_that_scoring_reads(first_token: str) -> None:
    loaded = tiny_loaded("gpt2")
    texts = [text for text in TEXTS if len(text) > 3]
    opening = find_opening(loaded.tokenizer, first_token)
    encoded = Encoder(loaded.tokenizer, WINDOW, first_token).encode(table(texts))
    assert all(tuple(one.ids[: len(opening.tokens)]) == opening.tokens for one in encoded.texts)
    scores = CausalScorer(loaded, lambda _: None, opening=opening).score(whole(texts), lambda _: None)
    found = perplexity_of(loaded.model, loaded.tokenizer, table(texts), first_token)
    assert found == pytest.approx(math.exp(scores.nll.sum() / scores.tokens.sum()), rel=1e-3)
    assert encoded.texts[0].learned == scores.tokens[0]


@pytest.mark.parametrize(("name", "batch"), [("gpt2", 1), ("gpt2", 8), ("llama", 3), ("neox", 3)])
def test_likelihoods_are_those_of_scoring(name: str, batch: int) -> None:
    loaded = tiny_loaded(name)
    texts = [text for text in TEXTS if len(text) > 3]
    contexts = ["Hi! " if i % 2 else "" for i in range(len(texts))]
    encoded = Encoder(loaded.tokenizer, WINDOW).encode(table(texts, [context or None for context in contexts]))
    found = measure_likelihoods(loaded.model, encoded.texts, Collator(loaded.tokenizer), batch)
    scores = CausalScorer(loaded, lambda _: None).score(whole(texts, contexts), lambda _: None)
    np.testing.assert_allclose(found.nll, scores.nll, rtol=2e-4)
    np.testing.assert_array_equal(found.tokens, scores.tokens)
    assert found.perplexity == pytest.approx(math.exp(scores.nll.sum() / scores.tokens.sum()), rel=1e-3)
    own = perplexity_of(loaded.model, loaded.tokenizer, table(texts, list(contexts)))
    assert own == pytest.approx(found.perplexity, rel=1e-4)
    assert not loaded.model.training


def test_f_of_log_perplexities_is_that_of_scipy_and_null_where_it_is_not_defined() -> None:
    from scipy.stats import f_oneway

    loaded = tiny_loaded("gpt2")
    groups = {"a": ["I'm a wug.", "I love a wug!", "Hi, wug."], "b": ["I'm a dax.", "I love a dax!", "Hi, dax."]}
    texts = [text for own in groups.values() for text in own]
    rows = table(texts).append_column("group", pa.array([name for name, own in groups.items() for _ in own]))
    scores = CausalScorer(loaded, lambda _: None).score(whole(texts), lambda _: None)
    logs = np.log(scores.perplexity)
    assert validation_f(loaded.model, loaded.tokenizer, rows) == pytest.approx(
        f_oneway(logs[:3], logs[3:]).statistic, rel=1e-2
    )
    assert validation_f(loaded.model, loaded.tokenizer, rows.take([0, 1, 3, 4])) is not None
    assert validation_f(loaded.model, loaded.tokenizer, rows.slice(0, 3)) is None
    assert validation_f(loaded.model, loaded.tokenizer, rows.take([0, 3])) is None
    with pytest.raises(MitigationError, match="there is no text to validate on: the corpus needs a validation part"):
        perplexity_of(loaded.model, loaded.tokenizer, rows.slice(0, 0))
    same = rows.take([0, 0, 0]).append_column("n", pa.array([1, 2, 3])).select(["text"])
    same = pa.concat_tables([same, same]).append_column("group", pa.array(list("aaabbb")))
    assert validation_f(loaded.model, loaded.tokenizer, same) is None
