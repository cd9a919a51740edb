"""The rules on the phrase of a term and a noun, on new terms of the project's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from holisticbias.contribute.authoring import Draft, add_entry, apply_edits, next_version
from holisticbias.errors import SourceError
from holisticbias.rules.phrases import _ALSO_ADJECTIVES
from holisticbias.rules.validate import load_catalog

YOUNG = ("noun.girl", "noun.boy", "noun.kid", "noun.child")


def add(root: Path, axis: str, bucket: str | None, text: str, **more: object) -> None:
    since = next_version(load_catalog(root))
    entry = {"id": f"{axis}.new", "text": text, "bucket": bucket, **more, "sources": ["contributors"], "since": since}
    apply_edits(root, [add_entry(root, Draft("descriptors", axis, entry))])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("axis", "bucket", "text", "found"),
    [
        ("characteristics", "job_status", "shift-worker", "noun-before-noun"),
        ("characteristics", "job_status", "seasonal farmworker", "noun-before-noun"),
        ("characteristics", "marital_status", "remarried widow", "noun-before-noun"),
        ("political_ideologies", None, "technocrat", "noun-before-noun"),
        ("religion", None, "Sufi librarian", "noun-before-noun"),
        ("race_ethnicity", "combined", "person-of-color", "noun-before-noun"),
        ("gender_and_sex", "binary", "assigned female", "noun-repeated"),
        ("characteristics", "job_status", "shift-working", None),
        ("nationality", "united_states", "Palauan", None),
        ("gender_and_sex", "descriptors", "female-presenting", None),
        ("gender_and_sex", "descriptors", "sex-neutral", None),
        ("religion", None, "Sufi Buddhist", None),
    ],
)
def test_new_term_before_a_noun(terms_copy: Path, axis: str, bucket: str | None, text: str, found: str | None) -> None:
    if found is None:
        add(terms_copy, axis, bucket, text)
        return
    with pytest.raises(SourceError, match=found):
        add(terms_copy, axis, bucket, text)


def test_added_term_leaves_out_the_nouns_excluded_for_its_bucket(terms_copy: Path) -> None:
    add(terms_copy, "age", "old", "hoary-headed")
    terms = {d.id: d for a in load_catalog(terms_copy).axes for d in a.descriptors}
    assert terms["age.new"].not_with == YOUNG


def test_a_term_that_keeps_an_excluded_noun_is_refused(terms_copy: Path) -> None:
    with pytest.raises(SourceError, match="'hoary-headed' contradicts kid, child"):
        add(terms_copy, "age", "old", "hoary-headed", not_with=["noun.girl", "noun.boy"])


def test_words_that_are_also_adjectives_are_sorted_and_used(root: Path) -> None:
    lines = [line for line in _ALSO_ADJECTIVES.read_text("utf-8").splitlines() if not line.startswith("#")]
    words = " ".join(lines).split()
    assert words == sorted(set(words))
    texts = " ".join(d.text.casefold() for a in load_catalog(root).axes for d in a.descriptors)
    assert [word for word in words if word not in texts] == []
