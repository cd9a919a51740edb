"""Skip documents that cannot mention any of many terms, before they are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holisticbias.terms.specification_entries import Specification

_ALWAYS = (
    b"[deleted]", b"[removed]",  # counted
    *(rf"\u00{digit}".encode() for digit in "4567"),  # letters as JSON may write them
    rb"\u0130", rb"\u0131", rb"\u017f", rb"\u212a",  # letters that equal i, s and k in any case
    *(letter.encode() for letter in "\u0130\u0131\u017f\u212a"),
)  # fmt: skip


class TermFilter:
    """Says of a document's bytes, UTF-8 or JSON, whether it may mention a term; it never says no for a mention.

    It looks for runs of letters of the terms, in any case, which is faster than parsing the document.
    """

    def __init__(self, terms: Iterable[str]) -> None:
        runs = [_runs(term) for term in terms]
        self._needles: tuple[bytes, ...] | None = None
        if all(runs):
            self._needles = (*_needles(runs), *_ALWAYS)

    def __call__(self, document: bytes) -> bool:
        """Whether the document may mention a term."""
        if self._needles is None:
            return True
        lower = document.lower()
        return any(needle in lower for needle in self._needles)


def target_filter(specification: Specification) -> TermFilter:
    """The filter for the terms of all groups."""
    return TermFilter(term for slot in specification.slots for term in slot.terms if term is not None)


def _runs(term: str) -> list[str]:
    """The runs of ASCII letters and digits of a term, which its mentions all have."""
    return sorted(re.findall(r"[a-z0-9]+", term.casefold()), key=lambda run: (-len(run), run))


def _needles(runs: list[list[str]]) -> list[bytes]:
    """Few runs such that each term has at least one of them."""
    chosen: list[str] = []
    for one in sorted(runs, key=lambda one: (len(one), len(one[0]), one)):
        if not any(needle in run for needle in chosen for run in one):
            chosen.append(one[0])
    return [needle.encode() for needle in chosen]
