"""Rules on the phrase that a term and a noun make: nouns as adjectives, words that repeat or contradict each other."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from holisticbias.rules.check import Problems, rule
from holisticbias.rules.language import begins_after_noun
from holisticbias.source.records import Repository
from holisticbias.terminal import first_and_more
from holisticbias.terms.entries import Descriptor, Gender, Noun

_NAMES_A_PERSON = re.compile(r"\w(?:er|or|ist|ee|ie|crat|man|woman|person)$|(?-i:^[a-z]\w*ian$)", re.IGNORECASE)
_HEAD = re.compile(r"([^\s-]+)(?:[ -](?:of|in|on|with|without|from|who)\b.*)?$")
_ALSO_ADJECTIVES = Path(__file__).with_name("also_adjectives.txt")
_BINARY = {"female", "male"}
_SHOWN = 4  # nouns in a message


@rule(
    asks="A term before the noun is an adjective, not a noun.",
    fix="write the adjective, or set position: standalone and give the plural; if dictionaries list the word as an "
    "adjective too, add it to tools/holisticbias/rules/also_adjectives.txt",
    why='"A casual worker mom" and "orphan people" are not English; "I\'m a casual worker" is. A word counts as a noun '
    "if it is in nouns/, if it is the noun of a standalone term, or if it ends like the name of a person: -er, -or, "
    "-ist, -ian, -ee, -ie, -crat, -man, -woman or -person.",
    needs=frozenset({"waivers"}),
)
def noun_before_noun(repository: Repository) -> Problems:
    known = {noun.text for _, noun in _nouns(repository)}
    terms = [d for file in repository.axes for d in file.record.descriptors]
    known |= {_head(d.text) for d in terms if d.position == "standalone" and d.until is None}
    for file, i, descriptor in repository.of(Descriptor):
        word = _head(descriptor.text)
        if descriptor.position != "before" or descriptor.until is not None or begins_after_noun(descriptor.text):
            continue
        if word.casefold() not in _also_adjectives() and (word in known or _NAMES_A_PERSON.search(word)):
            yield file.entry_problem(i, ("text",), f"{word!r} before a noun would be a noun used as an adjective.")


def _head(text: str) -> str:
    """The noun of a phrase, or the last word of other texts: "person" of "person of color"."""
    found = _HEAD.search(text)
    return text if found is None else found[1]


@cache
def _also_adjectives() -> frozenset[str]:
    """Words that name a person and describe one too, folded."""
    lines = _ALSO_ADJECTIVES.read_text("utf-8").splitlines()
    return frozenset(word.casefold() for line in lines if not line.startswith("#") for word in line.split())


@rule(
    asks="A term does not repeat its noun, or the gender of its noun.",
    fix="set noun_gender: neutral, or add the nouns or their genders to not_with",
    why='"A female lady" says one thing twice, and "a female uncle" contradicts itself.',
    needs=frozenset({"nouns", "waivers"}),
)
def noun_repeated(repository: Repository) -> Problems:
    nouns = list(_nouns(repository))
    names = {name for gender, noun in nouns for name in (gender, noun.text)} - {"neutral"}
    for file, i, descriptor in repository.of(Descriptor):
        word = re.split(r"[\s-]", descriptor.text.casefold().replace("non-binary", "nonbinary"))[-1]
        if word not in names or descriptor.until is not None:
            continue
        repeated = [n.text for g, n in nouns if _repeats(word, g, n) and descriptor.goes_with(g, n)]
        if repeated:
            key = "not_with" if descriptor.not_with else "text"
            yield file.entry_problem(
                i, (key,), f"{descriptor.text!r} repeats or contradicts {first_and_more(repeated, _SHOWN)}."
            )


def _repeats(word: str, gender: Gender, noun: Noun) -> bool:
    """Whether the last word of a term is the noun or its gender, or names another gender."""
    return word in (noun.text, gender) or (word in _BINARY and gender != "neutral")


@rule(
    asks="A term leaves out the nouns that intersections.yaml excludes for it.",
    fix="add the nouns to not_with",
    why='"An elderly kid" contradicts itself. An exclusion of a bucket and nouns holds for every new term of the '
    "bucket. The nouns are in each term's `not_with`, since what a term goes with is part of its published entry.",
    needs=frozenset({"nouns", "waivers", "intersections"}),
)
def noun_contradicted(repository: Repository) -> Problems:
    excluded = next((f.record.excluded_nouns() for f in repository.intersections), {})
    nouns = list(_nouns(repository))
    for file, i, descriptor in repository.of(Descriptor):
        names = (descriptor.id, f"{file.record.group}/{descriptor.bucket}")
        against = [noun for name in names for noun in excluded.get(name, ())]
        left = [n.text for g, n in nouns if n.id in against and descriptor.goes_with(g, n)]
        if left and descriptor.until is None:
            key = "not_with" if descriptor.not_with else "text"
            yield file.entry_problem(i, (key,), f"{descriptor.text!r} contradicts {first_and_more(left, _SHOWN)}.")


def _nouns(repository: Repository) -> Iterator[tuple[Gender, Noun]]:
    """The nouns of the newest version, each with its gender."""
    return ((f.record.gender, n) for f in repository.genders for n in f.record.nouns if n.until is None)
