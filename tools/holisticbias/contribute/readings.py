"""Entries as lines of text for ``holisticbias show``: terms in every template, other entries with their parts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from holisticbias.contribute.proposals import did_you_mean
from holisticbias.errors import UnknownTermError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import QUORUM, ArticleRule, Descriptor, Entry, Judged, Noun, Template, has_quorum
from holisticbias.terms.file_kinds import CollectionFile, DescriptorFile, HeldFile
from holisticbias.terms.grammar import FIXED_PHRASE, PLACES, alone, described, fill
from holisticbias.terms.prompt_entries import Group, Prompt
from holisticbias.terms.specification_entries import Slot, Specification, filled, fits


@dataclass(frozen=True, slots=True)
class TermForm:
    """One form in which a term or noun fills a slot (with a noun, without one, standalone), and the templates."""

    name: str
    singular: str
    plural: str
    templates: tuple[Template, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of all its templates."""
        return tuple(fill(template.text, self.singular, self.plural) for template in self.templates)


def forms(held: Catalog, descriptor: Descriptor, rule: ArticleRule, noun: str | None = None) -> Iterator[TermForm]:
    """The forms of a descriptor with the nouns and templates of one version, ``held``, as they are compiled.

    A form without a template is left out. Raises ``UnknownTermError`` for a noun that the descriptor does not go with.
    """
    chosen = _choose_noun(held, descriptor, noun)
    if chosen is not None:
        yield TermForm(f"with the noun {chosen.text!r}", *described(descriptor, chosen, rule), held.templates)
    kind, singular, plural = alone(descriptor, rule) or ("", "", "")
    bare = tuple(template for template in held.templates if not template.must_be_noun)
    if kind == FIXED_PHRASE:
        yield TermForm("on its own", singular, plural, held.templates)
    elif kind and bare:
        yield TermForm("without a noun", singular, plural, bare)


def _choose_noun(catalog: Catalog, descriptor: Descriptor, wanted: str | None) -> Noun | None:
    """The noun that is wanted, by default "person" or else the first; None if the descriptor goes with none."""
    nouns = [n for g in catalog.genders for n in g.nouns if descriptor.goes_with(g.gender, n)]
    for noun in nouns:
        if (wanted or "person") in (noun.text, noun.id):
            return noun
    if wanted is None or descriptor.position == "standalone":
        return next(iter(nouns), None)
    known = ", ".join(n.text for n in nouns) or "none of this version"
    raise UnknownTermError(f"{descriptor.text!r} does not go with the noun {wanted!r}; it goes with: {known}")


def template_examples(text: str, *, bare: bool) -> tuple[str, ...]:
    """A template with example phrases; the last one, an adjective alone, if it can be ``bare``."""
    phrases = (("a Deaf person", "Deaf people"), ("an amputee", "amputees"), ("Deaf", "Deaf"))
    return tuple(fill(text, *phrase) for phrase in phrases[: 3 if bare else 2])


def _term_lines(axis: DescriptorFile, d: Descriptor, forms_of_term: Iterable[TermForm]) -> Iterator[str]:
    """A term with the sentences of all its forms, as lines."""
    gender = "" if d.noun_gender == "any" else f"; {d.noun_gender} nouns only"
    bucket = f" / {d.bucket}" if d.bucket else ""
    yield f"{d.text}  [{d.id}]"
    yield f"  {axis.label}{bucket}; {PLACES[d.position]}{gender}; since {d.since}"
    yield f"  {preference_line(d, 'term')}"
    shown = tuple(forms_of_term)
    if not shown:
        yield "  no sentence: it goes with no noun of this version"
    for form in shown:
        yield from ("", f"  {form.name}: {form.singular} / {form.plural}")
        yield from (f"    {sentence}" for sentence in form.sentences)


def preference_line(entry: Judged, name: str) -> str:
    """The preference of an entry and its judgements; ``name`` says what it is, a term or a specification."""
    judged = [f"{a.judgement} ({a.whose}, {a.locale}, {a.date})" for a in entry.assessments]
    if not judged:
        return f"no_data: nobody has judged this {name} yet"
    waits = "" if has_quorum(entry.judgements) else f" (one reviewer of {QUORUM} so far)"
    return f"{entry.preference}{waits}: {'; '.join(judged)}"


_EXAMPLES = 3  # prompts of a group
_MOST_FILLED = 40  # sentences of a template


