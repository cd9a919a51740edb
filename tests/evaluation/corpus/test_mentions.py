"""Terms and attributes are found as whole words."""

from __future__ import annotations

import pytest

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
