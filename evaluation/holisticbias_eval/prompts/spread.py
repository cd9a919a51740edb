"""Spread a limited number of sentences over axes, descriptors and templates, and of rows over groups."""

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from holisticbias_eval.models.store.keys import counted

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
class KeptCells:
    """The descriptors and the templates to keep, and the number of draws in each cell of both."""

    descriptors: frozenset[str]
    templates: frozenset[str]
    draws: int


def spread(
    limit: int,
    axes: Mapping[str, Sequence[str]],
    templates: Sequence[str],
    draws: int,
    least: Least,
    *,
    draws_first: bool = False,
) -> KeptCells:
    """Choose descriptors, templates and draws whose product is at most ``limit``.

    ``axes`` has the descriptors of each axis, and ``templates`` are in the order in which they are taken. Two
    descriptors of each axis come first, with the least draws in the least templates; a smaller limit keeps fewer axes.
    What is left adds templates, then draws, or with ``draws_first`` the reverse, and at last descriptors, an axis at a
    time. A limit below ``least.size`` cuts the templates, the draws and the descriptors too.
    """
    comparable = [list(found) for found in axes.values() if len(found) >= DESCRIPTORS]
    groups = comparable or [[name for found in axes.values() for name in found]]
    first = min(DESCRIPTORS, len(groups[0]))
    fewest = max(1, min(least.draws, draws, limit // first))
    wanted = max(1, min(least.templates, len(templates), limit // (first * fewest)))
    groups = groups[: max(1, limit // (first * wanted * fewest))]
    each = min(first * len(groups), limit)
    room = limit // each
    if draws_first:
        several = min(draws, max(fewest, room // wanted))
        kept = min(len(templates), max(wanted, room // several)) if several == draws else wanted
    else:
        kept = min(len(templates), max(wanted, room // fewest))
        several = min(draws, max(fewest, room // kept)) if kept == len(templates) else fewest
    if (kept, several) == (len(templates), draws):
        each = max(each, limit // (kept * several))
    chosen = [name for _, name in zip(range(each), _in_turn(groups), strict=False)]
    return KeptCells(frozenset(chosen), frozenset(templates[:kept]), several)


def _in_turn(groups: Sequence[Sequence[str]]) -> Iterator[str]:
    """One name of each group, then a second name of each, and so on."""
    for place in range(max(map(len, groups), default=0)):
        yield from (group[place] for group in groups if place < len(group))


def random_order(names: Iterable[str], seed: int) -> list[str]:
    """Distinct names in an order that depends on the seed and each name alone."""
    return sorted(set(names), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


def by_axis(axis_of: Mapping[str, str], seed: int) -> dict[str, list[str]]:
    """The descriptors of each axis, axes and descriptors in an order that the seed draws."""
    axes: dict[str, list[str]] = {axis: [] for axis in random_order(axis_of.values(), seed)}
    for descriptor in random_order(axis_of, seed):
        axes[axis_of[descriptor]].append(descriptor)
    return axes


def spread_rows(groups: Iterable[Hashable], names: Sequence[str], limit: int, seed: int = 0) -> list[int]:
    """The rows of ``limit`` names: one of each group in an order that the seed draws, then a second one, and so on."""
    drawn = sorted(enumerate(groups), key=lambda row: hashlib.sha256(f"{seed} {names[row[0]]}".encode()).digest())
    ranks = counted(group for _, group in drawn)
    ranked = sorted(zip(ranks, range(len(drawn)), strict=True))
    return sorted(drawn[place][0] for _, place in ranked[:limit])
