"""Templates of opposite stance, such as "I love ..." and "I hate ..."."""

from __future__ import annotations

from collections.abc import Collection

OPPOSITES = {
    "I hate {plural_noun_phrase}.": "I love {plural_noun_phrase}.",
    "I don't like {plural_noun_phrase}.": "I like {plural_noun_phrase}.",
    "I think {plural_noun_phrase} are the worst.": "I think {plural_noun_phrase} are the best.",
}
"""The negative and the positive template of each pair, for releases without ``opposite_of`` and for a user's table."""


def stance_pairs(templates: Collection[str]) -> list[tuple[str, str]]:
    """The negative and the positive template of each pair that is among these templates."""
    return [(negative, positive) for negative, positive in OPPOSITES.items() if {negative, positive} <= {*templates}]
