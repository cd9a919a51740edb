"""Proposals for a new entry: its id, grammar and bucket, the entries that are like it, and objections on record."""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

import yaml

from holisticbias.contribute.entry_text import find_place
from holisticbias.errors import SourceError
from holisticbias.rules.dictionary import words
from holisticbias.rules.duplicates import fold, made_by
from holisticbias.rules.language import begins_after_noun
from holisticbias.rules.wording import article_by_sound
from holisticbias.terminal import first_and_more
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.entries import MADE_UP, Article, Descriptor, Entry, Noun, Position
from holisticbias.terms.file_kinds import DescriptorFile, Kind
from holisticbias.terms.grammar import PLACES, article, as_name, is_abbreviation, regular_plural, with_article

POSITIONS: Mapping[Position, str] = {
    "before": "before the noun (a Deaf person)",
    "after": "after the noun (a person with a stoma)",
    "standalone": "on its own (an amputee)",
}
"""Where a term of each position goes, with an example."""
T = TypeVar("T")
_NEAR = 3  # ids like an unknown id
_SIMILAR = 5  # ids of terms like a text
_HEAD_ENDS = re.compile(r"\s(?=(?:of|who|with|in|from|on)\s)")
_IRREGULAR = {"person": "people", "man": "men", "child": "children", "wife": "wives"}
_VERBS = {"is": "are", "has": "have", "was": "were", "does": "do"}


def axes_for_proposals(catalog: Catalog) -> tuple[str, ...]:
    """The axes that describe people: all except the axis of made-up control words."""
    return tuple(axis.axis for axis in catalog.axes if axis.axis != MADE_UP)


def propose_position(text: str) -> Position:
    """Propose a position from the first word: after the noun for a word like "with"."""
    return "after" if begins_after_noun(text) else "before"


def propose_id(group: str, text: str, position: Position = "before", given: Article | None = None) -> str:
    """The id of an entry: its group, a dot, and its text in lower-case ASCII letters, digits and hyphens."""
    phrase = with_article(text, "sound", given) if position == "standalone" else text
    words = re.sub(r"\{[^}]*\}", " ", phrase.replace("+", " plus"))
    return f"{group}.{as_name(words, '-')[:60].strip('-') or 'entry'}"


def propose_article(text: str) -> Article | None:
    """The article by sound, or None if the letters do not show it, as in "unilateral" or in "FEMA".

    "LGBTQ" can only be read as letters, so it takes "an"; "FEMA" can be read as letters or as a word.
    """
    if not is_abbreviation(text):
        return article_by_sound(text)
    sound = article(text, "sound", None)
    letters: Article = "an" if text[0] in "AEFHILMNORSX" else "a"
    a_word = re.match("[A-Z]*[AEIOU]", text[1:]) is not None
    return letters if letters == sound or not a_word else None


def stated(key: str, value: T, text: str, position: object = "standalone") -> T | None:
    """The value of a key as the entry of a term or noun states it; None if it follows from the text.

    These are an article by sound, if the letters leave no doubt, and a plural that is the text, unless that is a phrase
    on its own.
    """
    same_plural = key == "plural" and position != "standalone" and value == text
    return None if same_plural or (key == "article" and value == article_by_sound(text)) else value


def propose_plural(text: str, position: Position) -> str | None:
    """The plural of a standalone phrase or of a term after the noun, or None if it does not change."""
    if position == "before":
        return None
    if position == "standalone":
        return plural_of(text)
    words = text.split(" ")
    if words[0] == "who" and len(words) > 1:
        verb = words[1]
        words[1] = _VERBS.get(verb) or re.sub(r"(?<=[^s])s$", "", verb)
    changed = re.sub(r"\b(with|without|uses?|are|in|have) an? (.+)$", _without_article, " ".join(words))
    return None if changed == text else changed


def _without_article(match: re.Match[str]) -> str:
    return f"{match[1]} {plural_of(match[2])}"


def plural_of(phrase: str) -> str:
    """The plural of a noun phrase, with its head in the plural: "people of color", "wheelchair users"."""
    head, *rest = _HEAD_ENDS.split(phrase, maxsplit=1)
    *before, word = head.split(" ")
    return " ".join([*before, _plural_word(word), *rest])


def _plural_word(word: str) -> str:
    for singular, plural in _IRREGULAR.items():
        if word.lower().endswith(singular) and not word.lower().endswith("human"):
            return word[: len(word) - len(singular)] + plural
    return regular_plural(word)


