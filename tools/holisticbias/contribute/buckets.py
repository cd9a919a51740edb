"""The bucket of a new term: the only one that fits, the likely ones, and a bucket by a part of its name."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from holisticbias.errors import SourceError
from holisticbias.rules.duplicates import fold
from holisticbias.terms.entries import Position
from holisticbias.terms.file_kinds import DescriptorFile

AFTER_THE_NOUN = "after_the_noun"  # the bucket that an axis has for all terms after the noun
_LIKE = 0.6  # least similarity of two texts, from 0 to 1
_MOST_LISTED = 20


def only_bucket(axis: DescriptorFile, position: Position) -> str | None:
    """The bucket of a term if no other is possible, else None."""
    if position == "after" and AFTER_THE_NOUN in axis.buckets:
        return AFTER_THE_NOUN
    return axis.buckets[0] if len(axis.buckets) == 1 else None


def likely_buckets(axis: DescriptorFile, text: str, position: Position, most: int = 4) -> tuple[str, ...]:
    """The buckets of the terms that are most like a text, and those whose name is like it; the most similar first.

    Terms are alike if they share a word of four letters or more, or nearly all letters. Empty if none is alike.
    """
    after = position == "after"
    likeness = {
        bucket: _likeness(text, bucket.replace("_", " "))
        for bucket in axis.buckets
        if after or bucket != AFTER_THE_NOUN
    }
    for term in axis.descriptors:
        if term.bucket in likeness:
            likeness[term.bucket] = max(likeness[term.bucket], _likeness(text, term.text))
    ranked = sorted(likeness, key=lambda bucket: -likeness[bucket])
    return tuple(bucket for bucket in ranked[:most] if likeness[bucket] >= _LIKE)


def _likeness(text: str, other: str) -> float:
    shared = _long_words(text) & _long_words(other)
    ratio = difflib.SequenceMatcher(None, fold(text), fold(other)).ratio()
    return max(ratio, 0.8 if shared else 0)


def _long_words(text: str) -> set[str]:
    return {fold(word) for word in re.findall(r"[^\W\d_]{4,}", text)} - {"with", "without", "person", "people"}


def find_bucket(axis: str, buckets: Sequence[str], name: str) -> str:
    """The bucket with a name, or the only one whose name contains it; raises ``SourceError``."""
    wanted = fold(name)
    exact = [bucket for bucket in buckets if fold(bucket) == wanted]
    found = exact or [bucket for bucket in buckets if wanted and wanted in fold(bucket)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"several buckets have {name!r} in their name: {_listed(found)}")
    close = difflib.get_close_matches(wanted, [fold(bucket) for bucket in buckets], n=3, cutoff=0.6)
    near = [bucket for bucket in buckets if fold(bucket) in close]
    if near:
        raise SourceError(f"the axis {axis} has no bucket {name!r}; near it: {', '.join(near)}")
    known = f"there are: {', '.join(buckets)}; " if len(buckets) <= _MOST_LISTED else ""
    raise SourceError(
        f"the axis {axis} has no bucket {name!r}; {known}a new one is first added to descriptors/{axis}.yaml"
    )


def _listed(buckets: Sequence[str]) -> str:
    """The names of buckets, cut after twenty."""
    more = len(buckets) - _MOST_LISTED
    return ", ".join(buckets[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
