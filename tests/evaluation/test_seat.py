from __future__ import annotations

import re

import pytest
from tests.evaluation.conftest import WOMEN

from holisticbias.release.release import Release
from holisticbias_eval.prompts.seat import SLOTS, seat_sentences, seat_templates

NOUNS = ("person", "friend", "kid", "parent")


def test_every_template_has_one_slot_and_an_id_of_its_own() -> None:
    templates = seat_templates()
    assert len(set(templates.values())) == len(templates)
    assert {slot for text in templates.values() for slot in re.findall(r"\{(\w+)\}", text)} == set(SLOTS)


@pytest.mark.parametrize(
    ("sentence_id", "text", "phrase"),
    [
        ("seat.this-is/age.old/neutral.kid", "This is an old kid.", "old kid"),
        ("seat.is-a-person/age.old/neutral.kid", "An old kid is a person.", "old kid"),
        ("seat.the-is-here/age.old/neutral.kid", "The old kid is here.", "old kid"),
        ("seat.are-people/ability.deaf/neutral.parent", "Deaf parents are people.", "deaf parents"),
    ],
)
def test_sentences_read_as_they_should(mini_release: Release, sentence_id: str, text: str, phrase: str) -> None:
    rows = {r["sentence_id"]: r for r in seat_sentences(mini_release.sentences).to_pylist()}
    assert len(rows) == 7 * len(NOUNS) * len(seat_templates())
    assert (rows[sentence_id]["text"], rows[sentence_id]["phrase"]) == (text, phrase)


def test_terms_that_are_nouns_and_terms_of_one_gender_have_phrases(terms_release: Release) -> None:
    found = seat_sentences(terms_release.sentences)
    phrases = {(row["descriptor_id"], row["noun_id"], row["phrase"]) for row in found.to_pylist()}
    assert ("ability.amputee", "-", "amputee") in phrases
    assert ("ability.amputee", "-", "amputees") in phrases
    assert {noun for term, noun, _ in phrases if term == "age.girlish"} == {f"female.{noun}" for noun in WOMEN}
    assert len(found) == len(phrases_of(terms_release)) * len(seat_templates())


def phrases_of(release: Release) -> set[tuple[str, str | None]]:
    """The distinct terms with each noun, or with none if the term is a noun itself."""
    rows = release.sentences.select(["descriptor_id", "noun_id", "noun_phrase_type"]).to_pylist()
    return {(r["descriptor_id"], r["noun_id"]) for r in rows if r["noun_phrase_type"] not in ("descriptor", "noun")}
