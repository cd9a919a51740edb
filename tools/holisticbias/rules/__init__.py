"""The rules that need more than one value to judge; one function each, named as its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holisticbias.findings import Finding
from holisticbias.repository import Repository
from holisticbias.rules import language, lifecycle, published, references, review

Check = Callable[[Repository], Iterator[Finding]]

CHECKS: dict[str, Check] = {
    "unique-id": references.unique_id,
    "id-place": references.id_place,
    "unique-text": references.unique_text,
    "unique-file": references.unique_file,
    "known-bucket": references.known_bucket,
    "bucket-needed": references.bucket_needed,
    "known-source": references.known_source,
    "assessment-source": references.assessment_source,
    "known-replacement": references.known_replacement,
    "known-descriptor": references.known_descriptor,
    "known-selector": references.known_selector,
    "known-noun": references.known_noun,
    "known-template": references.known_template,
    "clean-text": language.clean_text,
    "hidden-character": language.hidden_character,
    "slot": language.slot,
    "position": language.position,
    "plural-needed": language.plural_needed,
    "article-unused": language.article_unused,
    "noun-gender": language.noun_gender,
    "article-stated": language.article_stated,
    "latin-letters": language.latin_letters,
    "near-duplicate": language.near_duplicate,
    "paraphrase-alike": language.paraphrase_alike,
    "reviewer-twice": review.reviewer_twice,
    "known-version": lifecycle.known_version,
    "version-order": lifecycle.version_order,
    "published-lock": published.published_lock,
    "published-changed": published.published,
    "empty-version": lifecycle.empty_version,
}
