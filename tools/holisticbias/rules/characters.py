"""Rules on the characters of texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from holisticbias.rules.check import Problems, rule
from holisticbias.source.document import Keys, Value
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Descriptor, Entry, Noun, Template

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 '/+.,;:!?()-]")
_BEYOND_ASCII = re.compile(r"[^ -~\n]")
_STRAY = re.compile(r"https?:|www\.|\s\s|^\s|\s$")
_SLOT_OR_BRACE = re.compile(r"\{[^{}]*\}|[{}]")  # checked by the rule slot
_ACCENTS = re.compile("[\u0300-\u0333]")  # above or below a letter; other combining marks strike it out
# printable according to Unicode, but invisible: fillers, variation selectors, the blank Braille pattern
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


@rule(
    "clean-text",
    asks="Text has only letters, digits, single spaces and English punctuation, and begins with a letter or a digit.",
    fix="write the text without this character",
)
def clean_text(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            odd = odd_character(_SLOT_OR_BRACE.sub("x", text) if isinstance(entry, Template) else text)
            if odd is not None:
                yield file.entry_problem(i, keys, f"The {keys[-1]} contains {odd}.")
            elif not isinstance(entry, Template) and not (text[0].isalnum() or text[0] == "'"):
                yield file.entry_problem(i, keys, f"The {keys[-1]} begins with {text[0]!r}.")
    for file in repository.with_entries:
        odd = odd_character(file.record.label)
        if odd is not None:
            yield file.problem(("label",), f"The label contains {odd}.")


def _texts(entry: Entry) -> Iterator[tuple[Keys, str]]:
    """The texts that become part of sentences, now or in the past, and the names of communities."""
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
    """A description of the first character that plain words do not have, or None."""
    for found in _NOT_PLAIN.finditer(text):
        character = found.group()
        accent = _ACCENTS.match(character) and text[: found.start()][-1:].isalpha()
        letter = character.isalpha() and not _UNSEEN.match(character)
        if not (letter or accent):
            ascii_one = character.isascii() and character.isprintable()
            return repr(character) if ascii_one else f"the character U+{ord(character):04X}"
    match = _STRAY.search(text)
    return None if match is None else repr(match.group())


@rule(
    "hidden-character",
    asks="Reasons, titles and other prose have no invisible characters.",
    fix="remove the character",
    why="An invisible character can reverse or hide the text around it from reviewers.",
)
def hidden_character(repository: Repository) -> Problems:
    for file in repository.files:
        for keys, text in _prose(file.document.data, ()):
            odd = next((c for c in _BEYOND_ASCII.findall(text) if not c.isprintable() or _UNSEEN.match(c)), None)
            if odd is not None:
                yield file.problem(keys, f"The {keys[-1]} contains the character U+{ord(odd):04X}.")


def _prose(value: Value, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """The texts of a file that the rule clean-text does not check."""
    if isinstance(value, str):
        if keys != ("label",) and keys[-1] not in ("text", "plural", "community"):
            yield keys, value
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _prose(item, (*keys, i))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _prose(item, (*keys, key))


@rule(
    "latin-letters",
    asks="Words are in Latin letters.",
    fix="type the word again, since a letter only looks Latin",
    why="A word with a Cyrillic letter that looks Latin is another word to a model.",
)
def latin_letters(repository: Repository) -> Problems:
    for file, i, entry in repository.entries():
        for keys, text in _texts(entry):
            letters = filter(str.isalpha, _BEYOND_ASCII.findall(text))
            odd = next((c for c in letters if not unicodedata.name(c, "").startswith("LATIN")), None)
            if odd is not None:
                message = (
                    f"The {keys[-1]} contains U+{ord(odd):04X}, {unicodedata.name(odd, 'a letter without a name')}."
                )
                yield file.entry_problem(i, keys, message)
