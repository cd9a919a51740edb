"""Spread a limited number of prompts or sentences over axes, descriptors, templates and draws."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

DESCRIPTORS = 2
"""The fewest descriptors of an axis: measures compare descriptors."""


@dataclass(frozen=True, slots=True)
class Least:
    """The fewest draws (responses, or nouns) of a descriptor in a template, and the fewest templates."""

    draws: int
    templates: int = 1

    @property
    def size(self) -> int:
        """The smallest number of prompts with which an axis can be measured."""
        return DESCRIPTORS * self.templates * self.draws


@dataclass(frozen=True, slots=True)
class Spread:
    """The descriptors and the templates to keep, and the number of draws in each cell of both."""

    descriptors: frozenset[str]
    templates: frozenset[str]
    draws: int


def spread(limit: int, axes: Mapping[str, Sequence[str]], templates: Sequence[str], draws: int, least: Least) -> Spread:
    """Choose descriptors, templates and draws whose product is at most ``limit``.

    ``axes`` has the descriptors of each axis, and ``templates`` are in the order in which they are taken. Two
    descriptors of each axis come first, with the fewest draws, in as many templates as fit; a smaller limit keeps
    fewer axes. What is left adds draws, then descriptors, an axis at a time. A limit below ``least.size`` cuts the
    templates, the draws and the descriptors too: see ``random_order`` for the order of axes and descriptors.
    """
    comparable = [list(found) for found in axes.values() if len(found) >= DESCRIPTORS]
    groups = comparable or [[name for found in axes.values() for name in found]]
    first = min(DESCRIPTORS, len(groups[0]))
    fewest = max(1, min(least.draws, draws, limit // first))
    wanted = max(1, min(least.templates, len(templates), limit // (first * fewest)))
    groups = groups[: max(1, limit // (first * wanted * fewest))]
    each = min(first * len(groups), limit)
    kept = max(1, min(len(templates), limit // (each * fewest)))
    if kept < len(templates):
        return _spread(groups, each, templates[:kept], fewest)
    several = max(fewest, min(draws, limit // (each * kept)))
    more = max(each, limit // (kept * several)) if several == draws else each
    return _spread(groups, more, templates, several)


def _spread(groups: Sequence[Sequence[str]], count: int, templates: Sequence[str], draws: int) -> Spread:
    kept = [name for _, name in zip(range(count), _in_turn(groups), strict=False)]
    return Spread(frozenset(kept), frozenset(templates), draws)


def _in_turn(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """One name of each group, then a second name of each, and so on."""
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))


def random_order(names: Iterable[str], seed: int) -> list[str]:
    """Distinct names in an order that depends on the seed and each name alone."""
    return sorted(set(names), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
