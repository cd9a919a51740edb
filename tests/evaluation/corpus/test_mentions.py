"""Terms and attributes are found as whole words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.corpus.mentions import TermFinder

FINDER = TermFinder(
    [("blicket", "b"), ("blicket people", "bp"), ("blicket-maker", "bm"), ("greed*", "g"), ("lazy", "l"), ("jo's", "j")]
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a Blicket came", [("Blicket", "b")]),
        ("blicket people came", [("blicket people", "bp")]),
        ("blicket  maker", [("blicket  maker", "bm")]),
        ("blickets came", []),
        ("a blicket-like thing", []),
        ("the blicket's hat", [("blicket", "b")]),
        ("Greedy, greed and agreed", [("Greedy", "g"), ("greed", "g")]),
        ("lazy lazybones", [("lazy", "l")]),
        ("Jo’s hat", [("Jo’s", "j")]),  # noqa: RUF001
        ("", []),
    ],
)
def test_whole_words(text: str, found: list[tuple[str, str]]) -> None:
    """Any case, hyphens or blanks, the longest term, stems."""
    assert [(text[m.start : m.stop], m.of) for m in FINDER.find(text)] == found


def slow(text: str, terms: tuple[str, ...], stem: str) -> list[tuple[int, str]]:
    """The places and terms of the mentions, character by character."""
    found, start = [], 0
    while start < len(text):
        ended = start > 0 and (text[start - 1].isalnum() or (text[start - 1] in "-'" and text[:start][-2:-1].isalnum()))
        for term in sorted((*terms, stem), key=lambda one: (-len(one), one)):
            stop = start + len(term)
            if ended or text[start:stop].lower() != term:
                continue
            rest = text[stop:]
            if term == stem:
                stop += len(rest) - len(rest.lstrip("abAB"))
            elif rest[:1].isalnum() or (rest[:1] == "-" and rest[1:2].isalnum()):
                continue
            found.append((start, term))
            start = stop - 1
            break
        start += 1
    return found


@given(st.text(alphabet="abAB -'.", max_size=14))
def test_against_a_slow_search(text: str) -> None:
    terms, stem = ("a", "ab", "aba", "bb"), "bab"
    finder = TermFinder([*((term, term) for term in terms), (f"{stem}*", stem)])
    assert [(m.start, m.of) for m in finder.find(text)] == slow(text, terms, stem)
