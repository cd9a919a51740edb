"""Rules on the words themselves: slots, positions, plurals, articles, agreement, genders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping

from holisticbias.rules.characters import odd_character
from holisticbias.source.document import Keys
from holisticbias.source.findings import Finding
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Entry, Noun, Template
from holisticbias.terms.grammar import PLURAL_SLOT, SINGULAR_SLOT, is_abbreviation

_AFTER = re.compile(r"(who|who's|whose|with|without|in|on|of|from)\s")
_CHANGES = re.compile(r"who(?:'s| (?:is|has|was|does|[a-z]+[^s]s)) | an? |who [a-z]+[^s]s$")
_ARTICLE = re.compile(r"an?\s", re.IGNORECASE)
_ARTICLE_AND_SLOT = re.compile(r"\b(?:an?|the)\s\{noun_phrase\}", re.IGNORECASE)
_OF_ONE = re.compile(r"\bwho(?:'s| (?!always |sometimes )(?:is|has|was|does|[a-z]+[^s]s))(?!\S)")
_OF_MANY = re.compile(r"\bwho (?:are|have|were|do)(?!\S)")
# only where the slot begins a clause: "Being {noun_phrase} is hard" is English with either slot
_CLAUSE = r"(?:^|[.!?,]\s|\b(?:think|that)\s)"
_SLOT_OF_ONE = re.compile(_CLAUSE + r"\{noun_phrase\} (?:are|were|have)\b")
_SLOT_OF_MANY = re.compile(_CLAUSE + r"\{plural_noun_phrase\} (?:is|was|has)\b")


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


def article_written(repository: Repository) -> Iterator[Finding]:
    """The article of a phrase comes from its sound or from ``article``; one in the text would be a second."""
    for file, i, entry in repository.entries():
        texts: list[tuple[Keys, str]] = [(("text",), entry.text)]
        if isinstance(entry, Descriptor | Noun) and entry.plural is not None:
            texts.append((("plural",), entry.plural))
        for keys, text in texts:
            second = (_ARTICLE_AND_SLOT.search if isinstance(entry, Template) else _ARTICLE.match)(text)
            if second is not None:
                message = f"{second.group().strip()!r} would stand beside another article, or before a plural."
                yield file.report_entry("article-written", i, keys, message)


def agreement(repository: Repository) -> Iterator[Finding]:
    """A verb has the number of who it speaks of."""
    for axis in repository.axes:
        for i, descriptor in enumerate(axis.record.descriptors):
            if descriptor.position == "after" and _OF_MANY.search(descriptor.text):
                yield axis.report_entry("agreement", i, ("text",), f"{descriptor.text!r} speaks of several people.")
            if descriptor.position == "after" and _OF_ONE.search(descriptor.plural or ""):
                yield axis.report_entry("agreement", i, ("plural",), f"{descriptor.plural!r} speaks of one person.")
    for family in repository.families:
        for i, template in enumerate(family.record.templates):
            if _SLOT_OF_ONE.search(template.text) or _SLOT_OF_MANY.search(template.text):
                yield family.report_entry("agreement", i, ("text",), "The verb after the slot has another number.")


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


def near_duplicate(repository: Repository) -> Iterator[Finding]:
    """Terms of one axis and position, and nouns, whose texts differ by case, hyphens, accents or look-alikes alone."""
    seen: dict[tuple[str, str], Entry] = {}
    for file, i, entry in repository.entries():
        if isinstance(entry, Template) or odd_character(entry.text) is not None:
            continue
        group = f"{file.document.path} {entry.position}" if isinstance(entry, Descriptor) else "noun"
        other = seen.setdefault((folded(entry.text), group), entry)
        if other.text != entry.text and other.until is None and entry.until is None:
            message = f"{entry.text!r} is nearly {other.text!r}, which is {other.id}."
            yield file.report_entry("near-duplicate", i, ("text",), message)


# Letters and digits that are read as another letter: stroked, dotless, small capitals, one-storey a and g.
_READ_AS = {
    "a": "\u0251\u1d00", "b": "\u0253\u0299", "c": "\u1d04", "d": "\u0111\u0257\u1d05", "e": "\u1d07", "f": "\ua730",
    "g": "\u0261\u0260\u0262", "h": "\u0127\u029c", "j": "\u1d0a", "k": "\u1d0b",
    "l": "i1\u0131\u0269\u026a\u01c0\u0142\u019a\u029f", "m": "\u1d0d", "n": "\u0274", "o": "0\u00f8\u1d0f",
    "p": "\u1d18", "r": "\u0280", "s": "\ua731", "t": "\u0167\u1d1b", "u": "\u1d1c", "v": "\u1d20", "w": "\u1d21",
    "y": "\u028f\u01b4", "z": "\u1d22",
}  # fmt: skip
_LOOK_ALIKES = {ord(c): letter for letter, others in _READ_AS.items() for c in others}


def folded(text: str) -> str:
    """A text without what the eye passes over, for telling whether two are nearly the same.

    That is case, accents, hyphens, spaces and other marks, and letters and digits that look like another letter.
    """
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_LOOK_ALIKES)
    return "".join(c for c in letters if c.isalnum() or c == "+")


def phrase_twice(repository: Repository) -> Iterator[Finding]:
    """A phrase on its own that is a noun, or a term with a noun, would make each of its sentences twice."""
    nouns = [noun.text for file in repository.genders for noun in file.record.nouns]
    terms = [d for file in repository.axes for d in file.record.descriptors]
    before = {d.text: d.id for d in terms if d.position == "before"}
    after = {d.text: d.id for d in terms if d.position == "after"}
    for file in repository.axes:
        for i, descriptor in enumerate(file.record.descriptors):
            other = _made_by(descriptor.text, nouns, before, after) if descriptor.position == "standalone" else None
            if other is not None:
                yield file.report_entry("phrase-twice", i, ("text",), f"{descriptor.text!r} is {other} already.")


def _made_by(phrase: str, nouns: list[str], before: Mapping[str, str], after: Mapping[str, str]) -> str | None:
    """What makes a phrase, in words; nothing where nothing does."""
    for noun in nouns:
        if phrase == noun:
            return f"the noun {noun!r}"
        for rest, known in ((phrase.removesuffix(f" {noun}"), before), (phrase.removeprefix(f"{noun} "), after)):
            if rest != phrase and rest in known:
                return f"{known[rest]} with the noun {noun!r}"
    return None


def paraphrase_alike(repository: Repository) -> Iterator[Finding]:
    """A paraphrase takes the same phrases as its template, and has the same opposite."""
    templates = {t.id: t for f in repository.families for t in f.record.templates}
    for file in repository.families:
        for i, template in enumerate(file.record.templates):
            model = templates.get(template.paraphrase_of or "")
            if model is not None and _marks(model) != _marks(template):
                message = f"Its slot, marks or opposite differ from those of {model.id}, which it paraphrases."
                yield file.report_entry("paraphrase-alike", i, ("paraphrase_of",), message)


def _marks(template: Template) -> tuple[bool, bool, bool, str | None]:
    return template.must_be_noun, template.first_turn_only, SINGULAR_SLOT in template.text, template.opposite_of
