"""Texts to score: changed words, published texts, choices."""

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.models.likelihood.scorer import Scores
from holisticbias_eval.prompts.contexts import Unscored
from holisticbias_eval.prompts.pairs import (
    ask_choices,
    ask_pairs,
    ask_published,
    differing_places,
    published_texts,
    spans_of_choices,
)


def test_changed_words() -> None:
    def changed(one: str, other: str) -> list[tuple[str, str]]:
        return [(one[a:b], other[c:d]) for (a, b), (c, d) in differing_places(one, other)]

    assert changed("The dromel is here.", "The tazzin is here.") == [("dromel", "tazzin")]
    assert changed("He likes his hat.", "She likes her hat.") == [("He", "She"), ("his", "her")]
    assert changed("A dromel sat.", "An old clannet sat.") == [("A dromel", "An old clannet")]
    assert changed("The dromel, here.", "The dromel here.") == [(",", "")]
    assert changed("Same.", "Same.") == []
    assert changed("dromel dromel", "dromel tazzin") == [("dromel", "tazzin")]


WORDS = st.lists(st.sampled_from(["dromel", "tazzin", "is", "old", ",", "."]), max_size=8).map(" ".join)


@given(WORDS, WORDS)
def test_the_words_outside_the_places_are_the_same(one: str, other: str) -> None:
    def rest(text: str, places: list[tuple[int, int]]) -> list[str]:
        kept = [c for i, c in enumerate(text) if not any(a <= i < b for a, b in places)]
        return "".join(kept).split()

    found = list(differing_places(one, other))
    assert rest(one, [a for a, _ in found]) == rest(other, [b for _, b in found])


def test_published_texts() -> None:
    """Kocielnik's `_3_ss_test.py` adds a period to every template, also after a period."""
    texts = ("The Dromel likes Math.", "Ebony likes math", "She said that she left!", "They hear the dromel.")
    assert published_texts(texts, ("dromel", "Ebony", "she", "he")) == [
        "the dromel likes math..", "Ebony likes math.", "she said that she left!.", "they hear the dromel..",
    ]  # fmt: skip
    assert published_texts(["The dromel sat."], ["dromel"], replaced_by="[MASK]") == ["the [MASK] sat.."]


def table(*rows: tuple[str, str | None, str]) -> pa.Table:
    names = ("pair_id", "sentence", "other_sentence", "stereotyped")
    numbered = ((str(i), *row) for i, row in enumerate(rows))
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in numbered])


def scores(*nll: float, tokens: int = 2) -> Scores:
    size = np.full(len(nll), tokens, np.int32)
    return Scores(np.array(nll), size, size)


def test_scores_go_to_the_stereotyped_sentence() -> None:
    asked = ask_pairs(
        table(("a b", "a c", "sentence"), ("d", None, "sentence"), ("e", "f", "other_sentence")), with_changed=False
    )
    found = asked.answer(scores(1.0, 2.0, 3.0, 4.0))
    assert found["score_stereotype"].to_pylist() == [-1.0, None, -4.0]
    assert found["score_antistereotype"].to_pylist() == [-3.0, None, -2.0]


def test_the_published_formula_keeps_pairs_that_differ_in_the_first_word_alone() -> None:
    pairs = table(("a b", "c b", "sentence"), ("a b", "a c", "sentence"), ("a b", "c d", "sentence"))
    terms = pa.array(["b"] * 3)
    pairs = pairs.append_column("term", terms).append_column("other_term", terms)
    assert ask_published(pairs).unscored == Unscored(texts=6, of=6, left_out=0, kept=1, also=1)


def test_a_sentence_without_a_scored_token_has_no_score() -> None:
    found = ask_pairs(table(("a", "b", "sentence")), with_changed=False).answer(scores(0.0, 0.0, tokens=0))
    assert found["score_stereotype"].to_pylist() == [None]


def test_choices_are_asked_in_both_orders() -> None:
    choices = ask_choices(table(("one", "two", "sentence"), ("has <|end|>", "x", "sentence")), ["<|end|>"])
    assert choices.rows.tolist() == [0]
    assert ["A: one\nB: two" in choices.questions[0], "A: two\nB: one" in choices.questions[1]] == [True, True]
    asked = spans_of_choices(choices, "<user>{prompt}<bot>")
    assert list(asked.together.text) == ["A", "B", "A", "B"]
    assert all(c.startswith("<user>Which") and c.endswith("only.<bot>") for c in asked.together.context)


def test_order_effects() -> None:
    def effects(*chances: float) -> tuple[float | None, float | None]:
        """Of the chances of A in both orders."""
        answers = np.log([[chance, 1 - chance] for chance in chances])
        (found,) = ask_choices(table(("one", "two", "sentence"))).answer(answers).to_pylist()
        return found["offered_first"], found["orders_agree"]

    assert effects(0.9, 0.9) == (1.0, 0.0), "always A: the order decides"
    assert effects(0.9, 0.1) == (0.5, 1.0), "always the same sentence"
    assert effects(0.1, 0.1) == (0.0, 0.0)
    assert effects(np.nan, 0.1) == effects(0.5, 0.1) == (None, None), "undecided"
