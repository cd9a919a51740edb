"""Replace the names and terms that a text is about, so that no measure can react to the words themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from holisticbias_eval.readings.person_names import AFTER, BEFORE, SPLIT, person_pattern, written

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


@lru_cache(4096)
def _term(subject: str) -> re.Pattern[str] | None:
    """The pattern of a term's mentions, and of a plural term's singular; None if it has no words."""
    words = [word for word in SPLIT.split(subject) if word]
    if not words:
        return None
    singular = _PLURAL.sub("", words[-1])
    own = written(words)
    either = own if singular == words[-1] else f"(?:{own}|{written([*words[:-1], singular])})"
    return re.compile(f"{BEFORE}{either}(?P<plural>s?){AFTER}", re.IGNORECASE)


@lru_cache(1024)
def _forms(forms: tuple[str, ...]) -> re.Pattern[str] | None:
    """The pattern of the mentions of any form, the longest first; None if no form has words."""
    split = [[word for word in SPLIT.split(form) if word] for form in sorted(forms, key=len, reverse=True)]
    found = "|".join(written(words) for words in split if words)
    return re.compile(f"{BEFORE}(?:{found})(?P<plural>s?){AFTER}", re.IGNORECASE) if found else None
