"""Groups of collections, prompts and specifications as lines of text, which ``holisticbias show`` prints."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from holisticbias.contribute.readings import find_readings, newest, preference_line, render_reading
from holisticbias.errors import UnknownTermError
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Entry
from holisticbias.terms.file_kinds import CollectionFile, CompanionFile
from holisticbias.terms.prompt_entries import Group, Prompt
from holisticbias.terms.specification_entries import Slot, Specification

_EXAMPLES = 3  # prompts of a group
_MOST_FILLED = 40  # sentences of a template


def show_entries(catalog: Catalog, name: str, version: str | None, noun: str | None) -> str:
    """Every entry with this text, ignoring case, or this id: a term in sentences, other entries with their parts.

    ``version`` defaults to the newest one. Raises ``UnknownTermError`` if no entry of the version matches.
    """
    version = newest(catalog) if version is None else version
    shown = [render_reading(reading) for reading in find_readings(catalog, name, version, noun)]
    held = catalog.at(version)
    entries = [(file, entry) for file in held.companions for entry in file.entries]
    wanted = name.casefold()
    found = [(file, e) for file, e in entries if wanted in (e.text.casefold(), e.id)]
    shown += ["\n".join(entry_lines(held, file, entry)) for file, entry in found]
    if not shown:
        known = [d.text for axis in held.axes for d in axis.descriptors]
        known += [text for _, e in entries for text in (e.id, e.text)]
        close = difflib.get_close_matches(name, known, n=3)
        hint = f"; close to it: {', '.join(close)}" if close else ""
        raise UnknownTermError(f"version {version} has no entry {name!r}{hint}")
    return "\n\n".join(shown)


def entry_lines(held: Catalog, file: CompanionFile, entry: Entry) -> Iterator[str]:
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
        yield from specification_lines(entry, {d.id: d.text for a in held.axes for d in a.descriptors})


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
    slot = next((s for s in entry.slots if f"[T:{s.form}]" in template or "[T]" in template), None)
    terms = () if slot is None else [term for term in _terms(slot, texts) if term is not None]
    sentences = (
        template.replace("[T]", term).replace(f"[T:{slot.form}]", term).replace("[A]", chosen.terms[0])
        for chosen in entry.attributes
        for term in terms
        if slot is not None
    )
    for number, sentence in enumerate(sentences):
        if number == _MOST_FILLED:
            return
        yield sentence[:1].upper() + sentence[1:]
