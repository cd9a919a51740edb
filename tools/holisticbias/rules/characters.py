"""Rules on the characters of texts."""

import re
import unicodedata
from functools import cache

from holisticbias.rules.check import Problems, rule, stated_texts, texts
from holisticbias.source.document import Keys
from holisticbias.source.reading_rules import UNSEEN
from holisticbias.source.records import Repository
from holisticbias.terms.entries import Entry, Template
from holisticbias.terms.grammar import TYPOGRAPHIC

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9 '/+.,;:!?()-]")
_BEYOND_ASCII = re.compile(r"[^ -~\n]")
_STRAY = re.compile(r"https?:|www\.|\s\s|^\s|\s$")
_SLOT_OR_BRACE = re.compile(r"\{[^{}]*\}|[{}]")  # checked by the rule slot
_PLACES = re.compile(r"\[[^\[\]]*\]|[\[\]]")  # checked by the rule specification-template
_STEM = re.compile(r"(?<=.)\*$")  # checked by the rule attribute-stem
_ACCENTS = re.compile("[\u0300-\u0333]")  # above or below a letter; other combining marks strike it out
# Latin letters that look like others and that spellings do not use: phonetic symbols, small capitals, ligatures
_LOOKS_LATIN = re.compile(
    "[\u0251\u0261\u0262\u026a\u0274\u0280\u028f\u0299\u029b-\u029f\u017f"
    "\u1d00-\u1dbf\ua730\ua731\uab30-\uab6f\ufb00-\ufb06]"
)
_OF_SPELLINGS = frozenset("\u02bb\u02bc")  # the letters of Hawaiian and other languages that look like apostrophes


@rule(
    asks="Text has only letters, digits, single spaces and English punctuation, and begins with a letter or a digit. "
    "An attribute of a specification may end in *.",
    fix="write the text without this character",
)
def clean_text(repository: Repository) -> Problems:
    for file, i, keys, text in stated_texts(repository, _is_word):
        name = _name(keys)
        places = _may_hold(file.record.entries[i], keys)
        odd = odd_character(text if places is None else places.sub("x", text))
        if odd is not None:
            yield file.entry_problem(i, keys, f"The {name} contains {odd}.", typed_instead(text))
        elif places not in (_SLOT_OR_BRACE, _PLACES) and name != "continuation" and not _begins_plainly(text):
            yield file.entry_problem(i, keys, f"The {name} begins with {text[0]!r}.")
    for file in repository.with_entries:
        odd = odd_character(file.record.label)
        if odd is not None:
            yield file.problem(("label",), f"The label contains {odd}.")


# keys of the texts that become part of sentences, now or in the past, and of the names of communities
_is_word = {
    "label", "text", "plural", "community", "continuation", "subject", "terms", "words", "templates"
}.__contains__  # fmt: skip


def _may_hold(entry: Entry, keys: Keys) -> re.Pattern[str] | None:
    """The marks that a text of an entry may have besides plain characters."""
    if isinstance(entry, Template):
        return _SLOT_OR_BRACE
    return _PLACES if "templates" in keys else _STEM if "attributes" in keys and "terms" in keys else None


def _begins_plainly(text: str) -> bool:
    return text[0].isalnum() or text[0] == "'"


def _name(keys: Keys) -> str:
    """The name of a value in messages: its key, or for an item of a list the singular of the list's key."""
    return keys[-1] if isinstance(keys[-1], str) else str(keys[-2]).removesuffix("s")


@cache
def odd_character(text: str) -> str | None:
    """A description of the first character that plain words do not have, or None."""
    for found in _NOT_PLAIN.finditer(text):
        character = found.group()
        accent = _ACCENTS.match(character) and text[: found.start()][-1:].isalpha()
        letter = character.isalpha() and not UNSEEN.match(character)
        if not (letter or accent):
            ascii_one = character.isascii() and character.isprintable()
            return repr(character) if ascii_one else f"the character U+{ord(character):04X}"
    match = _STRAY.search(text)
    return None if match is None else repr(match.group())


def typed_instead(text: str) -> str | None:
    """A fix for the first typographic character in a text; None if all are plain."""
    found = next((c for c in text if c in TYPOGRAPHIC), None)
    if found is None:
        return None
    plain, name = TYPOGRAPHIC[found]
    return f"write {name} ({plain}) in its place" if plain.strip() else f"write {name} in its place"


@rule(
    asks="Reasons, titles and other prose have no invisible characters.",
    fix="remove the character",
    why="An invisible character can reverse or hide the text around it from reviewers.",
)
def hidden_character(repository: Repository) -> Problems:
    for document in (document for file in repository.files for document in file.documents):
        for keys, text in texts(document.data, lambda key: not _is_word(key)):
            if text.isascii() and text.isprintable():
                continue
            odd = next((c for c in text if c != "\n" and (not c.isprintable() or UNSEEN.match(c))), None)
            if odd is not None:
                yield document.problem(keys, f"The {_name(keys)} contains the character U+{ord(odd):04X}.")


@rule(
    asks="Words are in Latin letters.",
    fix="type the word again, since a letter only looks Latin",
    why="A word with a Cyrillic letter or a phonetic symbol that looks Latin is another word to a model.",
)
def latin_letters(repository: Repository) -> Problems:
    for file, i, keys, text in stated_texts(repository, _is_word):
        odd = foreign_letter(text)
        if odd is not None:
            yield file.entry_problem(i, keys, f"The {_name(keys)} contains {odd}.")


def foreign_letter(text: str) -> str | None:
    """A description of the first letter that is not Latin, or that no spelling has, or None."""
    for letter in filter(str.isalpha, () if text.isascii() else _BEYOND_ASCII.findall(text)):
        name = unicodedata.name(letter, "a letter without a name")
        if letter not in _OF_SPELLINGS and (not name.startswith("LATIN") or _LOOKS_LATIN.match(letter)):
            return f"U+{ord(letter):04X}, {name}"
    return None
