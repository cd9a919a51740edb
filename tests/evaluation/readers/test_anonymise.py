"""Subjects are replaced by XYZ, or by the subject of every group, and mentions of a descriptor by another word."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.readers.anonymise import Named, anonymise, replace_subject, swapped
from holisticbias_eval.readers.censor import censor, censor_settings, regular_plural


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("The blicket sang.", "blicket", "The XYZ sang."),
        ("The blicket's hat, the blicket\u2019s hat", "blicket", "The XYZ's hat, the XYZ\u2019s hat"),
        ("Two Blickets sang; blickets' hats", "blicket", "Two XYZs sang; XYZs' hats"),
        ("blicketing, unblicket, blicket2", "blicket", "blicketing, unblicket, blicket2"),
        ("a blicket-like _blicket_", "blicket", "a XYZ-like _XYZ_"),
        ("The doff\n master and the doff-master", "Doff master", "The XYZ and the XYZ"),
        ("The doff master, the doff_master", "Doff_master", "The doff master, the XYZ"),
        ("The doff master", "doff-master", "The XYZ"),
        ("stX doff", "st. doff", "stX doff"),  # the dot is a dot
        ("Doff .*+?[a]{2}\\", ".*+?[a]{2}\\", "Doff XYZ"),
        ("Doff", None, "Doff"),
        ("Doff", " _- ", "Doff"),
        ("A stadder, stadders, the stadders' hats", "stadders", "A XYZ, XYZ, the XYZ' hats"),
        (None, "doff", None),
        ("", "doff", ""),
    ],
)
def test_one_text(text: str | None, subject: str | None, expected: str | None) -> None:
    assert anonymise([text], [Named(subject)]) == [expected]


def test_long_texts_take_linear_time() -> None:
    text = "doff " * 200_000
    assert anonymise([text], [Named("doff doff blicket", ("doff doff blicket",))]) == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Muslims and the Islamic law of Islam", "XYZs and the XYZ law of XYZ"),
        ("Islam\u2019s Shi\u2019a and non-Muslim", "XYZ\u2019s XYZ and non-XYZ"),
        ("In Folk Islam a far-left folk", "In XYZ a XYZ folk"),
        ("Islamophile, unmuslim", "Islamophile, unmuslim"),
    ],
)
def test_forms_of_the_words_for_a_group(text: str, expected: str) -> None:
    named = Named("Folk Islam", ("Islam", "Islamic", "Muslim", "Shi'a", "far left", "-"))
    assert anonymise([text], [named]) == [expected]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "Ada Vell Quinn",
            "Ada Vell Quinn's hat; ADA said. Ada met Quinn.",
            "Person's hat; Person said. Person met Person.",
        ),
        ("Ada Vell Quinn", "Ada V. Quinn, Ada Bell Orla Quinn, ada vell quinn", "Person, Person, Person"),
        (
            "Ada Vell Quinn",
            "He met Ada. Then Quinn left; adage, quinn",
            "He met Person. Then Person left; adage, quinn",
        ),
        ("Will Doff", "Will Doff will go. Will he? Doff's", "Person will go. Will he? Person's"),
        ("Bram May", "In May 2005, Bram May met May", "In May 2005, Person met May"),
        ("Ludo van Doff", "Ludo van Doff; van Doff; Doff; a van", "Person; Person; Person; a van"),
        ("Van Doff", "Van Doff and Van", "Person and Person"),
        ("Doff King Jr.", "Doff King, Jr. said; King Jr. said; Jr.", "Person said; Person said; Jr."),
        ("Vince of Osk", "the king of Osk and Vince of the town", "the king of Person and Person of the town"),
        ("J. R. Doff", "J.R. Doff, J. Doff and Doff", "Person, Person and Person"),
        ("Jan-Ada O'Doff", "Jan Ada O\u2019Doff; O'Doff", "Person; Person"),
        ('"Odd Tam" Osk', "Osk and Tam", "Person and Person"),
        ("Common", "Common said it is common", "Person said it is common"),
        ("(..)", "(..) and", "Person and"),
        ("", "Doff", "Doff"),
    ],
)
def test_names_of_persons_in_all_their_parts(name: str, text: str, expected: str) -> None:
    assert anonymise([text], [Named(name, person=True)]) == [expected]


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_name_is_a_pattern(name: str, text: str) -> None:
    (found,) = anonymise([text], [Named(name, person=True)])
    assert found is not None


def test_a_long_text_takes_linear_time() -> None:
    text = "Doff Blick " * 50_000
    (found,) = anonymise([text], [Named("Doff Vell Osk", person=True)])
    assert found == "Person Blick " * 50_000


JOINING = "-\u2010\u2011\u2012\u2013\u2014\u2015"


@given(st.text(max_size=40), st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8))
def test_any_text_and_subject(text: str, subject: str) -> None:
    assert len(replace_subject(text, Named(subject), "")) <= len(text)
    (named,) = anonymise([f" {subject} "], [Named(subject)])
    words = subject.strip(JOINING)
    assert named == f" {subject.replace(words, 'XYZ', 1) if words else subject} "


TEXTS = pa.table(
    {
        "domain": ["trade", "trade", "trade", "trade", "faith", "faith"],
        "group": ["doffs", "doffs", "daxes", "daxes", "wugs", "wugs"],
        "text": ["A doff sang.", "No mention.", "The dax's hat", None, "The wug.", "A wug."],
        "subject": ["doff", "doff", "dax", "dax", "wug", None],
    }
)


def test_every_text_has_every_subject_of_its_domain() -> None:
    found = [(row["group"], row["audit_group"], row["text"], row["subject"]) for row in swapped(TEXTS).to_pylist()]
    assert found == [
        ("doffs", "doffs", "A doff sang.", None),
        ("doffs", "daxes", "A dax sang.", None),
        ("daxes", "doffs", "The doff's hat", None),
        ("daxes", "daxes", "The dax's hat", None),
        ("wugs", "wugs", "The wug.", None),
    ]
    assert swapped(TEXTS)["item"].to_pylist() == ["trade/0", "trade/0", "trade/1", "trade/1", "faith/0"]


def test_the_number_of_texts_is_limited_per_domain() -> None:
    many = pa.table(
        {"group": ["doffs", "daxes"] * 50, "text": ["a doff", "a dax"] * 50, "subject": ["doff", "dax"] * 50}
    )
    assert len(swapped(many, 10)) == 20
    assert swapped(many, 7)["audit_group"].to_pylist().count("doffs") == 7


def test_without_subjects_there_are_no_rows() -> None:
    assert len(swapped(TEXTS.drop_columns(["subject"]))) == 0


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
