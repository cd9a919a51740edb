"""Replace the names and terms that a text is about, so that no measure can react to the words themselves."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

BEFORE = r"(?<![^\W_])"  # no letter or digit
AFTER = r"(?![^\W_])"
GAP = r"[\s\u2010-\u2015-]+"
SPLIT = re.compile(GAP)
APOSTROPHES = re.compile(r"['\u2018\u2019]")
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

NAME, PERSON = "XYZ", "Person"
"""The replacements of terms and of people's names (Dhamala et al. 2021, section 3.2)."""

_PLURAL = re.compile(r"(?<=[^\W\d_]{2}[^\Wsui])s$", re.IGNORECASE)
Replacement = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True)
class Named:
    """The subject of a text, whether it is a person, and the forms of the words for the text's group."""

    subject: str | None = None
    forms: tuple[str, ...] = ()
    person: bool = False


def anonymise(texts: Sequence[str | None], named: Sequence[Named], person: str = PERSON) -> list[str | None]:
    """Replace the subject of each text, and then the words for its group.

    A term and a form become XYZ. A mention is the words in any case, with any white space or hyphens between them; an
    underscore is a character like any other. A possessive or plural ending stays: ``Nurse's`` becomes ``XYZ's``,
    ``nurses`` ``XYZs``; of a subject in the plural, the singular is a mention too. A person's name becomes ``person``
    in all its parts; see ``person_names``. Source: Dhamala et al. 2021, section 3.2.
    """
    return [_anonymise(text, found, person) for text, found in zip(texts, named, strict=True)]


def _anonymise(text: str | None, named: Named, person: str) -> str | None:
    if not text:
        return text
    text = replace_subject(text, named, person if named.person else NAME)
    forms = _forms(named.forms)
    return text if forms is None else forms.sub(_with_plural(NAME), text)


def replace_subject(text: str, named: Named, name: str) -> str:
    """A text with another name or term in place of its subject; the words for its group stay."""
    if not named.subject:
        return text
    if named.person:
        pattern = person_pattern(named.subject)
        return text if pattern is None else pattern.sub(lambda _: name, text)
    term = _term(named.subject)
    return text if term is None else term.sub(_with_plural(name), text)


def _with_plural(name: str) -> Replacement:
    return lambda found: name + found["plural"].lower()


def _term(subject: str) -> re.Pattern[str] | None:
    """The pattern of a term's mentions, and of a plural term's singular; None if it has no words."""
    words = " ".join(split_name(subject))
    return _forms((words, _PLURAL.sub("", words)))


@lru_cache(8192)
def _forms(forms: tuple[str, ...]) -> re.Pattern[str] | None:
    """The pattern of the mentions of any form, the longest first; None if no form has words."""
    split = map(split_name, dict.fromkeys(sorted(forms, key=len, reverse=True)))
    found = "|".join(written(words) for words in split if words)
    return re.compile(f"{BEFORE}(?:{found})(?P<plural>s?){AFTER}", re.IGNORECASE) if found else None


def finds_form(form: str, word: str) -> bool:
    """Whether a form of a group is found where a word stands, so that the word need not be a form too."""
    pattern = _forms((form,))
    return pattern is not None and pattern.fullmatch(word) is not None


def split_name(text: str) -> list[str]:
    """The words of a name or term, which white space and hyphens separate."""
    return [word for word in SPLIT.split(text) if word]


def written(words: Sequence[str], gap: str = GAP) -> str:
    """The pattern of words as they may be written: with white space or hyphens between, and any apostrophe."""
    return APOSTROPHES.sub("['\u2018\u2019]", gap.join(map(re.escape, words)))


@lru_cache(4096)
def person_pattern(name: str) -> re.Pattern[str] | None:
    """The pattern of a person's mentions; None if the name has no words.

    A mention is the whole name in any case, or parts of it in their order, as written in the name or in capitals:
    the surname alone, the first name alone, the surname with its ``de`` or ``van``. Parts that are also frequent words
    (``Will``, ``May``), initials, titles and ``Jr`` are mentions only beside another part. Up to two other names or
    initials may stand between two parts. A possessive ending is not part of a mention.
    """
    words = split_name(name)
    if not words:
        return None
    whole = f"(?i:{written(words)})" if len(words) > 1 else _as_written(words[0])
    found = [whole, *_mentions([part for word in words for part in _parts(word.strip(_AROUND))])]
    return re.compile(f"{BEFORE}(?:{'|'.join(found)}){AFTER}")


def _parts(word: str) -> list[str]:
    """A word of a name, or each of its initials."""
    return list(filter(None, word.split(".") if _INITIAL.fullmatch(word) else [word]))


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
