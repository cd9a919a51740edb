"""Subjects are replaced by XYZ, in any form and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.readings.anonymise import anonymise

JOINING = "-\u2010\u2011\u2012\u2013\u2014\u2015"


@pytest.mark.parametrize(
    ("text", "subject", "expected"),
    [
        ("The blicket sang.", "blicket", "The XYZ sang."),
        ("BLICKET and Blicket", "blicket", "XYZ and XYZ"),
        ("The blicket's hat, the blicket\u2019s hat", "blicket", "The XYZ's hat, the XYZ\u2019s hat"),
        ("Two Blickets sang; blickets' hats", "blicket", "Two XYZs sang; XYZs' hats"),
        ("blicketing, unblicket, blicket2", "blicket", "blicketing, unblicket, blicket2"),
        ("a blicket-like _blicket_", "blicket", "a XYZ-like _XYZ_"),
        ("The doff\n master and the doff-master", "Doff master", "The XYZ and the XYZ"),
        ("The doff master, the doff_master", "Doff_master", "The doff master, the XYZ"),
        ("The doff master", "doff-master", "The XYZ"),
        ("The doffmaster", "doff master", "The doffmaster"),
        ("O\u2019Blick and O'Blick", "O'Blick", "XYZ and XYZ"),
        ("St. Doff (of Blick)", "St. Doff (of Blick)", "XYZ"),
        ("stX doff", "st. doff", "stX doff"),  # the dot is a dot
        ("Doff .*+?[a]{2}\\", ".*+?[a]{2}\\", "Doff XYZ"),
        (r"a \1 b", r"\1", "a XYZ b"),
        ("Élan", "élan", "XYZ"),
        ("Doff", None, "Doff"),
        ("Doff", "", "Doff"),
        ("Doff", " _- ", "Doff"),
        (None, "doff", None),
        ("", "doff", ""),
    ],
)
def test_one_text(text: str | None, subject: str | None, expected: str | None) -> None:
    assert anonymise([text], [subject]) == [expected]


@given(st.text(max_size=40), st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=8))
def test_any_text_and_subject(text: str, subject: str) -> None:
    (found,) = anonymise([text], [subject], "")
    assert found is not None
    assert len(found) <= len(text)
    (named,) = anonymise([f" {subject} "], [subject])
    words = subject.strip(JOINING)
    assert named == f" {subject.replace(words, 'XYZ', 1) if words else subject} "


def test_long_texts_take_linear_time() -> None:
    text = "doff " * 200_000
    assert anonymise([text], ["doff doff blicket"]) == [text]
