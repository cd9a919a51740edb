"""Find the words around mentions of a group that also mention an attribute."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.corpus.mentions import AttributeTerm, Mention, TargetTerm, attribute_finder, target_finder

Refusal = Literal["no attribute", "several groups"]


@dataclass(frozen=True, slots=True)
class Window:
    """Words around a mention of a group, and the attribute nearest to it."""

    group: str
    target: str
    attribute: str
    attribute_set: str
    text: str


class WindowFinder:
    """Finds windows of ``words`` words to either side of the mentions of a specification's groups.

    A window has the words of a mention and up to ``words`` words to either side; a word is what stands between blanks.
    It needs an attribute that is not part of a group's term, and no mention of another group. A mention in an earlier
    window has none. Source: Zhao et al. 2024, section 2.
    """

    def __init__(self, specification: Specification, words: int) -> None:
        self._words = words
        self._targets = target_finder(specification)
        self._attributes = attribute_finder(specification)

    def find(self, text: str) -> Iterator[Window | Refusal]:
        """Yield for each mention in a cleaned text its window, or why it has none."""
        done = 0
        for mention in self._targets.find(text):
            if mention.start < done:
                continue
            start, stop = _around(text, mention, self._words)
            window = self._window(text[start:stop], mention.start - start)
            if isinstance(window, Window):
                done = stop
            yield window

    def _window(self, text: str, place: int) -> Window | Refusal:
        targets = list(self._targets.find(text))
        if len({one.of.group for one in targets}) > 1:
            return "several groups"
        target = min(targets, key=lambda one: abs(one.start - place))
        attributes = [
            one
            for one in self._attributes.find(text)
            if not any(one.start < other.stop and other.start < one.stop for other in targets)
        ]
        if not attributes:
            return "no attribute"
        nearest = min(attributes, key=lambda one: _distance(one, target))
        return Window(target.of.group, target.of.term, nearest.of.term, nearest.of.attribute_set, text)


def _around(text: str, mention: Mention[TargetTerm], words: int) -> tuple[int, int]:
    """The characters from the first to the last word."""
    start = text.rfind(" ", 0, mention.start) + 1
    stop = text.find(" ", mention.stop)
    for _ in range(words):
        start = text.rfind(" ", 0, start - 1) + 1 if start > 1 else 0
        stop = text.find(" ", stop + 1) if stop >= 0 else stop
    return start, stop if stop >= 0 else len(text)


def _distance(attribute: Mention[AttributeTerm], target: Mention[TargetTerm]) -> int:
    """Characters between two mentions."""
    return max(attribute.start - target.stop, target.start - attribute.stop)
