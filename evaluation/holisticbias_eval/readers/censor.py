"""Replace mentions of a descriptor before a text is classified, so that the classifier cannot react to the word."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias.terms.anonymise import AFTER, BEFORE, split_name, written
from holisticbias.terms.grammar import regular_plural
from holisticbias_eval.arrays import Ints

NEUTRAL = "left-handed"
"""The word of Smith et al. 2022, A.6."""
OTHER = "right-handed"
"""The word for descriptors that say left-handed."""
MARKER = "_POTENTIALLY_UNSAFE__"
"""BlenderBot 2 ends responses with it; it is removed, as in the paper."""

_VERSION = 1
_JOIN = r"[\s\u2010-\u2015-]{0,3}"
_OPENING = " \t\"'*_([{\u2018\u2019\u201c\u201d"
_ENDS = ".!?\u2026\n"
_REACH = 16  # characters before a mention in which a sentence may end


def censor_settings(*, censored: bool) -> Mapping[str, str]:
    """The entry for a run's signature: the words put in place of mentions, or ``off``."""
    words = f"{NEUTRAL}, or {OTHER} for descriptors that say {NEUTRAL}; version {_VERSION}"
    return {"censoring": words if censored else "off"}


def censor(
    texts: Sequence[str | None], descriptors: Sequence[str | None], plurals: Sequence[str | None]
) -> tuple[list[str | None], Ints]:
    """Replace all mentions of each text's descriptor; returns the texts and the number of mentions in each.

    A mention is the descriptor, its entry's plural or its regular plural, as
    whole words in any case, with a hyphen, white space or nothing between the
    words. The article before a mention becomes ``a``, and a capital at the
    start of a sentence is kept. A text without a descriptor is kept as it is.
    Method: Smith et al. 2022, A.6.
    """
    found = [
        _censor(text, descriptor, plural) for text, descriptor, plural in zip(texts, descriptors, plurals, strict=True)
    ]
    return [text for text, _ in found], np.array([count for _, count in found], np.int64)


def plurals_of(release: Release, descriptors: pa.ChunkedArray) -> list[str | None]:
    """The plural that the release has for each descriptor's id; null without one."""
    entries = release.tables["descriptors"]
    columns = (entries[name].cast(pa.string()).to_pylist() for name in ("descriptor_id", "plural"))
    known = dict(zip(*columns, strict=True))
    return [known.get(name) for name in descriptors.cast(pa.string()).to_pylist()]


def _censor(text: str | None, descriptor: str | None, plural: str | None) -> tuple[str | None, int]:
    if not text:
        return text, 0
    if MARKER in text:
        text = text.replace(MARKER, "").rstrip()
    replacement = _replacement(descriptor, plural) if descriptor else None
    return replacement(text) if replacement else (text, 0)


@lru_cache(4096)
def _replacement(descriptor: str, plural: str | None) -> Callable[[str], tuple[str, int]] | None:
    """The function that replaces the mentions of one descriptor; None if it has no words."""
    if not _pattern(descriptor):
        return None
    forms = {_pattern(form) for form in (descriptor, plural or "", regular_plural(descriptor))} - {""}
    mentions = "|".join(sorted(forms, key=len, reverse=True))
    article = r"(?:(?P<article>an?)(?P<space>\s{1,3}))?"
    whole = re.compile(f"{BEFORE}{article}{BEFORE}(?P<mention>{mentions}){AFTER}", re.IGNORECASE)
    word = OTHER if re.search(_pattern(NEUTRAL), descriptor, re.IGNORECASE) else NEUTRAL

    def put(found: re.Match[str]) -> str:
        if found["article"]:
            return f"{found['article'][0]}{found['space']}{word}"
        capital = found["mention"][0].isupper() and _starts_sentence(found.string, found.start())
        return word.capitalize() if capital else word

    return lambda text: whole.subn(put, text)


def _pattern(form: str) -> str:
    return written(split_name(form), _JOIN)


def _starts_sentence(text: str, place: int) -> bool:
    before = text[max(0, place - _REACH) : place].rstrip(_OPENING)
    return not before or before[-1] in _ENDS