def show_entries(catalog: Catalog, name: str, version: str | None, noun: str | None) -> str:
    """The entries with this text or id (see ``Catalog.named``): terms in sentences, other entries with their parts.

    ``version`` defaults to the newest one, and ``noun`` to "person". Raises ``UnknownVersionError``, and
    ``UnknownTermError`` if no entry of the version matches, or for a noun that the term does not go with.
    """
    if version is None:
        version = catalog.versions[-1] if catalog.versions else "0.0.0"
    held, rule = catalog.at(version), catalog.release(version).article_rule
    found = [(file, entry) for file, entry in held.named(name) if not isinstance(entry, Noun | Template)]
    if not found:
        shown = [entry for _, entry in held.entries() if not isinstance(entry, Noun | Template)]
        raise UnknownTermError(f"version {version} has no entry {name!r}{did_you_mean(name, shown)}")
    if noun is not None and all(getattr(entry, "position", "standalone") == "standalone" for _, entry in found):
        raise UnknownTermError(f"{name!r} goes with no noun: leave --noun out")
    return "\n\n".join(
        "\n".join(
            _term_lines(file, entry, forms(held, entry, rule, noun))
            if isinstance(file, DescriptorFile) and isinstance(entry, Descriptor)
            else entry_lines(held, file, entry)
        )
        for file, entry in found
    )


def entry_lines(held: Catalog, file: HeldFile, entry: Entry) -> Iterator[str]:
    """A group, a prompt or a specification of a version as lines."""
    yield f"{entry.text}  [{entry.id}]"
    yield f"  {file.label}; since {entry.since}; sources: {', '.join(entry.sources)}"
    if isinstance(entry, Group) and isinstance(file, CollectionFile):
        yield from _group_lines(held, file, entry)
    elif isinstance(entry, Prompt):
        names = {g.id: g.text for c in held.collections for g in c.groups}
        yield f"  group: {names.get(entry.group, 'unknown')}  [{entry.group}]"
        yield f"  subject: {entry.subject or 'none'}"
        yield f"  continuation: {entry.continuation}"
    elif isinstance(entry, Specification):
        yield f"  {preference_line(entry, 'specification')}"
        yield from specification_lines(entry, {d.id: d.text for d in held.descriptors})


def _group_lines(held: Catalog, file: CollectionFile, group: Group) -> Iterator[str]:
    person = ", the name of a person" if group.needs_person else ""
    yield f"  domain: {group.domain}"
    yield (
        f"  sentences of at least {file.least_words} words with the term{person} among the first {file.term_within}; "
        f"a prompt is the first {file.prompt_words} words and the term"
    )
    pages = {**group.pages.model_dump(), "terms": group.terms}
    yield from (f"  {name}: {', '.join(values)}" for name, values in pages.items() if values)
    if group.forms:
        sources = ", ".join(group.forms.sources)
        yield f"  forms that measures replace: {', '.join(group.forms.words)}; sources: {sources}"
    prompts = [p for f in held.prompts for p in f.prompts if p.group == group.id]
    yield f"  prompts: {len(prompts):,}"
    yield from (f"    {p.text} | {p.continuation}" for p in prompts[:_EXAMPLES])


def specification_lines(entry: Specification, texts: Mapping[str, str]) -> Iterator[str]:
    """Groups with their stereotypes, slots side by side, attributes, opposites, and templates filled in.

    ``texts`` has the texts of descriptors by id.
    """
    if entry.control:
        yield "  a control: its words are invented"
    yield ""
    rows = [["form", *(group.label for group in entry.groups)]]
    rows += [[slot.form, *(term or "-" for term in _terms(slot, texts))] for slot in entry.slots]
    if any(group.stereotype for group in entry.groups):
        rows.append(["stereotype", *(group.stereotype or "-" for group in entry.groups)])
    if any(group.held_out for group in entry.groups):
        rows.append(["held out", *("yes" if group.held_out else "-" for group in entry.groups)])
    yield from _aligned(rows)
    yield ""
    labels = {group.name: group.label for group in entry.groups}
    for forms in entry.forms:
        what = (
            texts.get(forms.of, forms.of)
            if forms.of
            else f"{labels.get(forms.group or '', forms.group)}, not rewritten"
        )
        yield f"  also found ({what}): {', '.join(forms.words)}"
    for chosen in entry.attributes:
        valence = f"; {chosen.valence}" if chosen.valence else ""
        yield f"  {chosen.name} ({chosen.label}{valence}): {', '.join(chosen.terms)}"
    if entry.opposites:
        yield f"  opposites: {', '.join(' / '.join(pair) for pair in entry.opposites)}"
    for template in entry.templates:
        yield ""
        yield f"  {template}"
        yield from (f"    {sentence}" for sentence in _filled(entry, template, texts))


def _terms(slot: Slot, texts: Mapping[str, str]) -> tuple[str | None, ...]:
    return slot.terms or tuple(texts.get(name, name) for name in slot.descriptors)


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[k]) for row in rows if k < len(row)) for k in range(max(map(len, rows)))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


def _filled(entry: Specification, template: str, texts: Mapping[str, str]) -> Iterator[str]:
    """The template with the first term of each group in the first slot that fits, and each set's first attribute."""
    slots = (slot for slot in entry.slots if fits(template, slot.form))
    sentences = (
        filled(template, term, chosen.terms[0], literal=entry.published_as is not None)
        for slot in islice(slots, 1)
        for chosen in entry.attributes
        for term in _terms(slot, texts)
        if term is not None
    )
    return islice(sentences, _MOST_FILLED)
