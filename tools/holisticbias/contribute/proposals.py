"""What the tools propose for a new entry: its id, where it stands, its article and plural, and terms like it."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

from holisticbias.rules.language import folded
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Article, Position
from holisticbias.terms.grammar import article, is_abbreviation, with_article

_AFTER = re.compile(r"(who|whose|who's|with|without|in|on|of|from|living|experiencing|receiving)\s")
_HEAD_ENDS = re.compile(r"\s(?=(?:of|who|with|in|from|on)\s)")
_IRREGULAR = {"person": "people", "man": "men", "woman": "women", "child": "children", "wife": "wives"}
_VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def propose_position(text: str) -> Position:
    """Where a text would stand: after the noun if it begins like "with", alone if with an article, else before."""
    if re.match(r"an?\s", text, re.IGNORECASE):
        return "standalone"
    return "after" if _AFTER.match(text) else "before"


def propose_id(group: str, text: str, position: Position = "before", given: Article | None = None) -> str:
    """An id that says what the entry is about, in letters that every keyboard has."""
    phrase = with_article(text, "sound", given) if position == "standalone" else text
    letters = unicodedata.normalize("NFKD", phrase.replace("+", " plus").replace("'", ""))
    ascii_only = letters.encode("ascii", "ignore").decode().lower()
    words = re.sub(r"\{[^}]*\}", " ", ascii_only)
    return f"{group}.{re.sub('[^a-z0-9]+', '-', words).strip('-')[:60] or 'entry'}"


def propose_article(text: str) -> Article | None:
    """The article that sounds right; nothing for an abbreviation that may be read as letters or as a word.

    One that nobody could read as a word is read as letters: "an LGBTQ", but "FEMA" may be either.
    """
    sound = article(text, "sound", None)
    if not is_abbreviation(text):
        return sound
    letters: Article = "an" if text[0] in "AEFHILMNORSX" else "a"
    a_word = re.match("[A-Z]*[AEIOU]", text[1:]) is not None
    return letters if letters == sound or not a_word else None


def propose_plural(text: str, position: Position) -> str | None:
    """The plural of a phrase for a person, or of what stands after plural nouns where that differs."""
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
    """The plural of a noun phrase: that of its head, "people of color", "wheelchair users"."""
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
    """Ids of terms whose text is nearly this one, most alike first."""
    texts: dict[str, list[str]] = {}
    for entry_id, other in _texts(catalog):
        texts.setdefault(folded(other), []).append(entry_id)
    close = difflib.get_close_matches(folded(text), texts, n=most, cutoff=0.85)
    return tuple(entry_id for key in close for entry_id in texts[key])[:most]


def _texts(catalog: Catalog) -> Iterable[tuple[str, str]]:
    for axis in catalog.axes:
        yield from ((d.id, d.text) for d in axis.descriptors)
    for gender in catalog.genders:
        yield from ((n.id, n.text) for n in gender.nouns)
