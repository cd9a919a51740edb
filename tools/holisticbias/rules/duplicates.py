"""Rules on texts that are the same, or nearly the same."""

import unicodedata
from collections.abc import Iterable
from functools import cache

from holisticbias.rules.characters import odd_character
from holisticbias.rules.check import Problems, rule
from holisticbias.source.records import EntryFile, Repository
from holisticbias.terms.entries import Descriptor, Entry, Noun, Template
from holisticbias.terms.prompt_entries import Prompt
from holisticbias.terms.versions import version_key


@rule(
    asks="No two entries of a file have the same text and position in the same version.",
    fix="remove this entry, or correct its text",
)
def unique_text(repository: Repository) -> Problems:
    for file in repository.with_entries:
        seen: dict[tuple[str, str], list[Entry]] = {}
        for i, entry in enumerate(file.record.entries):
            alike = seen.setdefault((entry.text, getattr(entry, "position", "")), [])
            other = next((known for known in alike if _before(entry, known) and _before(known, entry)), None)
            if other is not None:
                yield file.entry_problem(i, ("text",), f"{other.id} has the text {entry.text!r} too.")
            alike.append(entry)


def _before(entry: Entry, other: Entry) -> bool:
    """Whether an entry begins before another one ends."""
    return other.until is None or version_key(entry.since) < version_key(other.until)


@rule(
    asks="Texts differ by more than case, accents, hyphens, spaces or look-alike letters.",
    fix="use the existing entry",
    why="Two spellings of one word would split its sentences between two entries. `waivers.yaml` lists the ones in the "
    "paper's edition.",
    needs=frozenset({"waivers"}),
)
def near_duplicate(repository: Repository) -> Problems:
    seen: dict[tuple[str, str], tuple[EntryFile, Entry]] = {}
    for file, i, entry in repository.entries():
        if isinstance(entry, Template) or odd_character(entry.text) is not None:
            continue
        first, other = seen.setdefault((fold(entry.text), _compared_with(file, entry)), (file, entry))
        elsewhere = isinstance(entry, Prompt) and first is not file  # unique-text compares the entries of one file
        if (other.text != entry.text or elsewhere) and other.until is None and entry.until is None:
            message = f"{entry.text!r} is nearly the same as {other.text!r}, the text of {other.id}."
            yield file.entry_problem(i, ("text",), message)


def _compared_with(file: EntryFile, entry: Entry) -> str:
    """A name for the entries that an entry is compared with: nouns and prompts of all files, others of its file."""
    if isinstance(entry, Noun | Prompt):
        return file.entries
    return f"{file.document.path} {getattr(entry, 'position', '')}"


@rule(
    asks="The text of a new term is on one axis only, apart from case, accents, hyphens and spaces.",
    fix="if both mean the same, remove the new one; if the term belongs to both axes, leave it, since reviewers decide",
    why="A term may belong to two axes, as 'queer' does: it is then two entries, each with its own judgements. "
    "Reviewers of both axes should know.",
    level="warning",
    needs=frozenset({"locks"}),
)
def text_elsewhere(repository: Repository) -> Problems:
    new = repository.new
    held: dict[str, list[tuple[str, str]]] = {}
    current = [(file, i, d) for file, i, d in repository.of(Descriptor) if d.until is None]
    for file, _, descriptor in current:
        held.setdefault(fold(descriptor.text), []).append((descriptor.id, file.record.label))
    for file, i, descriptor in current:
        others = [other for other in held[fold(descriptor.text)] if other[1] != file.record.label]
        if others and descriptor.id in new:
            other, label = others[0]
            message = f"{other} on the axis {label} has the text {descriptor.text!r} too."
            yield file.entry_problem(i, ("text",), message)


# Letters and digits that look like another letter: stroked, dotless, small capitals, one-storey a and g.
_READ_AS = {
    "a": "\u0251\u1d00", "b": "\u0253\u0299", "c": "\u1d04", "d": "\u0111\u0257\u1d05", "e": "\u1d07", "f": "\ua730",
    "g": "\u0261\u0260\u0262", "h": "\u0127\u029c", "j": "\u1d0a", "k": "\u1d0b",
    "l": "i1\u0131\u0269\u026a\u01c0\u0142\u019a\u029f", "m": "\u1d0d", "n": "\u0274", "o": "0\u00f8\u1d0f",
    "p": "\u1d18", "r": "\u0280", "s": "\ua731", "t": "\u0167\u1d1b", "u": "\u1d1c", "v": "\u1d20", "w": "\u1d21",
    "y": "\u028f\u01b4", "z": "\u1d22",
}  # fmt: skip
_LOOK_ALIKES = {ord(c): letter for letter, others in _READ_AS.items() for c in others}


@cache
def fold(text: str) -> str:
    """Fold a text: drop case, accents, punctuation and spaces, and replace look-alike characters by plain letters.

    Two texts are nearly the same if they fold to the same text.
    """
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_LOOK_ALIKES)
    return "".join(c for c in letters if (c.isalnum() and unicodedata.category(c) != "Lm") or c == "+")


@rule(
    asks="A standalone phrase is not a noun, nor a term with a noun.",
    fix="use the existing term with its noun",
    why="Each sentence with the phrase would be in the release twice.",
    needs=frozenset({"waivers"}),
)
def phrase_twice(repository: Repository) -> Problems:
    nouns = [noun.text for _, _, noun in repository.of(Noun)]
    terms = [descriptor for _, _, descriptor in repository.of(Descriptor)]
    for file, i, descriptor in repository.of(Descriptor):
        if descriptor.position == "standalone":
            noun = next((noun for noun in nouns if fold(noun) == fold(descriptor.text)), None)
            other = f"the noun {noun!r}" if noun else made_by(descriptor.text, terms, nouns)
            if other is not None:
                yield file.entry_problem(i, ("text",), f"{descriptor.text!r} is the same phrase as {other}.")


def made_by(phrase: str, terms: Iterable[Descriptor], nouns: Iterable[str]) -> str | None:
    """The term and the noun that make a phrase, as in "person with a stoma", see ``fold``; None if none do."""
    words = phrase.casefold()
    cut = [(n, words.removesuffix(f" {n.casefold()}"), words.removeprefix(f"{n.casefold()} ")) for n in nouns]
    made = {("before", fold(rest)): noun for noun, rest, _ in cut if rest != words}
    made |= {("after", fold(rest)): noun for noun, _, rest in cut if rest != words}
    found = (term for term in terms if (term.position, fold(term.text)) in made) if made else iter(())
    return next((f"{term.id} with the noun {made[term.position, fold(term.text)]!r}" for term in found), None)
