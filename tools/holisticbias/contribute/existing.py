"""Entries that are the same as a proposal, with the place where each stands and what to do instead of adding it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holisticbias.rules.duplicates import fold
from holisticbias.source.folder import kind_files
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import Descriptor, Entry, Noun
from holisticbias.terms.file_kinds import Kind

_FORMS = {"before": "before the noun", "after": "after the noun", "standalone": "on its own"}


@dataclass(frozen=True, slots=True)
class Existing:
    """An entry of the data: its group is an axis, a gender or a family; ``place`` is its file and line."""

    entry: Entry
    kind: Kind
    group: str
    place: str

    def __str__(self) -> str:
        position = getattr(self.entry, "position", None)
        form = f", {_FORMS[position]}" if position else ", a noun" if isinstance(self.entry, Noun) else ""
        bucket = f", bucket {self.entry.bucket}" if isinstance(self.entry, Descriptor) and self.entry.bucket else ""
        retired = f", until version {self.entry.until}" if self.entry.until else ""
        return f"{self.entry.id} at {self.place}: {self.entry.text!r}{form}{bucket}{retired}"


def same_entries(root: Path, catalog: Catalog, text: str) -> tuple[Existing, ...]:
    """The terms, nouns and templates with this text, apart from case, accents, hyphens and spaces."""
    wanted = fold(text)
    found = [(entry, kind, group) for entry, kind, group in _entries(catalog) if fold(entry.text) == wanted]
    return tuple(Existing(entry, kind, group, find_place(root, kind, entry.id)) for entry, kind, group in found)


def same_phrase(catalog: Catalog, text: str) -> str | None:
    """The term and the noun that make this phrase, as in "person with a stoma", apart from case; or None."""
    nouns = {noun.text for gender in catalog.genders for noun in gender.nouns}
    first, _, after = text.partition(" ")
    before, _, last = text.rpartition(" ")
    wanted = {"after": (fold(after), first.lower()), "before": (fold(before), last.lower())}
    for axis in catalog.axes:
        for term in axis.descriptors:
            phrase, noun = wanted.get(term.position, ("", ""))
            if noun in nouns and phrase == fold(term.text):
                return f"{term.id} with the noun {noun!r}"
    return None


def instead(found: Existing) -> tuple[str, ...]:
    """Ways to change an entry that is in the data already, as lines."""
    judge = (f"judge it:   holisticbias assess {found.entry.id}",) if isinstance(found.entry, Descriptor) else ()
    dispute = ("move it:    open an issue with the form 'Dispute a placement'",) if judge else ()
    return (
        f"read it:    holisticbias show {found.entry.id}",
        *judge,
        f"reword it:  holisticbias reword {found.entry.id}",
        *dispute,
    )


def find_place(root: Path, kind: Kind, entry_id: str) -> str:
    """The file of an entry, relative to the folder of terms, and its line; the folder if it is not found."""
    line_of_id = re.compile(rf"\s*-?\s*\{{?\s*id: *[\"']?{re.escape(entry_id)}[\"']?\s*(?:[,#}}]|$)")
    for path in kind_files(root, kind):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if line_of_id.match(line):
                return f"{path.relative_to(root)}:{number}"
    return kind


def _entries(catalog: Catalog) -> Iterator[tuple[Entry, Kind, str]]:
    for axis in catalog.axes:
        yield from ((entry, "descriptors", axis.axis) for entry in axis.descriptors)
    for gender in catalog.genders:
        yield from ((entry, "nouns", gender.gender) for entry in gender.nouns)
    for family in catalog.families:
        yield from ((entry, "templates", family.family) for entry in family.templates)
