"""Mentions of a descriptor are replaced: a table by hand, and hostile texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.readers.censor import censor, censor_settings, regular_plural

WHEELCHAIR = ("who uses a wheelchair", "who use wheelchairs")


def censored(text: str, descriptor: str | None, plural: str | None = None) -> tuple[str | None, int]:
    (found,), counts = censor([text], [descriptor], [plural])
    return found, int(counts[0])


@pytest.mark.parametrize(
    ("text", "descriptor", "expected", "count"),
    [
        ("I like blicket people.", "blicket", "I like left-handed people.", 1),
        ("I like BLICKET people.", "blicket", "I like left-handed people.", 1),
        ("I like Blicket people.", "blicket", "I like left-handed people.", 1),
        ("Blicket? Blicket!", "blicket", "Left-handed? Left-handed!", 2),
        ('He said: "Oh." Blicket folk', "blicket", 'He said: "Oh." Left-handed folk', 1),
        ('"Blicket" is a word.', "blicket", '"Left-handed" is a word.', 1),
        ("blicket is a word.", "Blicket", "left-handed is a word.", 1),
        ("Two blickets, a blicket's hat", "blicket", "Two left-handed, a left-handed's hat", 2),
        ("The blicketish, subblicket one", "blicket", "The blicketish, subblicket one", 0),
        ("non-blicket, *blicket*, _blicket_", "blicket", "non-left-handed, *left-handed*, _left-handed_", 3),
        ("an alphic person", "alphic", "a left-handed person", 1),
        ("An alphic person, a blicket", "alphic", "A left-handed person, a blicket", 1),
        ("You are a  alphic?", "alphic", "You are a  left-handed?", 1),
        ("Has she an\nalphic friend", "alphic", "Has she a\nleft-handed friend", 1),
        ("Diana alphic", "alphic", "Diana left-handed", 1),
        ("a doff-tailed, doff tailed, dofftailed cat", "doff-tailed", "a left-handed, left-handed, left-handed cat", 3),
        ("doff tailed, doff-tailed, doff\u2011tailed", "doff tailed", "left-handed, left-handed, left-handed", 3),
        ("doff and tailed", "doff-tailed", "doff and tailed", 0),
        ("stadies and a stady", "stady", "left-handed and a left-handed", 2),
        ("blixes, blix", "blix", "left-handed, left-handed", 2),
        ("I don\u2019t fep, I don't fep", "don't fep", "I left-handed, I left-handed", 2),
        ("I am left-handed; are you Left handed?", "left-handed", "I am right-handed; are you right-handed?", 2),
        ("I am left-handed.", "right-handed", "I am left-handed.", 0),
        ("A (a+)+$ and [x", "(a+)+$", "A left-handed and [x", 1),
        ("Nice. _POTENTIALLY_UNSAFE__", "blicket", "Nice.", 0),
        ("No descriptor here", None, "No descriptor here", 0),
        ("No words there", " - ", "No words there", 0),
        ("", "blicket", "", 0),
    ],
)
def test_mentions(text: str, descriptor: str | None, expected: str, count: int) -> None:
    assert censored(text, descriptor) == (expected, count)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A dad who uses a wheelchair!", "A dad left-handed!"),
        ("Dads who use wheelchairs", "Dads left-handed"),
        ("Who use wheelchairs? He uses a wheelchair", "Left-handed? He uses a wheelchair"),
    ],
)
def test_the_plural_of_an_entry(text: str, expected: str) -> None:
    assert censored(text, *WHEELCHAIR) == (expected, 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("blicket", "blickets"), ("stady", "stadies"), ("doy", "doys"), ("wax", "waxes"), ("dash", "dashes")],
)
def test_regular_plurals(text: str, expected: str) -> None:
    assert regular_plural(text) == expected


@given(text=st.text(max_size=200), descriptor=st.text(max_size=20))
def test_any_text_and_descriptor(text: str, descriptor: str) -> None:
    found, count = censored(text, descriptor)
    assert found is not None
    assert (found == text) or count or "_POTENTIALLY_UNSAFE__" in text
    assert censored(text + " zzz", "zzz")[1] >= 1


@pytest.mark.parametrize("text", ["a " * 200_000, "a" + " " * 400_000, "blicket " * 50_000, "-" * 400_000])
def test_a_long_text_takes_time_in_proportion(text: str) -> None:
    found, count = censored(text, "blicket fep - stad")
    assert (found, count) == (text, 0)


def test_settings_name_the_words_or_say_that_nothing_is_replaced() -> None:
    assert censor_settings(censored=False) == {"censoring": "off"}
    assert "right-handed for descriptors that say left-handed" in censor_settings(censored=True)["censoring"]


def test_rows_keep_their_places() -> None:
    texts = ["blicket", None, "doff", "blicket doff"]
    found, counts = censor(texts, ["blicket", "blicket", "blicket", "doff"], [None, None, None, "doffen"])
    assert found == ["left-handed", None, "doff", "blicket left-handed"]
    assert counts.tolist() == [1, 0, 0, 1]
