"""The rules that need more than one value to judge; one function each, named as its rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from holisticbias.rules import characters, language, lifecycle, published, references, review
from holisticbias.source.findings import Finding
from holisticbias.source.folder import Kind
from holisticbias.source.records import Repository

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
    "clean-text": characters.clean_text,
    "hidden-character": characters.hidden_character,
    "slot": language.slot,
    "position": language.position,
    "plural-needed": language.plural_needed,
    "article-unused": language.article_unused,
    "article-written": language.article_written,
    "agreement": language.agreement,
    "noun-gender": language.noun_gender,
    "article-stated": language.article_stated,
    "latin-letters": characters.latin_letters,
    "near-duplicate": language.near_duplicate,
    "phrase-twice": language.phrase_twice,
    "paraphrase-alike": language.paraphrase_alike,
    "reviewer-twice": review.reviewer_twice,
    "quorum": review.quorum,
    "known-version": lifecycle.known_version,
    "version-order": lifecycle.version_order,
    "published-lock": published.published_lock,
    "published-changed": published.published,
    "empty-version": lifecycle.empty_version,
}

_WITH_ENTRIES: frozenset[Kind] = frozenset({"descriptors", "nouns", "templates"})
# A rule that misses something cannot be judged while a file that may hold it cannot be read: one broken file would
# else bring a finding for each of its entries.
NEEDS: Mapping[str, frozenset[Kind]] = {
    "known-source": frozenset({"sources"}),
    "known-replacement": _WITH_ENTRIES,
    "known-version": frozenset({"releases"}),
    "known-descriptor": frozenset({"descriptors"}),
    "known-selector": frozenset({"descriptors"}),
    "known-noun": frozenset({"nouns"}),
    "known-template": frozenset({"templates"}),
    "noun-gender": frozenset({"nouns"}),
    "near-duplicate": frozenset({"waivers"}),
    "phrase-twice": frozenset({"waivers"}),
    "published-removed": _WITH_ENTRIES,
    "published-lock": frozenset({"releases", "locks"}),
    "waiver-new": frozenset({"locks"}),
    "waiver-stale": _WITH_ENTRIES,
    "empty-version": _WITH_ENTRIES,
}


def judged(repository: Repository, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings of rules that can be judged by the files that could be read."""
    return (f for f in findings if not NEEDS.get(f.rule, frozenset()) & repository.unread)
