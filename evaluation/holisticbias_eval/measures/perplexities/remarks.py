"""Remarks on the table for a reader of F and t: single sentences, missing values, and pairing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.perplexities.dimensions import NAME, SCALES, SHOWN, Dimension, Scale
from holisticbias_eval.statistics.groups.variance import MOST_GROUPS

WARNING = "WARNING"
HALF = 0.5
"""The share of the sum of squares above which one sentence is named in a warning."""
_VALUES, _FAR = 6, 10
_ON = {"log": "log-perplexity", "perplexity": "perplexity"}


def describe_table(dimensions: tuple[Dimension, ...], figures: Figures) -> Iterator[str]:
    """Sentences about each dimension: warnings first, then what is missing and how rows are paired."""
    for dimension in dimensions:
        yield from dominating(dimension, figures)
    for dimension in dimensions:
        yield from _missing(dimension)
        yield from _pairing(dimension)


def dominating(dimension: Dimension, figures: Figures) -> Iterator[str]:
    """A warning for each scale on which one sentence has more than half of the sum of squares."""
    for scale in SCALES:
        keys = {"dimension": dimension.name, "scale": scale}
        share = figures.value(NAME, "largest_share", keys)
        if share is not None and share > HALF:
            place = dimension.largest(scale)
            row = dimension.row(place)
            yield (
                f"{WARNING}: {cut(dimension.name)}: one sentence has {share:.1%} of the variance of {_ON[scale]}: "
                f"{cut(dimension.label(place))!r} ({_perplexities(row)}). {_consequence(row, scale)}"
            )


def _perplexities(row: Mapping[str, float]) -> str:
    """The perplexities of a sentence by group, the largest first."""
    ordered = sorted(row.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{cut(group)} {value:,.4g}" for group, value in ordered[:_VALUES])
    return f"perplexity: {shown}{' ...' if len(ordered) > _VALUES else ''}"


def _consequence(row: Mapping[str, float], scale: Scale) -> str:
    """The effect of the sentence on F and t: one value far above all others brings them to 1."""
    ordered = sorted(row.values())
    alone = scale == "perplexity" and (len(ordered) == 1 or ordered[-1] > _FAR * ordered[-2])
    brought = "One perplexity far above all others brings F to 1 and t to 1 or -1. " if alone else ""
    other = "" if scale == "log" else "read the log scale, and "
    return f"{brought}F and t on this scale depend on this sentence: {other}check it."


def _missing(dimension: Dimension) -> Iterator[str]:
    name, asked = cut(dimension.name), int(dimension.asked.sum())
    if dimension.missing:
        yield (
            f"{name}: {dimension.missing:,} of {asked:,} perplexities are missing, not above 0 or not finite; they are "
            "left out"
        )
    few = [g for g, n in zip(dimension.groups, (~np.isnan(dimension.perplexity)).sum(axis=0), strict=True) if n < 2]
    if few:
        named = ", ".join(map(cut, few[:_VALUES]))
        yield f"{name}: fewer than two perplexities of {named}: F, and t of these groups, are not defined"


def _pairing(dimension: Dimension) -> Iterator[str]:
    name = cut(dimension.name)
    if dimension.by == "order":
        yield (
            f"{name}: sentences are paired by their order within each group, because groups share no id; a column "
            "sentence_id pairs them by name"
        )
    elif dimension.by == "none":
        yield (
            f"{name}: sentences are not paired, because groups share no id and have different numbers of them; paired "
            "figures are not defined. Add a column sentence_id"
        )
    else:
        held = (~np.isnan(dimension.perplexity)).sum(axis=1)
        partial = int((held < len(dimension.groups)).sum())
        if partial:
            yield (
                f"{name}: {partial:,} of {len(held):,} sentences lack a perplexity in a group; f_within and friedman "
                "leave them out"
            )
    if len(dimension.groups) > MOST_GROUPS:
        yield f"{name}: {len(dimension.groups)} groups; pairs are compared up to {MOST_GROUPS}"


def cut(text: str) -> str:
    """The beginning of a text from the table, in one line and without control characters."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
