"""Skip documents that cannot mention any of many terms, before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import target_words

_COMMON = frozenset({"american", "child", "children", "men", "man", "people", "person", "persons", "women", "woman"})
_SHORTEST = 4  # letters that two terms share
_ESCAPE = re.compile(rb"\\u(?:00[4-7]|013[01]|017f|212a)")
"""Letters that JSON writes as escapes: ASCII letters, and letters that equal i, s or k in any case."""
_LETTERS = tuple(letter.encode() for letter in "\u0130\u0131\u017f\u212a")
_DELETED = (b"[deleted]", b"[removed]")


class TermFilter:
    """Says of a document's bytes, UTF-8 or JSON, whether it may mention a term; it never says no for a mention.

    It looks for letters that the terms have, in any case, which is faster than parsing the document. Deleted texts
    count as mentions, so that they are counted.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        runs = [_run(term) for term in terms]
        self._needles = None if None in runs else _needles({run for run in runs if run is not None})

    def __call__(self, document: bytes) -> bool:
        """Whether the document may mention a term."""
        if self._needles is None:
            return True
        lower = document.lower()
        for needle in self._needles:
            if needle in lower:
                return True
        if b"ed]" in lower and any(one in lower for one in _DELETED):
            return True
        if b"\\u" in lower and _ESCAPE.search(lower):
            return True
        return not lower.isascii() and any(letter in lower for letter in _LETTERS)


def target_filter(specification: Specification) -> TermFilter:
    """The filter for the terms and word forms of all groups."""
    return TermFilter(one.term for one in target_words(specification))


def _run(term: str) -> str | None:
    """The longest run of ASCII letters and digits, which all mentions of a term have; a rare word if it has one."""
    runs = re.findall(r"[a-z0-9]+", term.casefold())
    return min(runs, key=lambda run: (run in _COMMON, -len(run), run), default=None)


def _needles(runs: set[str]) -> tuple[bytes, ...]:
    """Few texts such that each run contains one: parts that several share, or whole runs."""
    chosen: list[bytes] = []
    while runs:
        parts = {part for run in runs for part in _parts(run)}
        shared = {part: sum(part in run for run in runs) for part in parts}
        best = min(parts, key=lambda part: (-shared[part], -len(part), part))
        runs = {run for run in runs if best not in run}
        chosen.append(best.encode())
    return tuple(chosen)


def _parts(run: str) -> set[str]:
    longest = range(len(run) - _SHORTEST + 1)
    return {run} | {run[start:stop] for start in longest for stop in range(start + _SHORTEST, len(run) + 1)}
