"""Rules on the words themselves: characters, slots, positions, plurals, articles, genders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from holisticbias.document import Keys, Value
from holisticbias.entries import Descriptor, Entry, Noun, Template
from holisticbias.findings import Finding
from holisticbias.grammar import PLURAL_SLOT, SINGULAR_SLOT, is_abbreviation
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


def article_stated(repository: Repository) -> Iterator[Finding]:
    """Whether capitals are spelt out or read as a word is not to be seen from them."""
    for file, i, entry in repository.entries():
        if not isinstance(entry, Descriptor | Noun) or entry.article is not None:
            continue
        if is_abbreviation(entry.text) and getattr(entry, "position", "") != "after":
            message = f"{entry.text!r} may be read as letters or as a word."
            yield file.report_entry("article-stated", i, ("text",), message)


def latin_letters(repository: Repository) -> Iterator[Finding]:
    """A Cyrillic letter that looks Latin would make a second text of the same word."""
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            odd = next((c for c in text if c.isalpha() and not unicodedata.name(c, "").startswith("LATIN")), None)
            if odd is not None:
                message = f"The {keys[-1]} holds U+{ord(odd):04X}, {unicodedata.name(odd, 'a letter without a name')}."
                yield file.report_entry("latin-letters", i, keys, message)


def near_duplicate(repository: Repository) -> Iterator[Finding]:
    """Two entries of one file and position whose texts differ by case, hyphens, spaces or accents alone."""
    for file in repository.axes:
        seen: dict[tuple[str, str], Descriptor] = {}
        for i, descriptor in enumerate(file.record.descriptors):
            other = seen.setdefault((folded(descriptor.text), descriptor.position), descriptor)
            clean = _odd_character(descriptor.text) is None and other.until is None and descriptor.until is None
            if clean and other.text != descriptor.text:
                message = f"{descriptor.text!r} is nearly {other.text!r}, which is {other.id}."
                yield file.report_entry("near-duplicate", i, ("text",), message)


def folded(text: str) -> str:
    """A text without case, accents, hyphens, spaces and other marks, for telling whether two are nearly the same."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in letters if c.isalnum() or c == "+")


def paraphrase_alike(repository: Repository) -> Iterator[Finding]:
    """Marks and slot of a paraphrase are those of its template, so that both take the same phrases."""
    templates = {t.id: t for f in repository.families for t in f.record.templates}
    for file in repository.families:
        for i, template in enumerate(file.record.templates):
            model = templates.get(template.paraphrase_of or "")
            if model is not None and _marks(model) != _marks(template):
                message = f"It takes other phrases than {model.id}, which it paraphrases."
                yield file.report_entry("paraphrase-alike", i, ("paraphrase_of",), message)


def _marks(template: Template) -> tuple[bool, bool, bool]:
    return template.must_be_noun, template.first_turn_only, SINGULAR_SLOT in template.text
