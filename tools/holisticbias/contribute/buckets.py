"""The bucket of a new term: the only one that fits, the likely ones, and a bucket by a part of its name."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence

from holisticbias.errors import SourceError
from holisticbias.rules.duplicates import fold
from holisticbias.terms.entries import Position
from holisticbias.terms.file_kinds import DescriptorFile

AFTER_THE_NOUN = "after_the_noun"  # the bucket that an axis has for all terms after the noun
_LIKE = 0.4  # least likeness of a text and a bucket: a word in at most two buckets, or nearly all letters
_MOST_LISTED = 20


def only_bucket(axis: DescriptorFile, position: Position) -> str | None:
    """The bucket of a term if no other is possible, else None."""
    if position == "after" and AFTER_THE_NOUN in axis.buckets:
        return AFTER_THE_NOUN
    return axis.buckets[0] if len(axis.buckets) == 1 else None


def possible_buckets(axis: DescriptorFile, position: Position) -> tuple[str, ...]:
    """The buckets for terms of a position: the bucket for terms after the noun has no others."""
    return tuple(bucket for bucket in axis.buckets if position == "after" or bucket != AFTER_THE_NOUN)


def likely_buckets(axis: DescriptorFile, text: str, position: Position, most: int = 4) -> tuple[str, ...]:
    """The buckets of the terms that are most like a text, the most similar first; empty if none is alike.

    A word that a text shares with the terms or the name of a bucket counts for more, the fewer buckets have it.
    """
    texts = {bucket: [bucket.replace("_", " ")] for bucket in possible_buckets(axis, position)}
    for term in axis.descriptors:
        if term.bucket in texts:
            texts[term.bucket].append(term.text)
    words_of = {bucket: set().union(*map(_long_words, others)) for bucket, others in texts.items()}
    having = Counter(word for words in words_of.values() for word in words)
    likeness = {
        bucket: sum(1 / having[word] for word in words_of[bucket] & _long_words(text))
        + max(difflib.SequenceMatcher(None, fold(text), fold(other)).ratio() for other in others) / 2
        for bucket, others in texts.items()
    }
    ranked = sorted(likeness, key=lambda bucket: -likeness[bucket])
    return tuple(bucket for bucket in ranked[:most] if likeness[bucket] >= _LIKE)


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
    known = f"; there are: {', '.join(buckets)}" if len(buckets) <= _MOST_LISTED else ""
    raise SourceError(
        f"the axis {axis} has no bucket {name!r}; a new one is first added to descriptors/{axis}.yaml{known}"
    )


def _listed(buckets: Sequence[str]) -> str:
    """The names of buckets, cut after twenty."""
    more = len(buckets) - _MOST_LISTED
    return ", ".join(buckets[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
