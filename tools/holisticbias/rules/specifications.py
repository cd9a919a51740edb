"""Rules on bias specifications."""

import re
from collections.abc import Iterable, Iterator

from holisticbias.rules.check import Faults, Problems, repeated, rule
from holisticbias.source.document import Keys
from holisticbias.source.records import Repository
from holisticbias.terms.entries import MADE_UP
from holisticbias.terms.specification_entries import Specification, is_stem, term_key, wrong_forms


@rule(
    asks="A slot has a term, or the id of a descriptor, for each group in the order of the groups; null for a group "
    "without one, and at least two that are not null.",
    fix="write terms: [he, she] with one value for each group, or descriptors: with one id for each group",
    why="The terms of a slot replace each other in a sentence, so each needs its place and a counterpart.",
)
def slot_terms(entry: Specification) -> Faults:
    for k, slot in enumerate(entry.slots):
        given = [values for values in (slot.terms, slot.descriptors) if values]
        if len(given) != 1:
            found = "both terms and descriptors" if given else "neither terms nor descriptors"
            yield ("slots", k), f"The slot has {found}."
        elif len(given[0]) != len(entry.groups):
            yield ("slots", k), f"The slot has {len(given[0])} terms for {len(entry.groups)} groups."
        elif sum(term is not None for term in given[0]) < 2:
            yield ("slots", k), "The slot has fewer than two terms, so none has a counterpart."


@rule(
    asks="The groups of a specification have different names, and so have its sets of attributes.",
    fix="choose another name",
)
def specification_names(entry: Specification) -> Faults:
    for key in ("groups", "attributes"):
        for keys, name in repeated(((key, k, "name"), part.name) for k, part in enumerate(getattr(entry, key))):
            yield keys, f"The name {name!r} is used twice."


@rule(
    asks="The stereotype of a group is the name of a set of attributes of the specification.",
    fix="name a set of attributes, or leave out the stereotype",
)
def known_attributes(entry: Specification) -> Faults:
    known = [chosen.name for chosen in entry.attributes]
    for k, group in enumerate(entry.groups):
        if group.stereotype is not None and group.stereotype not in known:
            message = f"No set of attributes has the name {group.stereotype!r}; there are {', '.join(known)}."
            yield ("groups", k, "stereotype"), message


@rule(
    asks="A template of a specification has [T] or [T:FORM] for the term and [A] for the attribute, once each, and no "
    "other brackets; FORM is the form of one of the slots.",
    fix="write [T] once and [A] once, or [T:FORM] with the form of a slot",
)
def specification_template(entry: Specification) -> Faults:
    for k, template in enumerate(entry.templates):
        found = wrong_places(template, [slot.form for slot in entry.slots])
        if found is not None:
            yield ("templates", k), f"The places in the template are: {found}."


def wrong_places(template: str, forms: Iterable[str]) -> str | None:
    """The places in a template as a list in words, or None if it has one term of these forms and one attribute."""
    found = re.findall(r"\[[^\[\]]*\]|[\[\]]", template)
    terms = {"[T]", *(f"[T:{form}]" for form in forms)}
    if len(found) == 2 and "[A]" in found and not terms.isdisjoint(found):
        return None
    return " and ".join(found) or "none"


@rule(
    asks="A term of a specification belongs to one group.",
    fix="remove the term from one of the groups",
    why="A sentence with the term would be about both groups.",
)
def term_of_two_groups(entry: Specification) -> Faults:
    owners: dict[str, object] = {}
    for keys, term in (*_slot_values(entry, "terms"), *_slot_values(entry, "descriptors")):
        if owners.setdefault(term_key(term), keys[-1]) != keys[-1]:
            yield keys, f"The term {term!r} stands for two groups."


def _slot_values(entry: Specification, key: str) -> Iterator[tuple[Keys, str]]:
    """The terms of all slots, or the ids of their descriptors."""
    for k, slot in enumerate(entry.slots):
        yield from ((("slots", k, key, n), term) for n, term in enumerate(getattr(slot, key)) if term is not None)


def _attributes(entry: Specification) -> Iterator[tuple[Keys, str]]:
    for k, chosen in enumerate(entry.attributes):
        yield from ((("attributes", k, "terms", n), term) for n, term in enumerate(chosen.terms))


