"""Find terms in a text, as whole words."""

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from holisticbias.terms.specification_entries import APOSTROPHES, BETWEEN, HYPHENS, as_found, is_stem

_START = rf"(?<!\w)(?<!\w[{HYPHENS}])(?<!\w{APOSTROPHES})"
_END = rf"(?!\w|[{HYPHENS}]\w|{APOSTROPHES}t\b)"
_START_IN_COMPOUND, _END_IN_COMPOUND = r"(?<![^\W_])", r"(?:s|es)?(?![^\W_])"
T = TypeVar("T", bound=Hashable)


@lru_cache(maxsize=20_000)
def term_pattern(term: str) -> re.Pattern[str]:
    """Matches a term as whole words, in any case, with a hyphen or a blank between its parts.

    A possessive or contracted ``'s`` may follow it. A plural does not match, nor does a part of a hyphenated word.
    """
    return re.compile(f"{_START}{term_body(term)}{_END}", re.IGNORECASE)


def term_body(term: str) -> str:
    """A pattern of a term's letters, with a hyphen or blanks between its parts; a term without any matches nothing."""
    parts = [re.sub(APOSTROPHES, APOSTROPHES, re.escape(part)) for part in re.split(BETWEEN, term.strip()) if part]
    return BETWEEN.join(parts) or "(?!)"


def has_term(text: str, term: str) -> bool:
    """Whether a text contains a term as whole words; see ``term_pattern``."""
    return term_pattern(term).search(text) is not None


@dataclass(frozen=True, slots=True)
class Mention(Generic[T]):
    """A mention in a text: its characters from ``start`` to ``stop``, and the term that they are."""

    start: int
    stop: int
    of: T

    def overlaps(self, other: "Mention[Any]") -> bool:
        """Whether two mentions share a character."""
        return self.start < other.stop and other.start < self.stop


class TermFinder(Generic[T]):
    """Finds terms as whole words, in any case, with a hyphen or blanks between their parts.

    The longest of overlapping terms is found, and of equal terms the first. A possessive ``'s`` may follow. A term that
    ends in ``*`` matches every word that begins so. With ``in_compounds`` a term is also found as a part of a compound
    with hyphens, and with a plural ending.
    """

    def __init__(self, terms: Iterable[tuple[str, T]], *, in_compounds: bool = False) -> None:
        first: dict[tuple[str, bool], tuple[str, T]] = {}
        for term, of in terms:
            written = term.removesuffix("*")
            first.setdefault((as_found(written), is_stem(term)), (written, of))
        ordered = sorted(first.items(), key=lambda one: (-len(one[0][0]), one[0]))
        start, end = (_START_IN_COMPOUND, _END_IN_COMPOUND) if in_compounds else (_START, _END)
        bodies = [term_body(written) + (r"\w*" if stem else end) for (_, stem), (written, _) in ordered]
        self._of = [of for _, (_, of) in ordered]
        self._mention = re.compile(f"{start}(?:{'|'.join(bodies) or '(?!)'})", re.IGNORECASE)
        # slower, and says which term a mention is: only a pattern knows which letters it takes for equal
        self._term = re.compile("|".join(f"({body})" for body in bodies), re.IGNORECASE)

    def find(self, text: str) -> Iterator[Mention[T]]:
        """Yield the mentions in a text, in order; they do not overlap."""
        for match in self._mention.finditer(text):
            term: Any = self._term.fullmatch(match.group())  # never None: a mention is one of the terms
            yield Mention(match.start(), match.end(), self._of[term.lastindex - 1])
