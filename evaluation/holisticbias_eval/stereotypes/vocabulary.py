"""The words of a group in a specification, each with what it becomes in a sentence about another group."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.stereotypes.agreement import english

COUNTED = ("noun",)  # forms whose terms have a plural


_SEPARATOR = re.compile(r"[\s-]+")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A term of one group and its counterpart in another, null if there is none; ``form`` is that of their slot."""

    form: str
    term: str
    other: str | None


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words to exchange for a pair of groups, and the words that must not be in the sentence.

    ``exchanges`` has the possible exchanges of each word, by ``key_of``; ``others`` the words of other groups, and
    ``plurals`` the plurals of the group's own terms.
    """

    exchanges: Mapping[str, tuple[Exchange, ...]]
    mentions: re.Pattern[str]
    others: re.Pattern[str]
    plurals: re.Pattern[str]


def vocabulary(specification: Specification, group: str, other: str) -> Vocabulary:
    """The words of ``group`` with their counterparts in ``other``.

    To the specification's terms come the pronouns and nouns of two genders, if the groups have different genders.
    """
    found: dict[str, dict[tuple[str, str | None], Exchange]] = {}
    for exchange in _exchanges(specification, group, other):
        known = found.setdefault(exchange.term.lower(), {})
        if exchange.form in ("noun", "adjective") and known:
            continue  # the specification's own slot comes first
        known.setdefault((exchange.form, exchange.other), exchange)
    own = set(found)
    foreign = set(_words_of_others(specification, group, other)) - own
    return Vocabulary(
        exchanges={key_of(word): tuple(known.values()) for word, known in found.items()},
        mentions=any_of(own),
        others=any_of(foreign | ({p for word in foreign for p in _plurals(specification, word)} - own)),
        plurals=any_of({p for word in own for p in _plurals(specification, word)} - own),
    )


def any_of(words: set[str]) -> re.Pattern[str]:
    """A pattern of whole words in any case, longest first, with a blank or a hyphen between their parts.

    A word inside a compound with a hyphen is not found.
    """
    if not words:
        return re.compile(r"(?!)")
    longest = sorted(words, key=lambda word: (-len(word), word))
    choices = "|".join(_SEPARATOR.sub(r"[\\s-]+", word) for word in map(_escaped, longest))
    return re.compile(rf"(?<!\w)(?<!\w-)(?:{choices})(?!\w|-\w)", re.IGNORECASE)


def _escaped(word: str) -> str:
    return re.sub(r"[^\w\s-]", lambda found: "['\u2019]" if found[0] == "'" else re.escape(found[0]), word)


def key_of(mention: str) -> str:
    """A mention as the keys of ``exchanges`` are written, apart from blanks and hyphens."""
    return _SEPARATOR.sub(" ", mention.lower().replace("\u2019", "'"))


def position(specification: Specification, group: str) -> int:
    """The position of a group, which is that of its terms in every slot."""
    return [g.name for g in specification.groups].index(group)


def _exchanges(specification: Specification, group: str, other: str) -> Iterator[Exchange]:
    this, that = position(specification, group), position(specification, other)
    for slot in specification.slots:
        terms = (*slot.terms, *[None] * len(specification.groups))
        if (term := terms[this]) is not None:
            yield Exchange(slot.form, term, terms[that])
    genders = specification.groups[this].gender, specification.groups[that].gender
    if set(genders) == {"male", "female"}:
        a, b = ("male", "female").index(genders[0] or ""), ("male", "female").index(genders[1] or "")
        yield from (Exchange(form, pair[a], pair[b]) for form, pair in english().pronouns.items())
        yield from (Exchange("noun", pair[a], pair[b]) for pair in english().nouns)


def _words_of_others(specification: Specification, group: str, other: str) -> Iterator[str]:
    """Words of all groups but one; ``other`` decides whether words of the other gender are among them."""
    this = position(specification, group)
    for slot in specification.slots:
        yield from (term.lower() for i, term in enumerate(slot.terms) if term is not None and i != this)
    for exchange in _exchanges(specification, other, group):
        yield exchange.term.lower()


def _plurals(specification: Specification, word: str) -> tuple[str, ...]:
    """Regular plurals of a term that is a countable noun."""
    forms = {slot.form for slot in specification.slots for term in slot.terms if term and term.lower() == word}
    if not forms.intersection(COUNTED):
        return ()
    if word.endswith("y") and word[-2:-1] not in ("a", "e", "o", "u", ""):
        return (f"{word[:-1]}ies",)
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return (f"{word}es",)
    if word.endswith("fe"):
        return (f"{word[:-2]}ves",)
    return f"{word}s", *((f"{word}es",) if word.endswith("o") else ())