@rule(
    asks="Word forms of a specification have of: with a term or a descriptor of one of its slots, or group: with a "
    "group. Each word stands once and is not a term.",
    fix="write of: with a term that has the same number and part of speech, or group: if there is none; remove words "
    "that are terms",
    why="The term is written where a form is found. A sentence with a form of a group alone is not rewritten.",
    needs=frozenset({"descriptors"}),
)
def word_forms(repository: Repository) -> Problems:
    texts = {d.id: d.text for f in repository.axes for d in f.record.descriptors}
    for file, i, entry in repository.of(Specification):
        for keys, message in wrong_forms(entry, texts):
            yield file.entry_problem(i, keys, message)


@rule(
    asks="An attribute of a specification stands once in one set, unless it is published data, which keeps its words.",
    fix="remove one of the two",
    why="A pair with the attribute would count as stereotyped and as its opposite.",
)
def attribute_twice(entry: Specification) -> Faults:
    stated = dict(_attributes(entry)) if entry.published_as is None else {}
    for keys, _ in repeated((keys, term_key(term)) for keys, term in stated.items()):
        yield keys, f"The attribute {stated[keys]!r} stands twice."


@rule(
    asks="An attribute that ends in *, and stands for all words that begin so, has at least two letters before it, in "
    "a specification without templates.",
    fix="write the words themselves, or remove the templates",
    why="A stem is found in a text, and is not a word that can be put into a sentence.",
)
def attribute_stem(entry: Specification) -> Faults:
    for keys, term in _attributes(entry):
        if is_stem(term) and entry.templates:
            yield keys, f"{term!r} cannot be put into the templates."
        elif term.endswith("*") and not is_stem(term):
            yield keys, f"{term!r} stands for too many words."


@rule(
    asks="Opposites are pairs of an attribute of a set of negative valence and one of a set of positive valence; a "
    "negative attribute has one opposite.",
    fix="write pairs of [negative, positive] attributes as they stand in sets with valence: negative and positive",
    why="Opposites replace each other in a sentence.",
)
def attribute_opposites(entry: Specification) -> Faults:
    for n, valence in enumerate(("negative", "positive")):
        known = {term for chosen in entry.attributes if chosen.valence == valence for term in chosen.terms}
        for k, pair in enumerate(entry.opposites):
            if pair[n] not in known:
                yield ("opposites", k, n), f"{pair[n]!r} is not a {valence} attribute."
    for keys, term in repeated((("opposites", k, 0), pair[0]) for k, pair in enumerate(entry.opposites)):
        yield keys, f"{term!r} has two opposites."


@rule(
    asks="At least two groups of a specification are not held out.",
    fix="remove held_out from a group",
    why="Mitigation makes the groups that are not held out equal, so it needs two.",
)
def held_out_groups(entry: Specification) -> Faults:
    if sum(not group.held_out for group in entry.groups) < 2:
        yield ("groups",), "Fewer than two groups are left to train on."


@rule(
    asks="The descriptors of a slot exist in every version of the specification. Their ids are not among its terms.",
    fix="name the id of a descriptor that these versions have, or set since, until or history",
    needs=frozenset({"descriptors"}),
)
def descriptor_of_slot(repository: Repository) -> Problems:
    known = {d.id: d for f in repository.axes for d in f.record.descriptors}
    versions = [f.record.version for f in repository.releases]
    for file, i, entry in repository.of(Specification):
        for keys, term in _slot_values(entry, "terms"):
            if term in known:
                fix = "write the ids of descriptors under descriptors:, and no words beside them"
                yield file.entry_problem(i, keys, f"{term!r} is the id of a descriptor, not a word.", fix)
        missing: dict[str, tuple[Keys, str]] = {}
        for version in filter(entry.is_in, versions):
            for keys, name in _slot_values(entry.at(version), "descriptors"):
                has_it = name in known and known[name].is_in(version)
                if name not in repository.left_out and not has_it:
                    missing.setdefault(name, (keys, version))
        for name, (keys, version) in missing.items():
            yield file.entry_problem(i, keys, f"Version {version} has no descriptor {name!r}.")


@rule(
    asks=f"The descriptors of a control are made-up words, of the axis {MADE_UP}.",
    fix=f"name descriptors of the axis {MADE_UP}, or remove control: true",
    why="A control shows what a measure finds where there is nothing to find.",
)
def control_descriptors(entry: Specification) -> Faults:
    for keys, name in _slot_values(entry, "descriptors") if entry.control else ():
        if not name.startswith(f"{MADE_UP}."):
            yield keys, f"{name!r} is not a made-up word."
