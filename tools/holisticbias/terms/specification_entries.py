"""Entries of bias specifications: groups with aligned terms, sets of attributes, and their pairing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Self

from pydantic import Field, StrictBool

from holisticbias.terms.entries import Id, Judged, Key, Record, Text
from holisticbias.terms.grammar import capitalised, change_article
from holisticbias.terms.versions import Version, holds

HYPHENS = "-\u2010\u2011"
APOSTROPHES = "['\u2018\u2019]"
BETWEEN = rf"[{HYPHENS}\s]+"
"""What may stand between the words of a term where it is found."""
_PLACE_OF_TERM = re.compile(r"\[T(?::([a-z0-9_]+))?\]")
_PLACES = re.compile(r"(\[T(?::[a-z0-9_]+)?\]|\[A\])")


class TargetGroup(Record):
    """A group of people or things in a specification.

    ``stereotype`` names the set of attributes that the stereotype gives it.
    """

    name: Key
    label: Text
    stereotype: Key | None = None
    gender: Literal["female", "male"] | None = Field(
        None, description="of the pronouns that refer to its terms, if one"
    )
    held_out: StrictBool = Field(
        False, description="kept for measuring whether mitigation of the other groups carries over"
    )


class Slot(Record):
    """The terms of all groups that take the same place in a sentence, in the order of the groups.

    ``form`` says what they are: ``subject`` (he, she), ``object`` (him, her), ``determiner`` (his, her), ``possessive``
    (his, hers), ``name``, ``noun``, ``plural``, ``adjective``, or ``mixed`` if its terms do not fit the same place. A
    null is a term that a group lacks. ``descriptors`` are the ids of descriptors in place of terms.
    """

    form: Key = "noun"
    terms: tuple[Text | None, ...] = ()
    descriptors: tuple[Id, ...] = ()


class WordForms(Record):
    """Words by which people mention a group: they are found in texts, and never written.

    ``of`` is the term, or the id of the descriptor, that is written in their place: it has their number and part of
    speech. Without it ``group`` names the group, and a sentence with one of the words is not rewritten.
    """

    of: Text | None = None
    group: Key | None = None
    words: tuple[Text, ...] = Field(min_length=1)
    since: Version | None = Field(None, description="the first version that has them, if later than the entry's")


class AttributeSet(Record):
    """A set of attributes: mathematics, pleasant words.

    A term that ends in ``*`` stands for every word that begins so: ``greed*`` for greed and greedy. ``valence`` says
    whether the set holds the negative or the positive attributes of a stereotype.
    """

    name: Key
    label: Text
    terms: tuple[Text, ...] = Field(min_length=1)
    valence: Literal["negative", "positive"] | None = None


class Specification(Judged):
    """Groups, sets of attributes and the stereotype that pairs them; ``text`` is its title.

    ``templates`` are sentences with ``[T]`` for a group's term and ``[A]`` for an attribute; ``[T:FORM]`` takes only
    the terms of slots of that form. ``opposites`` are pairs of a negative and a positive attribute that replace each
    other in a sentence.
    """

    groups: tuple[TargetGroup, ...] = Field(min_length=2)
    slots: tuple[Slot, ...] = Field(min_length=1)
    forms: tuple[WordForms, ...] = Field((), description="further words for the groups, found and never written")
    attributes: tuple[AttributeSet, ...] = Field(min_length=1)
    opposites: tuple[tuple[Text, Text], ...] = ()
    templates: tuple[Text, ...] = ()
    published_as: Text | None = Field(None, description="its name in the data that its source published")
    control: StrictBool = Field(False, description="whether its words are invented, so that there is nothing to find")

    def at(self, version: str) -> Self:
        """The specification as worded in a version, without word forms that are newer."""
        entry = super().at(version)
        kept = tuple(one for one in entry.forms if holds(version, one.since))
        return entry if kept == entry.forms else entry.model_copy(update={"forms": kept})


def wrong_forms(entry: Specification, texts: Mapping[str, str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The place and the error of each word form that names no term or group, or is a term or a form already.

    ``texts`` has the texts of descriptors by id.
    """
    groups = {group.name for group in entry.groups}
    terms = {term for slot in entry.slots for term in (*slot.terms, *slot.descriptors) if term is not None}
    seen = {term_key(texts.get(term, term)) for term in terms}
    for k, forms in enumerate(entry.forms):
        if (forms.of is None) == (forms.group is None):
            found = "neither" if forms.of is None else "both"
            yield ("forms", k), f"The forms have {found} of and group."
        elif forms.of is not None and forms.of not in terms:
            yield ("forms", k, "of"), f"{forms.of!r} is not a term of a slot."
        elif forms.group is not None and forms.group not in groups:
            yield ("forms", k, "group"), f"There is no group {forms.group!r}."
        for n, word in enumerate(forms.words):
            if term_key(word) in seen:
                yield ("forms", k, "words", n), f"The word {word!r} is a term or another form."
            seen.add(term_key(word))


_PRONOUNS = (
    ("subject", {"he", "she", "they"}),
    ("object", {"him", "her", "them"}),
    ("determiner", {"his", "her", "their"}),
    ("possessive", {"his", "hers", "theirs"}),
)
_GENDERS: tuple[tuple[Literal["female", "male"], set[str]], ...] = (
    ("female", {"she", "her", "hers"}),
    ("male", {"he", "him", "his"}),
)


def pronoun_form(terms: Iterable[str | None]) -> str | None:
    """The form of a slot whose terms are pronouns; None for other terms."""
    words = {term.casefold() for term in terms if term}
    return next((form for form, pronouns in _PRONOUNS if words and words <= pronouns), None)


def pronoun_gender(terms: Iterable[str | None]) -> Literal["female", "male"] | None:
    """The gender of the pronouns among the terms of a group; None without any, or with those of both."""
    words = {term.casefold() for term in terms if term}
    found = [gender for gender, pronouns in _GENDERS if words & pronouns]
    return found[0] if len(found) == 1 else None


def is_stem(attribute: str) -> bool:
    """Whether an attribute stands for every word that begins with its letters, two at least, before the ``*``."""
    return attribute.endswith("*") and len(attribute) > len("ab")


def term_key(term: str) -> str:
    """The text that two terms share if texts mention them alike: in any case, with hyphens or blanks between words."""
    return re.sub(BETWEEN, " ", re.sub(APOSTROPHES, "'", term.strip())).casefold()


def fits(template: str, form: str) -> bool:
    """Whether a template takes the terms of slots of this form."""
    place = _PLACE_OF_TERM.search(template)
    return place is not None and place[1] in (None, form)


def filled(template: str, term: str, attribute: str, *, literal: bool = False) -> str:
    """The sentence of a template with a term and an attribute.

    The article before either follows its sound, and the sentence begins with a capital and ends with a period,
    unless ``literal``.
    """
    if literal:
        return _PLACE_OF_TERM.sub(lambda _: term, template).replace("[A]", attribute)
    text = ""
    for part in _PLACES.split(template):
        if _PLACES.fullmatch(part):
            word = attribute if part == "[A]" else term
            text = (change_article(text, word) or text) + word
        else:
            text += part
    text = capitalised(text)
    return text if text.endswith((".", "!", "?")) else f"{text}."
