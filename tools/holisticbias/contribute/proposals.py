"""Proposals for a new entry: its axes, id, position, article and plural, and similar terms."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

from holisticbias.rules.duplicates import fold
from holisticbias.rules.language import begins_after_noun
from holisticbias.rules.wording import article_by_sound
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Article, Position
from holisticbias.terms.grammar import article, is_abbreviation, with_article

MADE_UP = "nonce"  # axis of made-up control words, which describe nobody
_HEAD_ENDS = re.compile(r"\s(?=(?:of|who|with|in|from|on)\s)")
_IRREGULAR = {"person": "people", "man": "men", "woman": "women", "child": "children", "wife": "wives"}
_VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def axes_for_proposals(catalog: Catalog) -> tuple[str, ...]:
    """The axes that describe people: all except the axis of made-up control words."""
    return tuple(axis.axis for axis in catalog.axes if axis.axis != MADE_UP)


def propose_position(text: str) -> Position:
    """Propose a position from the first word: standalone for an article, after the noun for a word like "with"."""
    if re.match(r"an?\s", text, re.IGNORECASE):
        return "standalone"
    return "after" if begins_after_noun(text) else "before"


def propose_id(group: str, text: str, position: Position = "before", given: Article | None = None) -> str:
    """The id of an entry: its group, a dot, and its text in lower-case ASCII letters, digits and hyphens."""
    phrase = with_article(text, "sound", given) if position == "standalone" else text
    letters = unicodedata.normalize("NFKD", phrase.replace("+", " plus").replace("'", ""))
    ascii_only = letters.encode("ascii", "ignore").decode().lower()
    words = re.sub(r"\{[^}]*\}", " ", ascii_only)
    return f"{group}.{re.sub('[^a-z0-9]+', '-', words).strip('-')[:60] or 'entry'}"


def propose_article(text: str) -> Article | None:
    """The article by sound, or None if the letters do not show it, as in "unilateral" or in "FEMA".

    "LGBTQ" can only be read as letters, so it takes "an"; "FEMA" can be read as letters or as a word.
    """
    if not is_abbreviation(text):
        return article_by_sound(text)
    sound = article(text, "sound", None)
    letters: Article = "an" if text[0] in "AEFHILMNORSX" else "a"
    a_word = re.match("[A-Z]*[AEIOU]", text[1:]) is not None
    return letters if letters == sound or not a_word else None


def propose_plural(text: str, position: Position) -> str | None:
    """The plural of a standalone phrase or of a term after the noun, or None if it does not change."""
    if position == "before":
        return None
    if position == "standalone":
        return plural_of(text)
    words = text.split(" ")
    if words[0] == "who" and len(words) > 1:
        verb = words[1]
        words[1] = _VERBS.get(verb) or re.sub(r"(?<=[^s])s$", "", verb)
    changed = re.sub(r"\b(with|without|uses?|are|in|have) an? (.+)$", _without_article, " ".join(words))
    return None if changed == text else changed


def _without_article(match: re.Match[str]) -> str:
    return f"{match[1]} {plural_of(match[2])}"


def plural_of(phrase: str) -> str:
    """The plural of a noun phrase, with its head in the plural: "people of color", "wheelchair users"."""
    head, *rest = _HEAD_ENDS.split(phrase, maxsplit=1)
    *before, word = head.split(" ")
    return " ".join([*before, _plural_word(word), *rest])


def _plural_word(word: str) -> str:
    for singular, plural in _IRREGULAR.items():
        if word.lower().endswith(singular) and not word.lower().endswith("human"):
            return word[: len(word) - len(singular)] + plural
    if re.search(r"(s|x|z|ch|sh)$", word):
        return f"{word}es"
    return re.sub(r"y$", "ies", word) if re.search(r"[^aeiou]y$", word) else f"{word}s"


def similar_terms(catalog: Catalog, text: str, most: int = 5) -> tuple[str, ...]:
    """Ids of at most ``most`` terms and nouns with a similar text, the most similar first."""
    texts: dict[str, list[str]] = {}
    for entry_id, other in _texts(catalog):
        texts.setdefault(fold(other), []).append(entry_id)
    close = difflib.get_close_matches(fold(text), texts, n=most, cutoff=0.85)
    return tuple(entry_id for key in close for entry_id in texts[key])[:most]


def _texts(catalog: Catalog) -> Iterable[tuple[str, str]]:
    for axis in catalog.axes:
        yield from ((d.id, d.text) for d in axis.descriptors)
    for gender in catalog.genders:
        yield from ((n.id, n.text) for n in gender.nouns)
