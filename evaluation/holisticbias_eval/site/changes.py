"""Changes of entries in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

NAMES: Mapping[str, str] = {
    "text": "text",
    "plural": "plural",
    "article": "article",
    "bucket": "bucket",
    "group": "axis or gender",
    "file": "file",
    "position": "position",
    "noun_gender": "gender of its nouns",
    "without_noun": "stands without a noun",
    "not_with": "nouns left out",
    "assessments": "judgements",
    "must_be_noun": "needs a noun",
    "first_turn_only": "first turn only",
    "paraphrase_of": "paraphrase of",
    "opposite_of": "opposite of",
}
"""The keys of an entry, as pages name them."""

_TRUTH = {"true": "yes", "false": "no"}


class FieldChange(NamedTuple):
    """A value of an entry before and after a change, with its name."""

    name: str
    before: str
    after: str


def field_changes(fields: Iterable[tuple[str, str, str]], nouns: Mapping[str, str]) -> tuple[FieldChange, ...]:
    """The changed fields of an ``EntryChange`` for people: names in words, nouns by their text."""
    return tuple(
        FieldChange(NAMES.get(key, key.replace("_", " ")), _value(before, nouns), _value(after, nouns))
        for key, before, after in fields
    )


def _value(shown: str, nouns: Mapping[str, str]) -> str:
    if shown in _TRUTH:
        return _TRUTH[shown]
    return ", ".join(nouns.get(part, part) for part in shown.split(", "))
