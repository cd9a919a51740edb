"""The rules on the phrase of a term and a noun, on new terms of the project's own files."""

from pathlib import Path

import pytest
import yaml

from folders import copy_terms
from holisticbias.contribute.authoring import Draft, add_entry, check_edits, open_terms
from holisticbias.errors import SourceError
from holisticbias.rules.phrases import _ALSO_ADJECTIVES
from holisticbias.rules.validate import validate_paths
from holisticbias.terms.catalog import Catalog

YOUNG = ("noun.girl", "noun.boy", "noun.kid", "noun.child")


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


def test_new_terms_before_a_noun(root: Path, tmp_path: Path) -> None:
    terms_copy = copy_terms(root, tmp_path / "terms")
    (terms_copy / "descriptors" / "new").mkdir(exist_ok=True)
    for place, (text, (axis, bucket, _)) in enumerate(NEW.items()):
        entry = {"id": f"{axis}.new-{place}", "text": text, "sources": ["contributors"], "since": "next"}
        content = {"axis": axis, "descriptors": [entry if bucket is None else {**entry, "bucket": bucket}]}
        (terms_copy / "descriptors" / "new" / f"{entry['id']}.yaml").write_text(yaml.safe_dump(content), "utf-8")
    rules = ("noun-before-noun", "noun-repeated")
    found = {(f.entry, f.rule) for f in validate_paths([terms_copy]) if f.rule in rules}
    assert found == {(f"{axis}.new-{place}", rule) for place, (axis, _, rule) in enumerate(NEW.values()) if rule}


def test_an_added_term_leaves_out_the_nouns_excluded_for_its_bucket(terms_copy: Path) -> None:
    terms = open_terms(terms_copy)
    entry = {"id": "age.new", "text": "hoary-headed", "bucket": "old", "sources": ["contributors"], "since": "next"}
    added = add_entry(terms, Draft("descriptors", "age", entry))
    assert f"    not_with: [{', '.join(YOUNG)}]\n" in str(added.text)
    kept = add_entry(terms, Draft("descriptors", "age", {**entry, "not_with": ["noun.girl", "noun.boy"]}))
    with pytest.raises(SourceError, match="'hoary-headed' contradicts kid, child"):
        check_edits(terms_copy, [kept])


def test_words_that_are_also_adjectives_are_sorted_and_used(catalog: Catalog) -> None:
    lines = [line for line in _ALSO_ADJECTIVES.read_text("utf-8").splitlines() if not line.startswith("#")]
    words = " ".join(lines).split()
    assert words == sorted(set(words))
    texts = " ".join(d.text.casefold() for d in catalog.descriptors)
    assert [word for word in words if word not in texts] == []
