"""The questions of ``holisticbias add specification``, and the parts of a bias specification written as lines."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holisticbias.contribute.authoring import Draft, OpenTerms
from holisticbias.contribute.entry_text import Field
from holisticbias.contribute.proposals import propose_id
from holisticbias.contribute.readings import specification_lines
from holisticbias.errors import SourceError
from holisticbias.questions.questions import Questions, print_lines, tried
from holisticbias.rules.specifications import wrong_places
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.grammar import as_name, as_written
from holisticbias.terms.specification_entries import Specification, pronoun_form, pronoun_gender

Part = dict[str, Any]
"""The keys and values of a part of a specification."""
_FORM = re.compile(r"([a-z][a-z0-9_]*):\s*(.*)")
_MISSING = ("", "-", "null")
_VALENCE = re.compile(r"(.*?)\s*(?:\((negative|positive)\))?")
_HELD_OUT = "(held out)"


def ask_specification(terms: OpenTerms, ask: Questions) -> Draft:
    """Ask for a bias specification part by part; raises ``click`` errors for options that cannot be used."""
    catalog = terms.catalog
    family = ask.choice("axis", "Which family?", [f.family for f in catalog.specifications], _usual_family(catalog))
    title = ask.text("text", "Its title, for example Stads and blickets, small and large things").strip()
    parts = _ask_parts(catalog, ask)
    control = ask.confirm("control", "Are its words invented, so that there is nothing to find?", False)
    keys: dict[str, Field] = {"id": propose_id(family, title), "text": title, **parts, "control": control or None}
    _show(terms, keys)
    return Draft("specifications", family, keys)


def _usual_family(catalog: Catalog) -> str | None:
    """The first family of specifications with a stereotype that is not a copy of published data."""
    for file in catalog.specifications:
        own = not any(s.published_as for s in file.specifications)
        if own and any(group.stereotype for s in file.specifications for group in s.groups):
            return file.family
    return None


def _ask_parts(catalog: Catalog, ask: Questions) -> dict[str, Field]:
    descriptors = {d.id for d in catalog.descriptors}
    asked = "Sets of attributes, each as 'Small things: pebble, crumb'; (negative) or (positive) after the name if so."
    attributes = ask.lines("attributes", asked, read_attributes, 1)
    opposites: list[list[str]] = []
    if {"negative", "positive"} <= {chosen.get("valence") for chosen in attributes}:
        asked = "Pairs of a negative and a positive attribute that replace each other, as 'slow / quick'."
        opposites = ask.lines("opposite", asked, lambda line: read_opposite(line, attributes))
    asked = "Groups, each with the attributes of its stereotype, as 'Stads: small things'; (held out) at the end if so."
    groups = ask.lines("group", asked, lambda line: read_group(line, attributes), 2)
    names = " / ".join(group["label"] for group in groups)
    asked = (
        f"Terms that take the same place in a sentence, as '{names}', or 'plural: stads / blickets' if they are not "
        "nouns in the singular. Write - for a missing term."
    )
    slots = ask.lines("slot", asked, lambda line: read_slot(line, len(groups), descriptors), 1)
    asked = "Templates with [T] for a term, or [T:FORM], and [A] for an attribute, as 'The [T] likes the [A].'"
    templates = ask.lines("template", asked, lambda line: read_template(line, slots))
    terms_of_groups = zip(*(slot["terms"] for slot in slots if "terms" in slot), strict=True)
    genders = [*map(pronoun_gender, terms_of_groups)] or [None] * len(groups)
    known = [group | ({"gender": gender} if gender else {}) for group, gender in zip(groups, genders, strict=True)]
    parts: dict[str, Field] = {"groups": known, "slots": slots, "attributes": attributes}
    return parts | {"opposites": opposites or None, "templates": templates or None}


def _show(terms: OpenTerms, entry: Mapping[str, Field]) -> None:
    """Print the slots side by side, and the templates filled in."""
    made = tried(Specification, entry)
    if made is not None:
        print_lines(made.text, specification_lines(made, {d.id: d.text for d in terms.catalog.descriptors}))


def read_attributes(line: str) -> Part:
    """A set of attributes from ``Small things: pebble, crumb``; raises ``SourceError``.

    ``Slow things (negative): ...`` and ``(positive)`` give the valence.
    """
    named, _, listed = line.partition(":")
    label, valence = _VALENCE.fullmatch(named.strip()).groups()  # type: ignore[union-attr]
    terms = [term.strip() for term in listed.split(",") if term.strip()]
    if not label or not terms:
        raise SourceError("write a name, a colon and the words: Small things: pebble, crumb")
    made: Part = {"name": propose_key(label), "label": label, "terms": terms}
    return made | ({"valence": valence} if valence else {})


def read_group(line: str, attributes: Sequence[Part]) -> Part:
    """A group from ``Stads: small things``, or from ``Stads`` without a stereotype; raises ``SourceError``.

    ``attributes`` are the sets of attributes; the stereotype is the label or the name of one of them. A line that ends
    in ``(held out)`` keeps the group for measuring whether mitigation of the others carries over.
    """
    kept = line.strip().removesuffix(_HELD_OUT)
    label, colon, wanted = (part.strip() for part in kept.partition(":"))
    if not label:
        raise SourceError("write the name of the group, and with a colon the attributes of its stereotype")
    group: Part = {"name": propose_key(label), "label": label}
    group |= {"held_out": True} if kept != line.strip() else {}
    if not colon:
        return group
    for chosen in attributes:
        if as_written(wanted).casefold() in (chosen["name"], chosen["label"].casefold()):
            return group | {"stereotype": chosen["name"]}
    known = ", ".join(chosen["label"] for chosen in attributes)
    raise SourceError(f"no attributes have the name {wanted!r}; write one of: {known}")


def read_opposite(line: str, attributes: Sequence[Part]) -> list[str]:
    """A pair of a negative and a positive attribute from ``slow / quick``; raises ``SourceError``."""
    pair = [part.strip() for part in line.split("/")]
    known = {v: [t for a in attributes if a.get("valence") == v for t in a["terms"]] for v in ("negative", "positive")}
    if len(pair) != 2 or pair[0] not in known["negative"] or pair[1] not in known["positive"]:
        raise SourceError("write a negative attribute, / and a positive attribute, both from the sets above")
    return pair


def read_slot(line: str, groups: int, descriptors: Collection[str]) -> Part:
    """A slot from ``he / she`` or ``determiner: his / her``, with a term for each group; ``-`` is a missing term.

    Ids of descriptors stand for their terms. The form of pronouns is found, and that of other terms is ``noun``.
    Raises ``SourceError`` for another number of terms, for a term without a counterpart, and for ids beside terms.
    """
    written = _FORM.fullmatch(line)
    form, listed = written.groups() if written else (None, line)
    parts = [part.strip() for part in listed.split("/")]
    terms = [None if part in _MISSING else part for part in parts]
    if len(terms) != groups:
        raise SourceError(f"write {groups} terms with / between them, in the order of the groups; found {len(terms)}")
    if sum(term is not None for term in terms) < 2:
        raise SourceError("write at least two terms: a term needs a counterpart in another group")
    if all(term in descriptors for term in terms):
        return {"form": form or "adjective", "descriptors": terms}
    if any(term in descriptors for term in terms):
        raise SourceError("write the id of a descriptor for each group, or terms for all groups")
    return {"form": form or pronoun_form(terms) or "noun", "terms": terms}


def read_template(line: str, slots: Sequence[Part]) -> str:
    """A template; raises ``SourceError`` if it does not have each place once."""
    found = wrong_places(line, [slot["form"] for slot in slots])
    if found is not None:
        forms = ", ".join(dict.fromkeys(f"[T:{slot['form']}]" for slot in slots))
        raise SourceError(f"write [T], or one of {forms}, once and [A] once; the places are: {found}")
    return line


def propose_key(label: str) -> str:
    """The name of a group or of a set of attributes: its label in lower-case ASCII letters, digits and underscores."""
    return as_name(label, "_").strip("_0123456789")[:60] or "unnamed"