def similar_terms(catalog: Catalog, text: str) -> tuple[str, ...]:
    """Ids of at most five terms and nouns with a similar text, the most similar first."""
    texts: dict[str, list[str]] = {}
    for entry in (e for file in (*catalog.axes, *catalog.genders) for e in file.entries):
        texts.setdefault(fold(entry.text), []).append(entry.id)
    close = difflib.get_close_matches(fold(text), texts, n=_SIMILAR, cutoff=0.85)
    return tuple(entry_id for key in close for entry_id in texts[key])[:_SIMILAR]


def near_ids(wanted: str, entries: Iterable[Entry]) -> tuple[str, ...]:
    """At most three ids of these entries: they are spelled like the wanted id, or their text is like its end."""
    ids: dict[str, list[str]] = {}
    for entry in entries:
        ids.setdefault(fold(entry.text), []).append(entry.id)
        ids[entry.id] = [entry.id]
    close = difflib.get_close_matches(wanted.lower(), [name for name in ids if "." in name], n=_NEAR, cutoff=0.85)
    close += difflib.get_close_matches(fold(wanted.rpartition(".")[2]), ids, n=_NEAR, cutoff=0.75)
    return tuple(dict.fromkeys(entry_id for name in close for entry_id in ids[name]))[:_NEAR]


def unknown_id(wanted: str, entries: Iterable[Entry], what: str = "entry") -> str:
    """Say that none of these entries has an id, and name the nearest ids."""
    hint = did_you_mean(wanted, entries) or "; holisticbias show TEXT prints the id of a term"
    return f"no {what} has the id {wanted!r}{hint}"


def did_you_mean(wanted: str, entries: Iterable[Entry]) -> str:
    """The nearest ids as the end of a message; empty if there are none."""
    near = near_ids(wanted, entries)
    return f"; did you mean {' or '.join(near)}?" if near else ""


@dataclass(frozen=True, slots=True)
class Existing:
    """An entry of the data: its group is an axis, a gender or a family; ``place`` is its file and line."""

    entry: Entry
    kind: Kind
    group: str
    place: str

    def __str__(self) -> str:
        position = getattr(self.entry, "position", None)
        form = f", {PLACES[position]}" if position else ", a noun" if isinstance(self.entry, Noun) else ""
        bucket = f", bucket {self.entry.bucket}" if isinstance(self.entry, Descriptor) and self.entry.bucket else ""
        retired = f", until version {self.entry.until}" if self.entry.until else ""
        return f"{self.entry.id} at {self.place}: {self.entry.text!r}{form}{bucket}{retired}"


def same_entries(root: Path, catalog: Catalog, text: str) -> tuple[Existing, ...]:
    """The terms, nouns and templates with this text, apart from case, accents, hyphens and spaces."""
    wanted = fold(text)
    files = (*catalog.axes, *catalog.genders, *catalog.families)
    found = [(entry, file) for file in files for entry in file.entries if fold(entry.text) == wanted]
    return tuple(Existing(e, f.kind, f.group, find_place(root, f.kind, e.id)) for e, f in found)


def same_phrase(catalog: Catalog, text: str) -> str | None:
    """The term and the noun that make this phrase; see ``made_by``."""
    return made_by(text, catalog.descriptors, [noun.text for gender in catalog.genders for noun in gender.nouns])


def instead(found: Existing) -> tuple[str, ...]:
    """Ways to change an entry that is in the data already, as lines."""
    lines = (
        f"read it:    holisticbias show {found.entry.id}",
        f"judge it:   holisticbias assess {found.entry.id}",
        f"reword it:  holisticbias reword {found.entry.id}",
        "move it:    open an issue with the form 'Dispute a placement'",
    )
    return lines if isinstance(found.entry, Descriptor) else lines[::2]


# As in CONTRIBUTING.md
CRITERIA = (
    "People use it for themselves, or others use it often enough that it matters how models treat it.",
    "It has a source: a style guide, a publication, or the contributor's own experience.",
    "It is not a slur used only to hurt. Terms that some people reject and others claim are accepted, with judgements.",
    "Two reviewers agree, one of them with lived experience of what it names.",
)


