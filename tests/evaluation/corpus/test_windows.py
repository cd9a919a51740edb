"""Terms as whole words, windows around mentions, their draw, and the filter before them."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.evaluation.corpus.invented import invented

from holisticbias_eval.corpus.documents import TextDocument, clean
from holisticbias_eval.corpus.mentions import TermFilter, target_filter
from holisticbias_eval.corpus.retrieving import MentionWindow, NoWindow, Reservoir, WindowFinder
from holisticbias_eval.stereotypes.targets import TermFinder

SPECIFICATION = invented()
FILLERS = " ".join("abcdefghij")


def find(text: str, words: int = 7) -> list[MentionWindow | NoWindow]:
    return list(WindowFinder(SPECIFICATION, words).find(text))


def negative(group: str, target: str, attribute: str, text: str) -> MentionWindow:
    return MentionWindow(group, target, attribute, "negative", text)


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("a blicket is grobby", 10**12, [negative("blicket", "blicket", "grobby", "a blicket is grobby")]),
        (
            f"{FILLERS} (blicket's) 1 2 3 4 5 6 grobby {FILLERS}",
            7,
            [negative("blicket", "blicket", "grobby", "d e f g h i j (blicket's) 1 2 3 4 5 6 grobby")],
        ),
        ("blicket 1 2 3 4 5 6 7 grobby", 7, ["no attribute"]),
        ("blicket 1 grobby", 1, ["no attribute"]),
        ("grobby 1 blicket 2 3", 2, [negative("blicket", "blicket", "grobby", "grobby 1 blicket 2 3")]),
        ("blickets are grobby and stads", 7, ["several groups", "several groups"]),
        ("flerning stads are grobby", 7, [negative("stad", "stads", "flern*", "flerning stads are grobby")]),
        (
            "trindle a b blicket elder ugsome",
            7,
            [negative("blicket", "blicket elder", "ugsome", "trindle a b blicket elder ugsome")],
        ),
        ("two blickets, blicket-like grobby blickets", 7, [
            negative("blicket", "blickets", "grobby", "two blickets, blicket-like grobby blickets")
        ]),
        (f"grobby stad {FILLERS} {FILLERS} stadic grobby", 2, [
            negative("stad", "stad", "grobby", "grobby stad a b"),
            negative("stad", "stadic", "grobby", "i j stadic grobby"),
        ]),
        ("", 7, []),
    ],
)  # fmt: skip
def test_windows(text: str, words: int, found: list[MentionWindow | NoWindow]) -> None:
    assert find(text, words) == found


def test_an_attribute_in_a_term_of_a_group_does_not_count() -> None:
    one = SPECIFICATION.attributes[0].model_copy(update={"terms": ("elder",)})
    finder = WindowFinder(SPECIFICATION.model_copy(update={"attributes": (one,)}), 7)
    assert list(finder.find("a blicket elder")) == ["no attribute"]
    assert list(finder.find("a blicket elder is elder")) == [
        negative("blicket", "blicket elder", "elder", "a blicket elder is elder")
    ]


TERMS = {"blickets": "blicket", "blicket": "blicket", "blicket elder": "blicket"}
TERMS |= {"stads": "stad", "stad": "stad", "stadic": "stad"}


def slow(text: str, words: int) -> list[tuple[str, str, str] | str]:
    """The group, target and text of windows, word by word."""
    tokens = text.split()
    cores = [token.strip("().,'").removesuffix("'s") for token in tokens]
    mentions = []
    at = 0
    while at < len(tokens):
        pair = " ".join(cores[at : at + 2])
        if " " in pair and pair in TERMS:
            mentions.append((at, at + 2, pair))
            at += 2
            continue
        if cores[at] in TERMS:
            mentions.append((at, at + 1, cores[at]))
        at += 1
    found: list[tuple[str, str, str] | str] = []
    done = 0
    for start, stop, term in mentions:
        if start < done:
            continue
        first, last = max(0, start - words), min(len(tokens), stop + words)
        inside = {TERMS[t] for s, e, t in mentions if s >= first and e <= last}
        inside |= {"blicket"} if "blicket" in cores[first:last] else set()
        if len(inside) > 1:
            found.append("several groups")
        elif not any(core == "grobby" or core.startswith("flern") for core in cores[first:last]):
            found.append("no attribute")
        else:
            found.append((TERMS[term], term, " ".join(tokens[first:last])))
            done = last
    return found


WORDS = st.sampled_from(
    ["blickets", "(blicket", "blicket", "elder", "stads'", "stadic.", "stad's", "stads-like", "grobby,", "flerning"]
    + ["a"] * 6
)


@given(st.lists(WORDS, max_size=30).map(" ".join), st.integers(0, 4))
@example("blicket elder grobby a a elder blicket", 1)
def test_against_a_slow_search(text: str, words: int) -> None:
    found = [
        (one.group, one.target, one.text) if isinstance(one, MentionWindow) else str(one) for one in find(text, words)
    ]
    assert found == slow(text, words)


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 10), st.integers(0, 5))
def test_a_draw_depends_on_the_texts_alone(numbers: list[int], size: int, seed: int) -> None:
    """Not on order and repeats; a smaller draw is the beginning of a larger one."""
    whole: Reservoir[int] = Reservoir(1000, seed)
    small: Reservoir[int] = Reservoir(size, seed)
    for number in numbers:
        whole.offer(f"t{number}", number)
    for number in sorted(numbers):
        small.offer(f"t{number}", number)
    assert sorted(whole.drawn().values()) == sorted(set(numbers))
    assert list(small.drawn().items()) == list(whole.drawn().items())[:size]
    assert len(small) == min(size, len(set(numbers)))


LETTERS = st.text(alphabet="sSk\u017f\u212aKtad iI\u0130\u0131-'\u2019é\u00df\u1e9e", max_size=12)


@given(LETTERS, st.booleans())
@example("\u017ftad", True)
@example("\u212ait", False)
@example("k\u0130t and k\u0131t", False)  # letters that have another case in Turkish
@example("TI\u1e9e", False)
def test_the_filter_passes_every_mention(text: str, escaped: bool) -> None:
    terms = ["stad", "kit", "tad-kit people", "a's", "ti\u00df"]
    finder = TermFinder((term, term) for term in terms)
    line = json.dumps({"body": text}, ensure_ascii=escaped).encode()
    mentions = [*finder.find(text), *finder.find(clean(text))]
    assert TermFilter(terms)(line) or not mentions


def test_the_filter_stops_most_documents() -> None:
    may_mention = target_filter(SPECIFICATION)
    assert may_mention(b'{"body": "The STADIC ones"}')
    assert may_mention(rb'{"body": "\u0073tads"}')
    assert not may_mention(b'{"body": "nothing, \\u2019 \xc3\xa9 [red], removed"}')
    assert TermFilter(["é"])(b"any")
    assert not TermFilter([])(b"any")


@pytest.mark.parametrize("text", ["[Deleted]", "[removed]", "[deleted by user]", " [ Removed by Reddit ] "])
def test_the_filter_passes_deleted_texts_so_that_they_are_counted(text: str) -> None:
    assert TextDocument(text, "f:1").is_deleted
    assert target_filter(SPECIFICATION)(json.dumps({"body": text}).encode())


FINDER = TermFinder(
    [("blicket", "b"), ("blicket people", "bp"), ("blicket-maker", "bm"), ("greed*", "g"), ("lazy", "l"), ("jo's", "j")]
)


def test_whole_words() -> None:
    """Any case, hyphens or blanks, the longest term, stems."""
    expected = {
        "a Blicket came": [("Blicket", "b")],
        "blicket people came": [("blicket people", "bp")],
        "blicket  maker": [("blicket  maker", "bm")],
        "blickets came": [],
        "a blicket-like thing": [],
        "a blicket\u2011like thing": [],
        "a blicket\u2010maker": [("blicket\u2010maker", "bm")],
        "the blicket's hat": [("blicket", "b")],
        "Greedy, greed and agreed": [("Greedy", "g"), ("greed", "g")],
        "lazy lazybones": [("lazy", "l")],
        "Jo’s hat": [("Jo’s", "j")],  # noqa: RUF001
        "": [],
    }
    assert {text: [(text[m.start : m.stop], m.of) for m in FINDER.find(text)] for text in expected} == expected
