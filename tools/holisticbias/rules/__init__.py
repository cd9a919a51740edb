"""The rules that need more than one value to judge; one function each, named as its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holisticbias.findings import Finding
from holisticbias.repository import Repository
from holisticbias.rules import language, lifecycle, references

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
    "clean-text": language.clean_text,
    "hidden-character": language.hidden_character,
    "slot": language.slot,
    "position": language.position,
    "plural-needed": language.plural_needed,
    "article-unused": language.article_unused,
    "noun-gender": language.noun_gender,
    "known-version": lifecycle.known_version,
    "version-order": lifecycle.version_order,
    "empty-version": lifecycle.empty_version,
}
