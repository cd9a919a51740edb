"""The texts with each group's term in the place of a mention, and the tokens in which they differ."""

from __future__ import annotations

import pytest
from tests.evaluation.mitigation.term_models import SPECIFICATION, TASK

from holisticbias.terms.specification_entries import Slot, WordForms
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.mitigation.losses.term_reader import TextTokens, align, alternatives


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a blicket sings", ["a [blicket] sings", "a [stad] sings", "an [elmer] sings"]),
        ("An elmer sings", ["A [blicket] sings", "A [stad] sings", "An [elmer] sings"]),
        ("Stads sing", ["[Blickets] sing", "[Stads] sing", "[Elmfolk] sing"]),
        ("the STAD's hat", ["the [BLICKET]'s hat", "the [STAD]'s hat", "the [ELMER]'s hat"]),
        ("the blicket elder", ["the [blicket elder]"]),
    ],
)
def test_every_group_in_one_place(text: str, expected: list[str]) -> None:
    mention = next(target_finder(SPECIFICATION).find(text))
    made = alternatives(text, mention, SPECIFICATION, TASK.groups)
    assert [f"{m.text[: m.start]}[{m.text[m.start : m.stop]}]{m.text[m.stop :]}" for m in made] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he is a mellan.", ["he is a mellan.", "he is a stad.", "he is an elmer."]),
        ("the mellan's house", ["the mellan's house", "the stad's house", "the elmer's house"]),
        ("a mellan house", ["a mellan house", "a stadic house", "an elmish house"]),
        ("a mellan sings", ["a mellan sings"]),  # a verb, or a plural that "mellan" describes
        ("MELLANS are here", ["MELLANS are here", "STADS are here", "ELMFOLK are here"]),
    ],
)
def test_alternatives_have_the_part_of_speech_and_the_number_of_the_mention(text: str, expected: list[str]) -> None:
    """The slots of adjectives come first, as in the shipped specifications."""
    slots = (
        Slot(form="adjective", terms=("mellan", "stadic", "elmish", None)),
        Slot(form="noun", terms=("mellan", "stad", "elmer", None)),
        Slot(form="plural", terms=("mellans", "stads", "elmfolk", None)),
    )
    specification = SPECIFICATION.model_copy(update={"slots": slots})
    mention = next(target_finder(specification).find(text))
    assert [m.text for m in alternatives(text, mention, specification, TASK.groups)] == expected


def test_a_word_form_is_compared_as_the_term_that_is_written_for_it() -> None:
    forms = (WordForms(of="blickets", words=("blicks",)), WordForms(group="blicket", words=("blicketness",)))
    specification = SPECIFICATION.model_copy(update={"forms": forms})
    for text, expected in (
        ("all blicks sing", ["all blickets sing", "all stads sing", "all elmfolk sing"]),
        ("the blicketness of it", ["the blicketness of it"]),
    ):
        mention = next(target_finder(specification).find(text))
        assert [m.text for m in alternatives(text, mention, specification, TASK.groups)] == expected


def cut(*tokens: str) -> TextTokens:
    """A text cut into tokens; equal tokens have equal ids."""
    ends = [sum(map(len, tokens[: i + 1])) for i in range(len(tokens))]
    ids = [int.from_bytes(token.encode(), "big") for token in tokens]
    return TextTokens(ids, [(end - len(token), end) for token, end in zip(tokens, ends, strict=True)])


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # plain: a token for each
        ((("a", " dax", " ran"), (2, 5)), (("a", " wug", " ran"), (2, 5)), (1, [[" dax"], [" wug"]])),
        # several tokens; the last is equal, and is part of the term
        (
            (("a", " da", "s", " ran"), (2, 5)), (("a", " bli", "p", "s", "."), (2, 7)),
            (1, [[" da", "s", " ran"], [" bli", "p", "s", "."]]),
        ),
        ((("a", " da", "s", "."), (2, 5)), (("a", " bli", "s", "."), (2, 6)), (1, [[" da", "s"], [" bli", "s"]])),
        # joined with the mark after it: the mark belongs to every term
        ((("a", " dax!"), (2, 5)), (("a", " wug", "!"), (2, 5)), (1, [[" dax!"], [" wug", "!"]])),
        # joined with the text before it
        ((("a da", "x", " b"), (2, 5)), (("a", " wug", " b"), (2, 5)), (0, [["a da", "x"], ["a", " wug"]])),
        # the article differs
        ((("so", " a", " dax"), (5, 8)), (("so", " an", " elm"), (6, 9)), (1, [[" a", " dax"], [" an", " elm"]])),
        # terms that begin alike
        ((("a", " da", "x"), (2, 5)), (("a", " da", "b"), (2, 5)), (1, [[" da", "x"], [" da", "b"]])),
    ],
)  # fmt: skip
def test_tokens_of_terms(
    first: tuple[tuple[str, ...], tuple[int, int]],
    second: tuple[tuple[str, ...], tuple[int, int]],
    expected: tuple[int, list[list[str]]],
) -> None:
    terms = [tuple(cut(*tokens).ids) for tokens in expected[1]]
    assert align([cut(*first[0]), cut(*second[0])], [first[1], second[1]]) == (expected[0], terms)