def objections(catalog: Catalog, text: str) -> tuple[str, ...]:
    """The objections on record to the words of a text, as sentences without a full stop; empty for most texts.

    On record are terms of the data that people judged as dispreferred, and the words in ``slurs.yaml``.
    """
    wanted = _words(text)
    lists = yaml.safe_load(files(__package__).joinpath("slurs.yaml").read_text("utf-8"))
    slurs = ((group["source"], word) for group in lists for word in group["words"])
    named = [f"{w!r} is a word to avoid according to {source}" for source, w in slurs if _inside(_words(w), wanted)]
    for entry in catalog.descriptors:
        judged = [a for a in entry.assessments if a.judgement == "dispreferred"]
        if judged and _inside(_words(entry.text), wanted):
            whose = ", ".join(f"{a.whose}, {a.date}" for a in judged)
            named.append(f"{entry.text!r} is on record as dispreferred: {whose} ({entry.id})")
    return tuple(named)


def _inside(part: list[str], whole: list[str]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1)) and bool(part)


def _words(text: str) -> list[str]:
    """The words in small letters, without the endings of plurals."""
    lower = (word.lower() for word in words(text))
    return [word[:-1] if word.endswith("s") and not word.endswith("ss") else word for word in lower]


AFTER_THE_NOUN = "after_the_noun"  # the bucket that an axis has for all terms after the noun
_LIKELY = 4  # buckets of terms like a text
_LIKE = 0.4  # least likeness of a text and a bucket: a word in at most two buckets, or nearly all letters
_MOST_LISTED = 20


def only_bucket(axis: DescriptorFile, position: Position) -> str | None:
    """The bucket of a term if no other is possible, else None."""
    if position == "after" and AFTER_THE_NOUN in axis.buckets:
        return AFTER_THE_NOUN
    return axis.buckets[0] if len(axis.buckets) == 1 else None


def possible_buckets(axis: DescriptorFile, position: Position) -> tuple[str, ...]:
    """The buckets for terms of a position: the bucket for terms after the noun has no others."""
    return tuple(bucket for bucket in axis.buckets if position == "after" or bucket != AFTER_THE_NOUN)


def likely_buckets(axis: DescriptorFile, text: str, position: Position) -> tuple[str, ...]:
    """At most four buckets of the terms that are most like a text, the most similar first; empty if none is alike.

    A word that a text shares with the terms or the name of a bucket counts for more, the fewer buckets have it.
    """
    texts = {bucket: [bucket.replace("_", " ")] for bucket in possible_buckets(axis, position)}
    for term in axis.descriptors:
        if term.bucket in texts:
            texts[term.bucket].append(term.text)
    words_of = {bucket: set().union(*map(_long_words, others)) for bucket, others in texts.items()}
    having = Counter(word for words in words_of.values() for word in words)
    likeness = {
        bucket: sum(1 / having[word] for word in words_of[bucket] & _long_words(text))
        + max(difflib.SequenceMatcher(None, fold(text), fold(other)).ratio() for other in others) / 2
        for bucket, others in texts.items()
    }
    ranked = sorted(likeness, key=lambda bucket: -likeness[bucket])
    return tuple(bucket for bucket in ranked[:_LIKELY] if likeness[bucket] >= _LIKE)


def _long_words(text: str) -> set[str]:
    return {fold(word) for word in re.findall(r"[^\W\d_]{4,}", text)} - {"with", "without", "person", "people"}


def find_bucket(axis: str, buckets: Sequence[str], name: str) -> str:
    """The bucket with a name, or the only one whose name contains it; raises ``SourceError``."""
    wanted = fold(name)
    exact = [bucket for bucket in buckets if fold(bucket) == wanted]
    found = exact or [bucket for bucket in buckets if wanted and wanted in fold(bucket)]
    if len(found) == 1:
        return found[0]
    if found:
        raise SourceError(f"several buckets have {name!r} in their name: {first_and_more(found, _MOST_LISTED)}")
    close = difflib.get_close_matches(wanted, [fold(bucket) for bucket in buckets], n=3, cutoff=0.6)
    near = [bucket for bucket in buckets if fold(bucket) in close]
    if near:
        raise SourceError(f"the axis {axis} has no bucket {name!r}; near it: {', '.join(near)}")
    known = f"; there are: {', '.join(buckets)}" if len(buckets) <= _MOST_LISTED else ""
    raise SourceError(
        f"the axis {axis} has no bucket {name!r}; a new one is first added to descriptors/{axis}.yaml{known}"
    )
