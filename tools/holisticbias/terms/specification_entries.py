"""Entries of bias specifications: groups with aligned terms, sets of attributes, and their pairing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from holisticbias.terms.entries import Id, Judged, Key, Record, Text, Wording

SlotName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]


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

    form: SlotName = "noun"
    terms: tuple[Text | None, ...] = ()
    descriptors: tuple[Id, ...] = ()


class AttributeSet(Record):
    """A set of attributes: mathematics, pleasant words.

    A term that ends in ``*`` stands for every word that begins so: ``greed*`` for greed and greedy. ``valence`` says
    whether the set holds the negative or the positive attributes of a stereotype.
    """

    name: Key
    label: Text
    terms: tuple[Text, ...] = Field(min_length=1)
    valence: Literal["negative", "positive"] | None = None


class SpecificationWording(Wording):
    """Values of a specification before the version ``until``."""

    may_be_null = frozenset({"published_as"})

    groups: tuple[TargetGroup, ...] | None = None
    slots: tuple[Slot, ...] | None = None
    attributes: tuple[AttributeSet, ...] | None = None
    opposites: tuple[tuple[Text, Text], ...] | None = None
    templates: tuple[Text, ...] | None = None
    published_as: Text | None = None
    control: StrictBool | None = None


class Specification(Judged):
    """Groups, sets of attributes and the stereotype that pairs them; ``text`` is its title.

    ``templates`` are sentences with ``[T]`` for a group's term and ``[A]`` for an attribute; ``[T:FORM]`` takes only
    the terms of slots of that form. ``opposites`` are pairs of a negative and a positive attribute that replace each
    other in a sentence.
    """

    groups: tuple[TargetGroup, ...] = Field(min_length=2)
    slots: tuple[Slot, ...] = Field(min_length=1)
    attributes: tuple[AttributeSet, ...] = Field(min_length=1)
    opposites: tuple[tuple[Text, Text], ...] = ()
    templates: tuple[Text, ...] = ()
    published_as: Text | None = Field(None, description="its name in the data that its source published")
    control: StrictBool = Field(False, description="whether its words are invented, so that there is nothing to find")
    history: tuple[SpecificationWording, ...] = ()


def is_stem(attribute: str) -> bool:
    """Whether an attribute stands for every word that begins with its letters, two at least, before the ``*``."""
    return attribute.endswith("*") and len(attribute) > len("ab")
