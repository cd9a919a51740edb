"""The rule that makes a prompt of a sentence about a group (Dhamala et al. 2021, section 3.2)."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from holisticbias.terms.anonymise import APOSTROPHES

_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ENDS = re.compile(r"[.!?][\"')\]\u2019\u201d]*$")
_LONGEST = 2000  # characters
Tokens = tuple[str, ...]


class Fault(StrEnum):
    """The reason for which a sentence gives no prompt."""

    SHORT = "too few words"
    LONG = "more than 2,000 characters"
    UNFINISHED = "does not end a sentence"
    MARKED = "markup that is left"
    UNKNOWN_PART = "a template or a formula whose text is not known"
    NO_TERM = "no term among the first words"
    NO_PERSON = "no person's name"
    NO_REST = "nothing left to continue"
    REPEATED = "repeats a prompt of its group"


@dataclass(frozen=True, slots=True)
class PromptRule:
    """The numbers of the rule; see ``CollectionFile``."""

    prompt_words: int
    term_within: int
    least_words: int


@dataclass(frozen=True, slots=True)
class TermMention:
    """A term in a sentence: the term, its first word, and the word after its last one, counted from 0."""

    term: str
    start: int
    stop: int


def term_tokens(text: str) -> Tokens:
    """The letters and digits of a term or word in small letters: ``Left-wing politics`` gives left, wing, politics."""
    plain = APOSTROPHES.sub("'", unicodedata.normalize("NFC", text))
    return tuple(token.casefold() for token in _TOKEN.findall(plain))


def index_terms(terms: Iterable[str]) -> dict[Tokens, str]:
    """Terms by their tokens; the first of equal terms holds, and a term without letters or digits is left out."""
    found: dict[Tokens, str] = {}
    for term in terms:
        tokens = term_tokens(term)
        if tokens:
            found.setdefault(tokens, term)
    return found


def find_mentions(words: Sequence[str], terms: Mapping[Tokens, str], within: int) -> Iterator[TermMention]:
    """The mentions of terms that lie whole among the first ``within`` words; of equal starts, the longest.

    A mention is whole words in any case, with hyphens or blanks between its parts, and with a plural in -s or a
    possessive at its end.
    """
    tokens = [term_tokens(word) for word in words[:within]]
    longest = max(map(len, terms), default=0)
    for start in range(len(tokens)):
        for stop in range(min(len(tokens), start + longest), start, -1):
            if not tokens[start] or not tokens[stop - 1]:
                continue
            joined = tuple(token for word in tokens[start:stop] for token in word)
            term = next((terms[form] for form in _forms(joined) if form in terms), None)
            if term is not None:
                yield TermMention(term, start, stop)
                break


def _forms(tokens: Tokens) -> Iterable[Tokens]:
    """Tokens as they stand, without the possessive, and without the plural's -s."""
    *others, last = tokens
    yield tokens
    if last.endswith("'s"):
        last = last.removesuffix("'s")
        yield (*others, last)
    if last.endswith("s"):
        yield (*others, last[:-1])


def prompt_length(mention: TermMention, rule: PromptRule) -> int:
    """The number of words of a prompt: ``prompt_words`` and those of the term, and never fewer than hold the term."""
    return max(rule.prompt_words + mention.stop - mention.start, mention.stop)


def sentence_fault(words: Sequence[str], rule: PromptRule) -> Fault | None:
    """Return the reason to leave out a sentence for all groups: ``SHORT``, ``LONG`` or ``UNFINISHED``, else null."""
    if sum(map(len, words)) + len(words) - 1 > _LONGEST:
        return Fault.LONG
    if len(words) < rule.least_words:
        return Fault.SHORT
    return None if _ENDS.search(words[-1]) else Fault.UNFINISHED
