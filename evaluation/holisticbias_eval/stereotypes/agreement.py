"""English agreement around a term that is exchanged: pronouns by their place, articles and capitals."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import field_validator

from holisticbias.source.document import parse_document
from holisticbias.terms.grammar import capitalised, change_article
from holisticbias_eval.figures import Part
from holisticbias_eval.stereotypes.targets import Mention

Place = Literal["determiner", "alone", "unclear"]
CONTEXT = 300
"""The characters before and after a word that decide its place."""
PRONOUN_FORMS = ("determiner", "object", "possessive")

NEXT_WORD = re.compile(r"\s+[\"'\u201c\u2018(]*([^\W_]+(?:['\u2019-][^\W_]+)*)")
_LAST_WORD = re.compile(r"([^\W_]+(?:['\u2019-][^\W_]+)*)[\"'\u201c\u2018(]*\s+[\"'\u201c\u2018(]*$")
_GENITIVE = re.compile(r"\b(?:an?|another|any|every|no|one|some|that|this)(?:\s+[\w-]+){1,3}\s+of\s+$", re.IGNORECASE)
_SENTENCE_START = re.compile(r"(?:^|[.!?]['\"\u201d\u2019)]*\s)[\s\"'\u201c\u2018(]*$")


class English(Part):
    """The words of ``english.yaml``."""

    pronouns: Mapping[str, tuple[str, str]]
    nouns: tuple[tuple[str, str], ...]
    alone: frozenset[str]
    unclear: frozenset[str]
    ranks: frozenset[str]
    times: frozenset[str]
    two_objects: frozenset[str]
    complements: frozenset[str]
    prepositions: frozenset[str]
    not_adverbs: frozenset[str]
    not_participles: frozenset[str]
    same_verb: frozenset[str]

    @field_validator("*", mode="before")
    @classmethod
    def _words(cls, text: object) -> object:
        return frozenset(text.split()) if isinstance(text, str) else text


@cache
def english() -> English:
    """The word lists."""
    path = files(__package__).joinpath("english.yaml")
    return English.model_validate(parse_document(path.read_bytes(), "english.yaml").data)


def place(before: str, after: str) -> Place:
    """The place of a word such as "her" or "his" between the texts before and after it.

    ``determiner`` before a noun phrase, ``alone`` elsewhere, ``unclear`` if the words beside it do not decide.
    A light rule on the next word and the previous one, not a parser.
    """
    found = NEXT_WORD.match(after)
    if found is None:
        return "unclear" if re.match(r"['\u2019-]\w", after) else "alone"
    word, rest = found[1].lower(), after[found.end() :]
    if word in english().alone:
        return "alone"
    if word.endswith("ly") and word not in english().not_adverbs:
        return "alone" if place("", rest) == "alone" else "determiner"
    if word.endswith("ing") and word not in english().not_participles:
        return "determiner" if _starts(before) else "unclear"
    if word == "own":
        return "determiner"
    if word in english().ranks:
        return _after_rank(rest)
    return _by_previous_word(before, word)


def _after_rank(rest: str) -> Place:
    """The place of "her" in "her last ...": a noun of time or the end of the sentence may belong to the verb."""
    found = NEXT_WORD.match(rest)
    word = found[1].lower() if found else ""
    return "unclear" if not word or word in english().times or word in english().alone else "determiner"


def _by_previous_word(before: str, word: str) -> Place:
    previous = _LAST_WORD.search(before)
    if _starts(before) or (previous and previous[1].lower() in english().prepositions):
        return "determiner"
    verb = previous[1].lower() if previous else ""
    is_plural = word.endswith("s") and not word.endswith(("ous", "ss"))
    if word in english().unclear or verb in english().two_objects:
        return "unclear"
    return "unclear" if verb in english().complements and not is_plural else "determiner"


def is_double_genitive(before: str, after: str) -> bool:
    """Whether "his" between the texts may stand alone before a verb: "an uncle of his works", "a fan of his works"."""
    found = NEXT_WORD.match(after)
    verb_like = found is not None and found[1].lower().endswith(("s", "ed")) and not found[1].lower().endswith("ss")
    return verb_like and _GENITIVE.search(before) is not None


def _starts(before: str) -> bool:
    return _SENTENCE_START.search(before) is not None


def in_case(found: str, listed: str, other: str, before: str) -> str:
    """The other term with the capitals of a mention: ``found`` is a mention of the term ``listed``.

    A name keeps its capitals; at the start of a sentence that has a capital there, so does a word.
    """
    if "-" in listed and "-" not in found:
        listed, other = listed.replace("-", " "), other.replace("-", " ")
    if found == listed:
        is_start = _starts(before) and found[:1].isupper()
        return capitalised(other) if is_start else other
    if found.isupper() and len(found) > 1:
        return other.upper()
    if found[:1].isupper() and listed[:1].islower():
        return capitalised(other)
    return other.lower() if found == listed.lower() else other


def context(text: str, mention: Mention[Any]) -> tuple[str, str]:
    """The texts before and after a mention, cut: a text may be as long as a book."""
    start, end = mention.start, mention.stop
    before = text[:start] if start <= CONTEXT else f"x{text[start - CONTEXT : start]}"
    return before, text[end : end + CONTEXT]


def exchange_terms(text: str, changes: Iterable[tuple[Mention[Any], str]]) -> str | None:
    """The text with new terms in the places of mentions, null if the article before one is not known."""
    parts: list[str] = []
    start = 0
    for mention, new in changes:
        placed = place_term(text, mention, new, start)
        if placed is None:
            return None
        parts += placed
        start = mention.stop
    return "".join([*parts, text[start:]])


def place_term(text: str, mention: Mention[Any], new: str, start: int = 0) -> tuple[str, str] | None:
    """The text from ``start`` to a mention, with the article that a new term needs, and the new term in its case.

    Null if the article is not known. A text without capitals keeps none.
    """
    term = in_case(text[mention.start : mention.stop], mention.of.term, new, context(text, mention)[0])
    term = term.lower() if text == text.lower() else term
    before = change_article(text[start : mention.start], new, in_capitals=len(term) > 1 and term.isupper())
    return None if before is None else (before, term)


def same_verb_form(first: str, second: str, after: str) -> bool:
    """Whether two subjects take the same form of the verb that follows; a form in "ed" or a modal fits all."""
    plural = {"i", "you", "we", "they"}
    if (first.lower() in plural) == (second.lower() in plural):
        return True
    found = NEXT_WORD.match(after) or re.match(r"(['\u2019](?:d|ll))\b", after)
    if found is None:
        return False
    word = found[1].lower().replace("\u2019", "'")
    return word in english().same_verb or word.endswith("ed")
