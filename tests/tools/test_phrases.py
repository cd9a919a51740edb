"""The rules on the phrase of a term and a noun, on new terms of the project's own files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from holisticbias.contribute.authoring import Draft, add_entry, apply_edits, next_version
from holisticbias.errors import SourceError
from holisticbias.rules.phrases import _ALSO_ADJECTIVES
from holisticbias.rules.validate import load_catalog, validate_paths

YOUNG = ("noun.girl", "noun.boy", "noun.kid", "noun.child")


def add(root: Path, axis: str, bucket: str | None, text: str, **more: object) -> None:
    since = next_version(load_catalog(root))
    entry = {"id": f"{axis}.new", "text": text, "bucket": bucket, **more, "sources": ["contributors"], "since": since}
    apply_edits(root, [add_entry(root, Draft("descriptors", axis, entry))])  # type: ignore[arg-type]


NEW = {
    "shift-worker": ("characteristics", "job_status", "noun-before-noun"),
    "seasonal farmworker": ("characteristics", "job_status", "noun-before-noun"),
    "remarried widow": ("characteristics", "marital_status", "noun-before-noun"),
    "technocrat": ("political_ideologies", None, "noun-before-noun"),
    "Sufi librarian": ("religion", None, "noun-before-noun"),
    "person-of-color": ("race_ethnicity", "combined", "noun-before-noun"),
    "assigned female": ("gender_and_sex", "binary", "noun-repeated"),
    "shift-working": ("characteristics", "job_status", None),
    "Palauan": ("nationality", "united_states", None),
    "female-presenting": ("gender_and_sex", "descriptors", None),
    "sex-neutral": ("gender_and_sex", "descriptors", None),
    "Sufi Buddhist": ("religion", None, None),
}
"""New terms with their axis, their bucket and the rule that they break."""


def test_new_terms_before_a_noun(terms_copy: Path) -> None:
    (terms_copy / "descriptors" / "new").mkdir(exist_ok=True)
    for place, (text, (axis, bucket, _)) in enumerate(NEW.items()):
        entry = {"id": f"{axis}.new-{place}", "text": text, "sources": ["contributors"], "since": "next"}
        content = {"axis": axis, "descriptors": [entry if bucket is None else {**entry, "bucket": bucket}]}
        (terms_copy / "descriptors" / "new" / f"{entry['id']}.yaml").write_text(yaml.safe_dump(content), "utf-8")
    rules = ("noun-before-noun", "noun-repeated")
    found = {(f.entry, f.rule) for f in validate_paths([terms_copy]) if f.rule in rules}
    assert found == {(f"{axis}.new-{place}", rule) for place, (axis, _, rule) in enumerate(NEW.values()) if rule}


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
