"""English noun phrases: articles, and where a term stands."""

from __future__ import annotations

import re

from holisticbias.terms.entries import Article, ArticleRule, Descriptor, Noun

SINGULAR_SLOT = "{noun_phrase}"
PLURAL_SLOT = "{plural_noun_phrase}"


_HEARD_AS_CONSONANT = re.compile(r"eu|ewe|on(?:e|ce)\b|uni[cfoqtv]|ukr|u[bcfghjkqrst][aeiou]", re.IGNORECASE)
_HEARD_AS_VOWEL = re.compile(r"[aeiou]|h(?:our|onest|onor|eir)|8|1[18](?!\d)", re.IGNORECASE)
_ABBREVIATION = re.compile(r"[^\W_]*[A-Z][^\W_]*[A-Z0-9]")


def is_abbreviation(text: str) -> bool:
    """Whether a text begins with capitals, which are read as letters ("an FTM") or as a word ("a BIPOC")."""
    return _ABBREVIATION.match(text) is not None


def article(text: str, rule: ArticleRule, given: Article | None) -> Article:
    """The indefinite article before a text: the one given, else by the release's rule.

    ``letter`` is the rule of the paper's edition: "an" before a, e, i, o and u.
    ``sound`` is English as spoken: "a European", "a one-percenter", "an 80-year-old";
    of an abbreviation it takes the first letter for a sound, so that needs its article given.
    """
    if given is not None:
        return given
    if rule == "letter":
        return "an" if text[0].lower() in "aeiou" else "a"
    return "an" if _HEARD_AS_VOWEL.match(text) and not _HEARD_AS_CONSONANT.match(text) else "a"


def with_article(text: str, rule: ArticleRule, given: Article | None) -> str:
    """The text behind its indefinite article."""
    return f"{article(text, rule, given)} {text}"


def described(descriptor: Descriptor, noun: Noun, rule: ArticleRule) -> tuple[str, str]:
    """Singular (with its article) and plural phrase of a descriptor and a noun."""
    plural = descriptor.plural or descriptor.text
    if descriptor.position == "after":
        return with_article(f"{noun.text} {descriptor.text}", rule, noun.article), f"{noun.plural} {plural}"
    return with_article(f"{descriptor.text} {noun.text}", rule, descriptor.article), f"{plural} {noun.plural}"


def fill(template: str, noun_phrase: str, plural_noun_phrase: str) -> str:
    """The template's sentence with its slot filled."""
    return template.replace(SINGULAR_SLOT, noun_phrase).replace(PLURAL_SLOT, plural_noun_phrase)
