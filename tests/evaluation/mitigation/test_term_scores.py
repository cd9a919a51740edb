"""Each group's term in the place of a mention is scored whole, with any tokenizer, batch and padding."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from tests.evaluation.mitigation.term_models import (
    SPECIFICATION,
    TASK,
    TEXTS,
    make_batch,
    make_tokenizer,
    plain_scores,
    read_batch,
)

from holisticbias.terms.specification_entries import Slot, WordForms
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.mitigation.losses import term_scores
from holisticbias_eval.mitigation.losses.term_reader import TermReader, alternatives
from holisticbias_eval.mitigation.losses.term_scores import term_log_probabilities
from holisticbias_eval.models.loading.running import in_float64
from tiny_models import tiny_model


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(request: pytest.FixtureRequest) -> Any:
    return tiny_model(request.param).double()


@pytest.fixture(scope="module", params=["bytes", "pieces", "joined"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return make_tokenizer(request.param)


def scored(model: Any, tokenizer: Any, texts: tuple[str, ...] = TEXTS, **options: Any) -> torch.Tensor:
    batch = make_batch(tokenizer, texts, **options)
    prepared = TermReader(TASK, tokenizer).prepare(batch)
    return term_log_probabilities(model, read_batch(model, batch), prepared)


def values_and_gradients(model: Any, found: torch.Tensor) -> list[torch.Tensor]:
    """Values, and the gradients of their sum, in which each has another weight."""
    model.zero_grad()
    (found * torch.arange(1, found.numel() + 1).view(found.shape)).sum().backward()  # type: ignore[no-untyped-call]
    return [found.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


def test_same_as_scoring_one_token_at_a_time(model: Any, tokenizer: Any) -> None:
    expected = [row for text in TEXTS for row in plain_scores(model, tokenizer, text)]
    assert len(expected) == 6
    assert scored(model, tokenizer).tolist() == [pytest.approx(row, abs=1e-6) for row in expected]


@pytest.mark.parametrize(
    ("written", "term"), [("We met a blick.", "We met a blicket."), ("Blicks sing", "Blickets sing")]
)
def test_word_forms_are_scored_as_the_terms_that_are_written_for_them(model: Any, written: str, term: str) -> None:
    """The term of the mention's own group is not in the batch then."""
    forms = (WordForms(of="blicket", words=("blick",)), WordForms(of="blickets", words=("blicks",)))
    task = replace(TASK, specification=SPECIFICATION.model_copy(update={"forms": forms}))
    tokenizer = make_tokenizer("bytes")
    batch = make_batch(tokenizer, (written, "so blicketish"))
    reader = TermReader(task, tokenizer)
    found = term_log_probabilities(model, read_batch(model, batch), reader.prepare(batch))
    assert reader.compared == 2
    torch.testing.assert_close(found, scored(model, tokenizer, (term, "so blicketish")))


