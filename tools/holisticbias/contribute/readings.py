"""Readings of a term in every template, which ``holisticbias show`` prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holisticbias.errors import UnknownTermError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import QUORUM, ArticleRule, Descriptor, Judged, Noun, Template, has_quorum
from holisticbias.terms.file_kinds import DescriptorFile
from holisticbias.terms.grammar import described, fill, with_article


@dataclass(frozen=True, slots=True)
class Form:
    """One form in which a term fills a slot (with a noun, without one, standalone), with its sentences."""

    name: str
    singular: str
    plural: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """All forms of a term in one version."""

    axis: DescriptorFile
    descriptor: Descriptor
    forms: tuple[Form, ...]


def find_readings(catalog: Catalog, term: str, version: str | None, noun: str | None) -> tuple[Reading, ...]:
    """The readings of every entry with this text, ignoring case, or this id.

    ``version`` defaults to the newest one, and ``noun`` to "person"; empty if no term of the version matches. Raises
    ``UnknownVersionError``, and ``UnknownTermError`` for a noun that the term does not go with.
    """
    if version is None:
        version = newest(catalog)
    rule = catalog.release(version).article_rule
    held = catalog.at(version)
    entries = [(axis, d) for axis in held.axes for d in axis.descriptors]
    wanted = term.casefold()
    found = [(a, d) for a, d in entries if wanted in (d.text.casefold(), d.id)]
    return tuple(Reading(a, d, forms(held, d, rule, noun)) for a, d in found)


def newest(catalog: Catalog) -> str:
    """The newest version, published or in preparation."""
    return catalog.versions[-1] if catalog.versions else "0.0.0"


def forms_in_newest(catalog: Catalog, descriptor: Descriptor) -> tuple[Form, ...]:
    """The forms of a descriptor, in the catalog or not, with the newest version's nouns and templates."""
    version = catalog.versions[-1]
    return forms(catalog.at(version), descriptor, catalog.release(version).article_rule)


def forms(held: Catalog, descriptor: Descriptor, rule: ArticleRule, noun: str | None = None) -> tuple[Form, ...]:
    """The forms of a descriptor with the nouns and templates of one version, ``held``; see ``find_readings``."""
    return tuple(_forms(held, descriptor, rule, noun))


def _forms(catalog: Catalog, descriptor: Descriptor, rule: ArticleRule, noun: str | None) -> Iterator[Form]:
    templates = [t for family in catalog.families for t in family.templates]
    if descriptor.position == "standalone":
        singular = with_article(descriptor.text, rule, descriptor.article)
        yield _form("on its own", singular, descriptor.plural or descriptor.text, templates)
        return
    chosen = _choose_noun(catalog, descriptor, noun)
    yield _form(f"with the noun {chosen.text!r}", *described(descriptor, chosen, rule), templates)
    if descriptor.position == "before" and descriptor.without_noun:
        bare = [t for t in templates if not t.must_be_noun]
        yield _form("without a noun", descriptor.text, descriptor.text, bare)


def _form(name: str, singular: str, plural: str, templates: list[Template]) -> Form:
    return Form(name, singular, plural, tuple(fill(t.text, singular, plural) for t in templates))


def _choose_noun(catalog: Catalog, descriptor: Descriptor, wanted: str | None) -> Noun:
    nouns = [n for g in catalog.genders for n in g.nouns if descriptor.goes_with(g.gender, n)]
    if not nouns:
        raise UnknownTermError(f"{descriptor.text!r} does not go with any noun of this version")
    if wanted is None:
        return next((n for n in nouns if n.text == "person"), nouns[0])
    for noun in nouns:
        if wanted in (noun.text, noun.id):
            return noun
    known = ", ".join(n.text for n in nouns)
    raise UnknownTermError(f"{descriptor.text!r} does not go with the noun {wanted!r}; it goes with: {known}")


def render_reading(reading: Reading) -> str:
    """Render a reading as lines of text."""
    d = reading.descriptor
    where = {"before": "before the noun", "after": "after the noun", "standalone": "on its own"}[d.position]
    gender = "" if d.noun_gender == "any" else f"; {d.noun_gender} nouns only"
    bucket = f" / {d.bucket}" if d.bucket else ""
    lines = [f"{d.text}  [{d.id}]", f"  {reading.axis.label}{bucket}; {where}{gender}; since {d.since}"]
    lines.append(f"  {preference_line(d, 'term')}")
    for form in reading.forms:
        lines += ["", f"  {form.name}: {form.singular} / {form.plural}"]
        lines += [f"    {sentence}" for sentence in form.sentences]
    return "\n".join(lines)


def preference_line(entry: Judged, name: str) -> str:
    """The preference of an entry and its judgements; ``name`` says what it is, a term or a specification."""
    judged = [f"{a.judgement} ({a.reviewer or a.source}, {a.locale}, {a.date})" for a in entry.assessments]
    if not judged:
        return f"no_data: nobody has judged this {name} yet"
    waits = "" if has_quorum(entry.judgements) else f" (one reviewer of {QUORUM} so far)"
    return f"{entry.preference}{waits}: {'; '.join(judged)}"
