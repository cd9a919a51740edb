"""Rules on the words themselves: characters, slots, positions, plurals, articles, genders."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holisticbias.catalog import Descriptor, Entry, Noun, Template
from holisticbias.document import Keys, Value
from holisticbias.findings import Finding
from holisticbias.grammar import PLURAL_SLOT, SINGULAR_SLOT
from holisticbias.repository import Repository

_AFTER = re.compile(r"(who|who's|whose|with|without|in|on)\s")
_CHANGES = re.compile(r"who(?:'s| (?:is|has|was|does|[a-z]+[^s]s)) | an? |who [a-z]+[^s]s$")
_MARKUP = re.compile(r"[<>{}\[\]`*_|\\#@&%$^~=\"\u201c\u201d\u2018\u2019]|https?:|\s\s|^\s|\s$")


def clean_text(repository: Repository) -> Iterator[Finding]:
    """No control, format, private or unassigned characters, no markup, no stray spaces."""
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            template = isinstance(entry, Template)
            odd = _odd_character(text.replace("{", "").replace("}", "").replace("_", "") if template else text)
            if odd is not None:
                yield file.report_entry("clean-text", i, keys, f"The {keys[-1]} holds {odd}.")


def _texts(entry: Entry) -> Iterator[tuple[Keys, str]]:
    """Every wording that goes into sentences."""
    yield ("text",), entry.text
    if isinstance(entry, Descriptor | Noun) and entry.plural is not None:
        yield ("plural",), entry.plural
    for k, wording in enumerate(entry.history):
        for key, text in (("text", wording.text), ("plural", wording.plural)):
            if text is not None:
                yield ("history", k, key), text


def hidden_character(repository: Repository) -> Iterator[Finding]:
    """Labels, reasons and the like may hold markup, but nothing that a reader of the file cannot see."""
    for file in repository.files:
        for keys, text in _prose(file.document.data, ()):
            odd = next((c for c in text if not c.isprintable() and c != "\n"), None)
            if odd is not None:
                yield file.report("hidden-character", keys, f"The {keys[-1]} holds the character U+{ord(odd):04X}.")


def _prose(value: Value, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """The text of a file, save the wordings that the rule clean-text judges."""
    if isinstance(value, str):
        if keys[-1:] not in (("text",), ("plural",)):
            yield keys, value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _prose(item, (*keys, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _prose(item, (*keys, key))


def _odd_character(text: str) -> str | None:
    for character in text:
        if not character.isprintable() or (character.isspace() and character != " "):
            return f"the character U+{ord(character):04X}"
    match = _MARKUP.search(text)
    return None if match is None else repr(match.group())


def slot(repository: Repository) -> Iterator[Finding]:
    """Exactly one slot, one of the two, and no other brace."""
    for file in repository.families:
        for i, template in enumerate(file.record.templates):
            slots = re.findall(r"\{[^{}]*\}", template.text)
            rest = re.sub(r"\{[^{}]*\}", "", template.text)
            if len(slots) != 1 or slots[0] not in (SINGULAR_SLOT, PLURAL_SLOT) or "{" in rest or "}" in rest:
                found = " and ".join(slots) or "none"
                yield file.report_entry("slot", i, ("text",), f"The template's slots are: {found}.")


def position(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.position == "before" and _AFTER.match(descriptor.text):
                message = f"{descriptor.text!r} would stand before the noun."
                yield file.report_entry("position", i, ("text",), message)


def plural_needed(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            changes = descriptor.position == "standalone" or (
                descriptor.position == "after" and _CHANGES.search(descriptor.text)
            )
            if changes and descriptor.plural is None:
                message = f"{descriptor.text!r} would stand unchanged after a plural noun."
                yield file.report_entry("plural-needed", i, ("text",), message)


def article_unused(repository: Repository) -> Iterator[Finding]:
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.position == "after" and descriptor.article is not None:
                message = "The article of a term after the noun is the noun's."
                yield file.report_entry("article-unused", i, ("article",), message)


def noun_gender(repository: Repository) -> Iterator[Finding]:
    """A gender that no noun has would leave the descriptor without a sentence."""
    genders = {f.record.gender for f in repository.genders if f.record.nouns}
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            if descriptor.noun_gender != "any" and descriptor.noun_gender not in genders:
                message = f"No noun has the gender {descriptor.noun_gender!r}: the entry would have no sentence."
                yield file.report_entry("noun-gender", i, ("noun_gender",), message)