def test_small_passes_give_the_same_gradient(model: Any, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ("Near the old market blickets sing, and stads sing to the elmfolk and blickets, stads and elmfolk",)
    one_pass = values_and_gradients(model, scored(model, tokenizer, texts))
    rows = list[int]()
    monkeypatch.setattr(term_scores, "_FEWEST_TOKENS", 1)
    one: Callable[..., torch.Tensor] = term_scores._scored

    def counted(model: Any, prepared: Any, layers: Any, chosen: slice, inside: torch.Tensor) -> torch.Tensor:
        rows.append(chosen.stop - chosen.start)
        return one(model, prepared, layers, chosen, inside)

    monkeypatch.setattr(term_scores, "_scored", counted)
    many = values_and_gradients(model, scored(model, tokenizer, texts))
    assert len(rows) > 2  # the passes, and again for the gradient
    torch.testing.assert_close(many, one_pass)


def test_skipped_mentions_are_counted() -> None:
    def counted(text: str, *, opened: bool = True) -> tuple[int, dict[str, int]]:
        tokenizer = make_tokenizer("bytes")
        reader = TermReader(TASK, tokenizer)
        prepared = reader.prepare(make_batch(tokenizer, (text,), opened=opened))
        assert len(prepared["present"]) == reader.compared
        return reader.compared, dict(reader.skipped)

    assert counted("blickets sing") == (1, {})
    assert counted("blickets sing", opened=False) == (0, {"no token before the term": 1})
    assert counted("the wug and a blicket") == (1, {"of a group that takes no part": 1})
    assert counted("the blicket elder") == (0, {"no other group has a term that fits its place": 1})
    assert counted("nobody") == (0, {})


def test_cut_texts_and_small_windows() -> None:
    tokenizer = make_tokenizer("bytes")
    batch = make_batch(tokenizer, ("We met a blicket near the old market, and a stad.",))
    cut = replace(batch, input_ids=batch.input_ids[:, :-3], attention_mask=batch.attention_mask[:, :-3])
    reader = TermReader(TASK, tokenizer)
    reader.prepare(cut)
    assert (reader.compared, dict(reader.skipped)) == (1, {"cut off with the end of its text": 1})
    for ids in (batch.input_ids.flip(1), batch.input_ids * 0 + int(tokenizer.all_special_ids[0])):
        reader = TermReader(TASK, tokenizer)
        reader.prepare(replace(batch, input_ids=ids))
        assert dict(reader.skipped) == {"its text has other tokens in the batch": 2}
    reader = TermReader(TASK, tokenizer)
    reader.prepare(replace(batch, window=4))
    assert (reader.compared, sum(reader.skipped.values())) == (0, 2)


def test_a_term_that_the_tokenizer_cannot_write_is_not_compared() -> None:
    tokenizer = make_tokenizer("pieces")
    strange = SPECIFICATION.model_copy(
        update={"slots": (SPECIFICATION.slots[1].model_copy(update={"terms": ("blicket", "ж", "elmer", "wug")}),)}
    )
    reader = TermReader(replace(TASK, specification=strange), tokenizer)
    reader.prepare(make_batch(tokenizer, ("We met a blicket",)))
    assert dict(reader.skipped) == {"a term is unknown to the tokenizer": 1}


LONGER = (*TEXTS, f"{' '.join(['Near the old market'] * 3)} a blicket sang to stads, and an elmer to a blicket.")


@pytest.mark.parametrize(
    ("name", "shares"), [("gpt2", True), ("llama", True), ("bloom", True), ("mistral", False), ("mamba", False)]
)
@pytest.mark.parametrize(("side", "kind"), [("right", "bytes"), ("left", "joined")])
def test_prefixes_that_are_read_once_give_the_same_values_and_gradients(
    name: str, shares: bool, side: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mistral keeps 12 tokens, which is enough for the first text; mamba keeps a state."""
    model, tokenizer = tiny_model(name), make_tokenizer(kind)
    reader = TermReader(TASK, tokenizer)
    batch = make_batch(tokenizer, LONGER, side=side)
    prepared = reader.prepare(batch)

    def read() -> list[torch.Tensor]:
        with in_float64(model):
            logits = model(input_ids=batch.input_ids, attention_mask=batch.attention_mask).logits
            found = term_log_probabilities(model, logits, prepared)
        return values_and_gradients(model, found * prepared["present"])

    term_scores.read_prefixes(model, reader.prepare(make_batch(tokenizer, ("a stad",), side=side)))
    assert (term_scores.read_prefixes(model, prepared) is not None) == shares
    fast = read()
    monkeypatch.setattr(term_scores, "read_prefixes", lambda *_: None)
    slow = read()
    torch.testing.assert_close(fast[0], slow[0], rtol=1e-9, atol=1e-9)
    for one, other in zip(fast[1:], slow[1:], strict=True):  # gradients are added up in float32
        assert (one - other).abs().max() <= 1e-6 * other.abs().max()


def test_padding_and_batch_make_no_difference(model: Any, tokenizer: Any) -> None:
    together = scored(model, tokenizer)
    torch.testing.assert_close(scored(model, tokenizer, side="left"), together)
    alone = torch.cat([scored(model, tokenizer, (text,)) for text in TEXTS if text != "Nobody came."])
    torch.testing.assert_close(alone, together)


def test_every_group_in_one_place() -> None:
    def made(text: str) -> list[str]:
        mention = next(target_finder(SPECIFICATION).find(text))
        found = alternatives(text, mention, SPECIFICATION, TASK.groups)
        return [f"{m.text[: m.start]}[{m.text[m.start : m.stop]}]{m.text[m.stop :]}" for m in found]

    assert made("a blicket sings") == ["a [blicket] sings", "a [stad] sings", "an [elmer] sings"]
    assert made("An elmer sings") == ["A [blicket] sings", "A [stad] sings", "An [elmer] sings"]
    assert made("Stads sing") == ["[Blickets] sing", "[Stads] sing", "[Elmfolk] sing"]
    assert made("the STAD's hat") == ["the [BLICKET]'s hat", "the [STAD]'s hat", "the [ELMER]'s hat"]
    assert made("the blicket elder") == ["the [blicket elder]"]


def test_alternatives_have_the_part_of_speech_and_the_number_of_the_mention() -> None:
    """The slots of adjectives come first, as in the shipped specifications."""
    slots = (
        Slot(form="adjective", terms=("mellan", "stadic", "elmish", None)),
        Slot(form="noun", terms=("mellan", "stad", "elmer", None)),
        Slot(form="plural", terms=("mellans", "stads", "elmfolk", None)),
    )
    specification = SPECIFICATION.model_copy(update={"slots": slots})
    for made in (
        ["he is a mellan.", "he is a stad.", "he is an elmer."],
        ["the mellan's house", "the stad's house", "the elmer's house"],
        ["a mellan house", "a stadic house", "an elmish house"],
        ["a mellan sings"],  # a verb, or a plural that "mellan" describes
        ["MELLANS are here", "STADS are here", "ELMFOLK are here"],
    ):
        mention = next(target_finder(specification).find(made[0]))
        assert [m.text for m in alternatives(made[0], mention, specification, TASK.groups)] == made


def test_a_word_form_is_compared_as_the_term_that_is_written_for_it() -> None:
    forms = (WordForms(of="blickets", words=("blicks",)), WordForms(group="blicket", words=("blicketness",)))
    specification = SPECIFICATION.model_copy(update={"forms": forms})
    for text, expected in (
        ("all blicks sing", ["all blickets sing", "all stads sing", "all elmfolk sing"]),
        ("the blicketness of it", ["the blicketness of it"]),
    ):
        mention = next(target_finder(specification).find(text))
        assert [m.text for m in alternatives(text, mention, specification, TASK.groups)] == expected
