"""The rows of the table ``specifications``: one for each part of a specification."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holisticbias.terms.catalog import Catalog
from holisticbias.terms.file_kinds import SpecificationFile
from holisticbias.terms.specification_entries import AttributeSet, Specification, TargetGroup
from holisticbias.terms.version_files import WITH_FORMS


@dataclass(frozen=True, slots=True)
class PartRow:
    """A part of a specification: a group, a term of a slot, a word form, an attribute, a pair of opposites, a template.

    ``name`` is the group or the set of attributes that it belongs to; null for a template. Of a pair of opposites it
    is the set of the negative attribute, which is the term. The slot of a word form is the first with the term that is
    written in its place; null if no term is.
    """

    entry: Specification
    part: str
    of: TargetGroup | AttributeSet | None = None
    slot: int | None = None
    form: str | None = None
    term: str | None = None
    descriptor_id: str | None = None
    stereotype: str | None = None
    gender: str | None = None
    held_out: bool | None = None
    valence: str | None = None
    opposite: str | None = None


def specification_rows(held: Catalog, layout: int) -> Iterator[tuple[SpecificationFile, PartRow]]:
    """Groups, terms slot by slot, word forms, attributes, opposites, templates; a missing term has no row."""
    texts = {d.id: d.text for d in held.descriptors}
    for file in held.specifications:
        for entry in file.specifications:
            yield from ((file, row) for row in _group_rows(entry, texts))
            if layout >= WITH_FORMS:
                yield from ((file, row) for row in _word_forms(entry))
            yield from ((file, row) for row in _attribute_rows(entry))


def _group_rows(entry: Specification, texts: Mapping[str, str]) -> Iterator[PartRow]:
    for group in entry.groups:
        marks = group.stereotype, group.gender, group.held_out
        yield PartRow(entry, "group", group, None, None, None, None, *marks)
    for k, slot in enumerate(entry.slots):
        terms = slot.terms or tuple(texts.get(name) for name in slot.descriptors)
        for group, term, descriptor in zip(entry.groups, terms, slot.descriptors or (None,) * len(terms), strict=True):
            if term is not None:
                yield PartRow(entry, "term", group, k, slot.form, term, descriptor)


def _word_forms(entry: Specification) -> Iterator[PartRow]:
    places: dict[str | None, tuple[TargetGroup, int | None, str | None]] = {}
    for k, slot in enumerate(entry.slots):
        for group, term in zip(entry.groups, slot.terms or slot.descriptors, strict=True):
            places.setdefault(term, (group, k, slot.form))
    groups = {group.name: group for group in entry.groups}
    for forms in entry.forms:
        place = (groups[forms.group or ""], None, None) if forms.of is None else places[forms.of]
        yield from (PartRow(entry, "word_form", *place, word) for word in forms.words)


def _attribute_rows(entry: Specification) -> Iterator[PartRow]:
    for chosen in entry.attributes:
        for term in chosen.terms:
            yield PartRow(entry, "attribute", chosen, term=term, valence=chosen.valence)
    sets = {term: chosen for chosen in reversed(entry.attributes) for term in chosen.terms}
    for negative, positive in entry.opposites:
        yield PartRow(entry, "opposite", sets.get(negative), term=negative, opposite=positive)
    for template in entry.templates:
        yield PartRow(entry, "template", term=template)
