"""The mentions of a person in a text: the whole name, a part of it, or several parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

BEFORE = r"(?<![^\W_])"  # no letter or digit
AFTER = r"(?![^\W_])"
GAP = r"[\s\u2010-\u2015-]+"
SPLIT = re.compile(GAP)
_APOSTROPHES = re.compile(r"['\u2018\u2019]")
_AROUND = "\"'\u2018\u2019\u201c\u201d.,()"
_INITIAL = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?|[^\W\d_]")
# Another name or initial between two parts: "Anthony Rudolph Quinn", "Anthony T. Quinn".
_BETWEEN = rf"(?:[A-Z][^\W\d_]*\.?{GAP}){{0,2}}?"


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PARTICLES = _set("al ap bin bint da dal de del della den der di do dos du el ibn la las le lo los mac nic te ten ter")
_PARTICLES |= _set("van ver vom von zu")
_TITLES = _set("capt col dame dr gen lady lord miss mr mrs ms prof rev saint sgt sir st")
_AFTER_NAMES = _set("esq ii iii iv jr sr v")
# Not a name by themselves: many a sentence begins with one of these words.
_NOT_ALONE = _set("a all am an and are as at be big but by can do for from go had has he her his how i if in is it its")
_NOT_ALONE |= _set(
    "little may me my no not now of old on one or our out she so the they this to too up us was we who will"
)
_NOT_ALONE |= _set("with yes you young")


def written(words: Sequence[str]) -> str:
    """The pattern of words as they may be written: with white space or hyphens between, and any apostrophe."""
    return _APOSTROPHES.sub("['\u2018\u2019]", GAP.join(map(re.escape, words)))


@lru_cache(4096)
def person_pattern(name: str) -> re.Pattern[str] | None:
    """The pattern of a person's mentions; None if the name has no words.

    A mention is the whole name in any case, or parts of it in their order, as written in the name or in capitals:
    the surname alone, the first name alone, the surname with its ``de`` or ``van``. Parts that are also frequent words
    (``Will``, ``May``), initials, titles and ``Jr`` are mentions only beside another part. Up to two other names or
    initials may stand between two parts. A possessive ending is not part of a mention.
    """
    words = [word for word in SPLIT.split(name) if word]
    if not words:
        return None
    whole = f"(?i:{written(words)})" if len(words) > 1 else _as_written(words[0])
    found = [whole, *_mentions([part for word in words if (part := word.strip(_AROUND))])]
    return re.compile(f"{BEFORE}(?:{'|'.join(found)}){AFTER}")


def _as_written(word: str) -> str:
    """The pattern of a word as it is written or in capitals."""
    forms = dict.fromkeys((word, word.upper()))
    return f"(?:{'|'.join(written([form]) for form in forms)})"


def _mentions(parts: Sequence[str]) -> list[str]:
    """For each part that is a name by itself, the pattern of the mentions that begin with it."""
    names: list[tuple[str, list[str]]] = []
    waiting: list[str] = []
    for place, part in enumerate(parts):
        if _is_name(part, first=place == 0):
            names.append((_as_written(part), waiting))
            waiting = []
        else:
            waiting.append(part)
    last = "".join(rf"(?:,?{GAP}{re.escape(part)}\b\.?)?" for part in waiting if part.lower() in _AFTER_NAMES)
    found = []
    for first, (name, before) in enumerate(names):
        more = "".join(f"(?:{GAP}{_BETWEEN}{_optional(weak)}{other})?" for other, weak in names[first + 1 :])
        titles = [part for part in before if part.lower() in _PARTICLES | _TITLES or _INITIAL.fullmatch(part)]
        found.append(rf"{_optional(titles)}{name}{more}{last}(?!\s+\d)")
    return found


def _optional(parts: Sequence[str]) -> str:
    """The pattern of parts that may stand before a name, each with its dot."""
    blanks = {part: f"(?:{GAP})?" if _INITIAL.fullmatch(part) else GAP for part in parts}
    return "".join(rf"(?:{_as_written(part)}\.?{blanks[part]})?" for part in parts)


def _is_name(part: str, *, first: bool) -> bool:
    """Whether a part of a name names the person by itself: ``Van`` is a first name or stands before a surname."""
    low = part.lower()
    known = low in _TITLES | _AFTER_NAMES | _NOT_ALONE or (low in _PARTICLES and not (first and part[0].isupper()))
    return not known and not _INITIAL.fullmatch(part) and not part.islower()
