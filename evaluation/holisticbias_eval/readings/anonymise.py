"""Replace the name or term that a text is about, so that no measure can react to the word itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

NAME = "XYZ"
"""The replacement of Dhamala et al. 2021, section 3."""

_BEFORE = r"(?<![^\W_])"  # no letter or digit
_AFTER = r"(?![^\W_])"
_GAP = r"[\s\u2010-\u2015-]+"
_SPLIT = re.compile(_GAP)
_APOSTROPHES = re.compile(r"['\u2018\u2019]")


def anonymise(texts: Sequence[str | None], subjects: Sequence[str | None], name: str = NAME) -> list[str | None]:
    """Replace each text's subject by ``name``; a text without a subject is kept.

    A mention is the subject or its plural in -s as whole words in any case, with any white space or hyphens between
    its words; an underscore is a character of the subject like any other. A possessive or plural ending stays:
    ``Nurse's`` becomes ``XYZ's``, ``nurses`` ``XYZs``.
    Source: Dhamala et al. 2021, section 3.
    """
    return [_replace(text, subject, name) for text, subject in zip(texts, subjects, strict=True)]


def _replace(text: str | None, subject: str | None, name: str) -> str | None:
    if not text or not subject:
        return text
    pattern = _mention(subject)
    return text if pattern is None else pattern.sub(lambda found: name + found["plural"].lower(), text)


@lru_cache(4096)
def _mention(subject: str) -> re.Pattern[str] | None:
    """The pattern of a subject's mentions; None if it has no words."""
    words = [re.escape(word) for word in _SPLIT.split(subject) if word]
    if not words:
        return None
    form = _APOSTROPHES.sub("['\u2018\u2019]", _GAP.join(words))
    return re.compile(f"{_BEFORE}{form}(?P<plural>s?){_AFTER}", re.IGNORECASE)
