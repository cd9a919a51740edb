"""Grammatical pairs: a sentence about one group with the words of another group in the same places."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from holisticbias.terms.grammar import regular_plural
from holisticbias.terms.specification_entries import Specification, term_key
from holisticbias_eval.stereotypes.agreement import (
    PRONOUN_FORMS,
    context,
    english,
    exchange_terms,
    is_double_genitive,
    place,
    same_verb_form,
)
from holisticbias_eval.stereotypes.targets import Mention, TermFinder, term_pattern


@dataclass(frozen=True, slots=True)
class Converted:
    """A sentence about the other group and its term, or the rule by which the sentence was rejected."""

    sentence: str | None = None
    term: str | None = None
    rule: str | None = None


class Converter:
    """Convert sentences about one group of a specification into sentences about another.

    To the terms of its slots come the pronouns and nouns of two genders, if the groups have different genders.
    """

    def __init__(self, specification: Specification, group: str, other: str) -> None:
        self._groups = specification, group, other
        exchanges: dict[str, dict[tuple[str, str | None], Exchange]] = {}
        for exchange in _exchanges(specification, group, other):
            # the first counts: the specification's own slots come before all nouns and pronouns of the language
            exchanges.setdefault(term_key(exchange.term), {}).setdefault((exchange.form, exchange.other), exchange)
        own = set(exchanges)
        foreign = set(_words_of_others(specification, group, other)) - own
        counted = {term_key(t) for slot in specification.slots if slot.form == "noun" for t in slot.terms if t}
        plurals = {word: set(_plurals(word)) - own for word in counted}
        known = [tuple(each.values()) for each in exchanges.values()]
        self._mentions = TermFinder((same[0].term, same) for same in known)
        self._others = _any_of(foreign.union(*(plurals[word] for word in foreign & counted)))
        self._plurals = _any_of(set[str]().union(*(plurals[word] for word in own & counted)))

    def convert(self, sentence: str, term: str, attribute: str) -> Converted:
        """Exchange every word of the group, or say which rule of ``pair_rules.yaml`` rejects the sentence.

        All words of the group are exchanged together, each with the counterpart of its form; articles, capitals and
        possessives follow. A result whose conversion back gives another sentence is rejected.
        """
        made = self._exchange(sentence, term)
        if made.sentence is None or made.term is None:
            return made
        words = term_pattern(attribute)
        if len(words.findall(sentence)) != len(words.findall(made.sentence)):
            return Converted(rule="attribute-changed")
        back = self._reverse._exchange(made.sentence, made.term)
        if back.sentence not in (None, sentence):
            return Converted(rule="not-reversible")
        return made

    @cached_property
    def _reverse(self) -> "Converter":
        specification, group, other = self._groups
        return Converter(specification, other, group)

    def _exchange(self, sentence: str, term: str) -> Converted:
        mentions = list(self._mentions.find(sentence))
        if not any(_is_of(mention, term) for mention in mentions):
            return Converted(rule="no-term")
        if any(self._others.find(sentence)):
            return Converted(rule="other-group-word")
        if any(self._plurals.find(sentence)):
            return Converted(rule="inflected-term")
        exchanges = []
        for mention in mentions:
            exchange = self._choose(sentence, mention)
            if isinstance(exchange, str):
                return Converted(rule=exchange)
            exchanges.append(exchange)
        pairs = list(zip(mentions, exchanges, strict=True))
        changes = [(Mention(m.start, m.stop, exchange), exchange.other or "") for m, exchange in pairs]
        text = exchange_terms(sentence, changes)
        if text is None:
            return Converted(rule="unknown-article")
        return Converted(text, next(exchange.other for m, exchange in pairs if _is_of(m, term)))

    def _choose(self, sentence: str, mention: "Exchanged") -> "Exchange | str":
        """The exchange that fits the place of a mention, or the id of a rule."""
        before, after = context(sentence, mention)
        forms = {exchange.form: exchange for exchange in reversed(mention.of)}
        exchange = mention.of[0]
        if len(forms) > 1 and set(forms) <= set(PRONOUN_FORMS):
            form = _pronoun_form(set(forms), before, after)
            if form is None:
                return "ambiguous-form"
            exchange = forms[form]
        if exchange.form == "mixed":
            return "mixed-form"
        if exchange.other is None:
            return "no-counterpart"
        if exchange.form == "subject" and not same_verb_form(exchange.term, exchange.other, after):
            return "verb-form"
        bare = re.match(r"['\u2019](?!\w)", after) and exchange.term[-1:] == "s" and exchange.other[-1:] != "s"
        return "possessive" if bare and exchange.form not in PRONOUN_FORMS else exchange


def _pronoun_form(forms: set[str], before: str, after: str) -> str | None:
    """The form that a pronoun has in its place, null if that is not clear."""
    where = place(before, after)
    if "possessive" in forms and where != "alone" and is_double_genitive(before, after):
        return None
    alone = "object" if "object" in forms else "possessive"
    if where == "alone" and alone in forms:
        return alone
    if where == "determiner" or "object" not in forms:
        return "determiner" if "determiner" in forms else None
    return None


def _is_of(mention: "Exchanged", term: str) -> bool:
    """Whether a mention is of a term."""
    return term_key(mention.of[0].term) == term_key(term)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A term of one group and its counterpart in another, null if there is none; ``form`` is that of their slot."""

    form: str
    term: str
    other: str | None


Exchanged = Mention[tuple[Exchange, ...]]
"""A mention of a term, with its exchanges."""


def _any_of(words: set[str]) -> TermFinder[str]:
    return TermFinder((word, word) for word in words)


def _exchanges(specification: Specification, group: str, other: str) -> Iterator[Exchange]:
    places = {g.name: place for place, g in enumerate(specification.groups)}
    this, that = places[group], places[other]
    for slot in specification.slots:
        if (term := slot.terms[this]) is not None:
            yield Exchange(slot.form, term, slot.terms[that])
    genders = specification.groups[this].gender, specification.groups[that].gender
    if set(genders) == {"male", "female"}:
        a, b = ("male", "female").index(genders[0] or ""), ("male", "female").index(genders[1] or "")
        yield from (Exchange(form, pair[a], pair[b]) for form, pair in english().pronouns.items())
        yield from (Exchange("noun", pair[a], pair[b]) for pair in english().nouns)


def _words_of_others(specification: Specification, group: str, other: str) -> Iterator[str]:
    """Words of all groups but one; ``other`` decides whether words of the other gender are among them."""
    for slot in specification.slots:
        named = zip(specification.groups, slot.terms, strict=True)
        yield from (term_key(term) for g, term in named if term is not None and g.name != group)
    for exchange in _exchanges(specification, other, group):
        yield term_key(exchange.term)


def _plurals(word: str) -> tuple[str, ...]:
    """Regular plurals of a countable noun."""
    if word.endswith("fe"):
        return (f"{word[:-2]}ves",)
    return regular_plural(word), *((f"{word}es",) if word.endswith("o") else ())
