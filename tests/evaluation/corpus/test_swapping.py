"""Terms of groups and attributes are swapped, with articles and capitals kept right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluation.corpus.invented import ADJECTIVES, GROUPS, PLURALS, SINGULARS, invented

from holisticbias.terms.specification_entries import Slot, Specification, TargetGroup
from holisticbias_eval.corpus.mentions import target_finder
from holisticbias_eval.corpus.swapping import Swapped, swap_attributes, swap_for_all_groups, swap_targets
from holisticbias_eval.errors import SpecificationError

SPECIFICATION = invented()
FILLERS = ("sing", "to the", "market!", "I", "it's", "2 hats,", "blicketest", "grobby")
words = st.lists(st.sampled_from(FILLERS), max_size=3).map(" ".join)


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """A sentence with one to three mentions of a group, with the right article before nouns and adjectives."""
    parts = []
    group = draw(st.integers(0, 3))
    for _ in range(draw(st.integers(1, 3))):
        term = draw(st.sampled_from([PLURALS[group], SINGULARS[group], ADJECTIVES[group]]))
        article = "" if term in PLURALS else draw(st.sampled_from(["", "an " if term[0] == "e" else "a "]))
        shown = draw(st.sampled_from([term, term.capitalize(), term.upper()]))
        parts.append(f"{draw(words)} {article}{shown}")
    return " ".join([*parts, draw(words)])


def test_targets() -> None:
    expected = {
        ("a blicket came", "elm"): Swapped("an elmer came", "elmer"),
        ("An elmer came", "stad"): Swapped("A stad came", "stad"),
        ("A  blicket came", "elm"): Swapped("An  elmer came", "elmer"),
        ("Blickets sing", "stad"): Swapped("Stads sing", "stads"),
        ("the blicket's blicketish hat", "wug"): Swapped("the wug's wuggy hat", "wug"),
        ("a stad met a blicket", "blicket"): "about several groups",
        ("a stad is anti-blicket", "elm"): "about several groups",
        ("a old blicket", "elm"): Swapped("a old elmer", "elmer"),  # the article is not the term's
        ("a stad in a stad-made hat", "elm"): "still names a group",
        ("a stad in a stad-made hat", "stad"): Swapped("a stad in a stad-made hat", "stad"),
        ("the blicket elder", "blicket"): Swapped("the blicket elder", "blicket elder"),
        ("the blicket elder", "elm"): "no term that fits its place",
        ("a blicket and a blicket elder", "elm"): "no term that fits its place",
        ("nobody came", "elm"): "no term of a group",
        ("", "elm"): "no term of a group",
    }
    assert {(text, group): swap_targets(text, SPECIFICATION, group) for text, group in expected} == expected


def test_capitals_of_the_specification() -> None:
    slots = (Slot(form="adjective", terms=("stadic", "Bigian")), Slot(terms=("stad", "XQZ")))
    groups = tuple(TargetGroup(name=name, label=name) for name in ("stad", "big"))
    own = SPECIFICATION.model_copy(update={"slots": slots, "groups": groups})
    expected = {
        ("I met a stadic singer", "big"): "I met a Bigian singer",  # a name keeps its capital
        ("i met a stadic singer", "big"): "i met a bigian singer",  # a text without capitals stays without
        ("A Bigian singer", "stad"): "A stadic singer",
        ("Bigian songs", "stad"): "Stadic songs",
        ("a XQZ came", "stad"): "a stad came",
        ("a stad came", "big"): "unknown article",  # is it "a XQZ" or "an XQZ"?
        ("the stad came", "big"): "the xqz came",
    }
    assert {(text, group): text_of(swap_targets(text, own, group)) for text, group in expected} == expected


def text_of(found: Swapped | str) -> str:
    """The rewritten text, or the reason why there is none."""
    return found if isinstance(found, str) else found.text


def specification_of(*slots: tuple[str | None, ...]) -> Specification:
    """The invented specification with other slots."""
    return SPECIFICATION.model_copy(update={"slots": tuple(Slot(terms=terms) for terms in slots)})


def test_slots() -> None:
    def swapped(text: str, group: str, *slots: tuple[str | None, ...]) -> str:
        return text_of(swap_targets(text, specification_of(*slots), group))

    assert (
        swapped("mel", "stad", ("mel", None, "elm", "wug"), ("mel", "stad", "elmer", "wug")) == "stad"
    )  # the next slot
    assert swapped("a mel", "stad", ("mel", "mel", "elm", "wug")) == "a mel", "a term of two groups is of both"
    made = swapped("mel tree", "elm", ("mel", "stad", "elm", "wug"), ("elm tree", None, None, None))
    assert made == "still names a group", "a new mention"


def test_terms_of_a_mixed_slot_are_not_swapped() -> None:
    """Its terms do not fit the same place: "straight men are" would become "homosexual are"."""
    base = specification_of(("mel", "stad", "elm", "wug"), ("mel folk", "stad", "elm", "wug"))
    mixed = base.model_copy(update={"slots": (base.slots[0], base.slots[1].model_copy(update={"form": "mixed"}))})
    assert swap_targets("mel folk are here", mixed, "stad") == "no term that fits its place"
    assert swap_targets("mel folk are here", mixed, GROUPS[0]) == Swapped("mel folk are here", "mel folk")


def test_nouns_of_one_form_for_both_numbers() -> None:
    slots = (
        Slot(form="noun", terms=("mel", "stad", "elmer", "wug")),
        Slot(form="plural", terms=("mel", "stads", "elmers", "wugs")),
    )
    specification = SPECIFICATION.model_copy(update={"slots": slots})
    expected = {
        "a mel came": "a stad came",
        "the mel's hat": "the stad's hat",
        "the mel isn't here": "the stad isn't here",
        "two mel came": "two stads came",
        "the mel were here": "the stads were here",
        "the mel came": "no term that fits its place",
        "the mel": "no term that fits its place",
    }
    assert {text: text_of(swap_targets(text, specification, "stad")) for text in expected} == expected


def test_adjectives_and_nouns_of_one_form() -> None:
    slots = (
        Slot(form="adjective", terms=("mellan", "stadic", "elmish", "wuggy")),
        Slot(form="noun", terms=("mellan", "stad", "elmer", "wug")),
    )
    specification = SPECIFICATION.model_copy(update={"slots": slots})
    expected = {
        "a mellan song": "a stadic song",
        "a mellan is grobby": "a stad is grobby",
        "he is a mellan.": "he is a stad.",
        "all of them aren't mellan.": "all of them aren't stadic.",
        "mellan and quick": "stad and quick",
        "saw mellan women": "saw stadic women",
        "old mellan": "old stad",
        "a mellan's hat": "a stad's hat",
        "A mellan\u2019s old hat": "A stad\u2019s old hat",
    }
    assert {text: text_of(swap_targets(text, specification, "stad")) for text in expected} == expected
    for text, swapped in expected.items():
        assert swap_targets(swapped, specification, "blicket") == Swapped(text, "mellan")


def test_an_unknown_group() -> None:
    with pytest.raises(SpecificationError, match=r"no group 'nobody': its groups are blicket, stad, elm, wug"):
        swap_targets("a blicket", SPECIFICATION, "nobody")


@given(sentences(), st.sampled_from(GROUPS))
def test_every_mention_is_of_the_new_group(text: str, group: str) -> None:
    found = swap_targets(text, SPECIFICATION, group)
    assert isinstance(found, Swapped)
    before, after = (list(target_finder(SPECIFICATION).find(one)) for one in (text, found.text))
    assert swap_for_all_groups(text, SPECIFICATION)[group] == found
    assert [mention.of.slot for mention in after] == [mention.of.slot for mention in before]
    assert {mention.of.group for mention in after} == {group}
    assert after[0].of.term == found.target


@given(sentences(), st.sampled_from(GROUPS), st.sampled_from(GROUPS))
def test_there_and_back(text: str, first: str, second: str) -> None:
    one = swap_targets(text, SPECIFICATION, first)
    assert isinstance(one, Swapped)
    other = swap_targets(one.text, SPECIFICATION, second)
    assert isinstance(other, Swapped)
    assert swap_targets(other.text, SPECIFICATION, first) == one


def test_attributes() -> None:
    expected = {
        "blickets are grobby": "blickets are trindle",
        "Trindle blickets": "Grobby blickets",
        "grobby, mizzic and trindle": "trindle, arble and grobby",
        "an arble stad": "a mizzic stad",
        "flerning stads": "plonish stads",  # a stem is replaced
        "plonish stads": None,  # and replaces nothing
        "ugsome and grobby": "ugsome and trindle",  # no opposite: stays
        "ugsome vime": None,
        "blickets sing": None,
    }
    assert {text: swap_attributes(text, SPECIFICATION) for text in expected} == expected


def test_words_of_a_term_are_no_attributes() -> None:
    specification = SPECIFICATION.model_copy(update={"opposites": (("elder", "vime"),)})
    assert swap_attributes("the blicket elder is an elder", specification) == "the blicket elder is a vime"


@given(sentences())
def test_attributes_there_and_back(text: str) -> None:
    swapped = swap_attributes(text, SPECIFICATION)
    if swapped is not None:
        assert swap_attributes(swapped, SPECIFICATION) == text
