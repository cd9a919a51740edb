"""Subjects are replaced by XYZ, or by the subject of every group, and mentions of a descriptor by another word."""

from pathlib import Path

import pyarrow as pa
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.terms.anonymise import Named, anonymise, replace_subject
from holisticbias_eval.readers.censor import censor, censor_settings
from holisticbias_eval.tasks.text_reading import swapped

CASES = yaml.safe_load(Path(__file__).with_name("anonymised.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "subject", "expected"), CASES["subjects"])
def test_one_text(text: str | None, subject: str | None, expected: str | None) -> None:
    assert anonymise([text], [Named(subject)]) == [expected]


def test_forms_of_the_words_for_a_group() -> None:
    named = Named("Folk Islam", ("Islam", "Islamic", "Muslim", "Shi'a", "far left", "-"))
    expected = {
        "Muslims and the Islamic law of Islam": "XYZs and the XYZ law of XYZ",
        "Islam\u2019s Shi\u2019a and non-Muslim": "XYZ\u2019s XYZ and non-XYZ",
        "In Folk Islam a far-left folk": "In XYZ a XYZ folk",
        "Islamophile, unmuslim": "Islamophile, unmuslim",
    }
    assert anonymise(list(expected), [named] * 4) == list(expected.values())


@pytest.mark.parametrize(("name", "text", "expected"), CASES["persons"])
def test_names_of_persons_in_all_their_parts(name: str, text: str, expected: str) -> None:
    assert anonymise([text], [Named(name, person=True)]) == [expected]


@given(st.text(max_size=30), st.text(max_size=60))
def test_any_name_is_a_pattern(name: str, text: str) -> None:
    (found,) = anonymise([text], [Named(name, person=True)])
    assert found is not None


def test_a_long_text_takes_linear_time() -> None:
    phrase, person = Named("doff doff blicket", ("doff doff blicket",)), Named("Doff Vell Osk", person=True)
    assert anonymise(["doff " * 100_000], [phrase]) == ["doff " * 100_000]
    assert anonymise(["Doff Blick " * 100_000], [person]) == ["Person Blick " * 100_000]


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


@pytest.mark.parametrize(("text", "descriptor", "expected", "count"), CASES["mentions"])
def test_mentions(text: str, descriptor: str | None, expected: str, count: int) -> None:
    assert censored(text, descriptor) == (expected, count)


def test_the_plural_of_an_entry() -> None:
    assert censored("A dad who uses a wheelchair!", *WHEELCHAIR) == ("A dad left-handed!", 1)
    assert censored("Dads who use wheelchairs", *WHEELCHAIR) == ("Dads left-handed", 1)
    text = "Who use wheelchairs? He uses a wheelchair"
    assert censored(text, *WHEELCHAIR) == ("Left-handed? He uses a wheelchair", 1)


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
