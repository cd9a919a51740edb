"""The same texts with the subject of every group."""

from __future__ import annotations

import pyarrow as pa

from holisticbias_eval.readers.anonymise import swapped

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
