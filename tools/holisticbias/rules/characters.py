"""Rules on characters: words are plain, in Latin letters, and nothing is there that cannot be seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from holisticbias.source.document import Keys, Value
from holisticbias.source.findings import Finding
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Entry, Noun, Template

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 '/+.,;:!?()-]")
_BEYOND_ASCII = re.compile(r"[^ -~\n]")
_STRAY = re.compile(r"https?:|www\.|\s\s|^\s|\s$")
_SLOT_OR_BRACE = re.compile(r"\{[^{}]*\}|[{}]")  # the rule slot judges them
_ACCENTS = re.compile("[\u0300-\u0333]")  # those that stand over or under a letter; others strike it out
# printable by Unicode's book, and yet not to be seen: fillers, selectors of variants, the blank of Braille
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def clean_text(repository: Repository) -> Iterator[Finding]:
    """Letters, digits, single spaces and the marks of plain English; no markup, and a letter or digit first."""
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            odd = odd_character(_SLOT_OR_BRACE.sub("x", text) if isinstance(entry, Template) else text)
            if odd is not None:
                yield file.report_entry("clean-text", i, keys, f"The {keys[-1]} holds {odd}.")
            elif not isinstance(entry, Template) and not (text[0].isalnum() or text[0] == "'"):
                yield file.report_entry("clean-text", i, keys, f"The {keys[-1]} begins with {text[0]!r}.")
    for file in repository.with_entries:
        odd = odd_character(file.record.label)
        if odd is not None:
            yield file.report("clean-text", ("label",), f"The label holds {odd}.")


def _texts(entry: Entry) -> Iterator[tuple[Keys, str]]:
    """Every wording that goes into sentences, and the communities that are named beside them."""
    yield ("text",), entry.text
    if isinstance(entry, Descriptor | Noun) and entry.plural is not None:
        yield ("plural",), entry.plural
    for k, wording in enumerate(entry.history):
        for key, text in (("text", wording.text), ("plural", wording.plural)):
            if text is not None:
                yield ("history", k, key), text
    for k, assessment in enumerate(entry.assessments if isinstance(entry, Descriptor) else ()):
        if assessment.community is not None:
            yield ("assessments", k, "community"), assessment.community


def odd_character(text: str) -> str | None:
    """What in a text is no plain word, in words; nothing where all of it is."""
    for found in _NOT_PLAIN.finditer(text):
        character = found.group()
        accent = _ACCENTS.match(character) and text[: found.start()][-1:].isalpha()
        letter = character.isalpha() and not _UNSEEN.match(character)
        if not (letter or accent):
            ascii_one = character.isascii() and character.isprintable()
            return repr(character) if ascii_one else f"the character U+{ord(character):04X}"
    match = _STRAY.search(text)
    return None if match is None else repr(match.group())


def hidden_character(repository: Repository) -> Iterator[Finding]:
    """Reasons, titles and the like may hold markup, but nothing that a reader of the file cannot see."""
    for file in repository.files:
        for keys, text in _prose(file.document.data, ()):
            odd = next((c for c in _BEYOND_ASCII.findall(text) if not c.isprintable() or _UNSEEN.match(c)), None)
            if odd is not None:
                yield file.report("hidden-character", keys, f"The {keys[-1]} holds the character U+{ord(odd):04X}.")


def _prose(value: Value, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """The text of a file, save what the rule clean-text judges."""
    if isinstance(value, str):
        if keys != ("label",) and keys[-1] not in ("text", "plural", "community"):
            yield keys, value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _prose(item, (*keys, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _prose(item, (*keys, key))


def latin_letters(repository: Repository) -> Iterator[Finding]:
    """A Cyrillic letter that looks Latin would make a second text of the same word."""
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            letters = filter(str.isalpha, _BEYOND_ASCII.findall(text))
            odd = next((c for c in letters if not unicodedata.name(c, "").startswith("LATIN")), None)
            if odd is not None:
                message = f"The {keys[-1]} holds U+{ord(odd):04X}, {unicodedata.name(odd, 'a letter without a name')}."
                yield file.report_entry("latin-letters", i, keys, message)
