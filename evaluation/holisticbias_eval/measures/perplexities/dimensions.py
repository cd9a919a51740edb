"""The dimensions of a table of sentences about groups, and remarks on them for a reader of F and t."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figures
from holisticbias_eval.statistics.cells import encode, floats, occurrences
from holisticbias_eval.statistics.groups.variance import MOST_GROUPS, GroupValues, variance_shares
from holisticbias_eval.stereotypes.specifications import found_specifications, short_titles
from holisticbias_eval.units import shorten, show

NAME = "group_perplexity"
Scale = Literal["log", "perplexity"]
SCALES: tuple[Scale, ...] = ("log", "perplexity")
"""The scales of the values, the default first."""
IDS = ("sentence_id", "item")
"""Columns that may name the sentence that rows of several groups have in common."""
WITH_HELD_OUT = " with held-out groups"
"""What the name of a dimension ends in if it has, besides the groups of a mitigation, others it was not trained on."""
SHOWN = 80
"""Letters of a name from the table in a message."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """The perplexities of one dimension: shape ``[sentences, groups]``, NaN if missing.

    ``asked`` says which of them have a row in the table, ``names`` are the sentences. ``by`` is the column that pairs
    rows of several groups: ``order`` if it is their order within a group, and ``none`` if nothing pairs them. The
    values of each group then stand from the top, and ``names`` has a name for each value: ``[sentences, groups]``.
    """

    name: str
    groups: tuple[str, ...]
    perplexity: Floats
    asked: Bools
    names: tuple[tuple[str | None, ...], ...]
    by: str

    @property
    def title(self) -> str:
        """The dimension in words."""
        return said_dimension(self.name)

    @property
    def paired(self) -> bool:
        """Whether a row is one sentence in all groups."""
        return self.by != "none"

    @property
    def missing(self) -> int:
        """The number of rows without a perplexity above 0."""
        return int((self.asked & np.isnan(self.perplexity)).sum())

    def values(self, scale: Scale) -> GroupValues:
        """The values on a scale: natural logarithms, or perplexities as they are."""
        return GroupValues(np.log(self.perplexity) if scale == "log" else self.perplexity, self.paired)

    def label(self, sentence: int) -> str:
        """The text of a sentence in the first group that has it; ``sentence`` is a place as in ``largest``."""
        row, group = self._place(sentence)
        return next(name for name in self.names[row][group:] if name is not None)

    def row(self, sentence: int) -> dict[str, float]:
        """The perplexities of a sentence by group; ``sentence`` is a place as in ``largest``."""
        row, group = self._place(sentence)
        places = range(len(self.groups)) if self.paired else (group,)
        return {self.groups[g]: float(self.perplexity[row, g]) for g in places if not np.isnan(self.perplexity[row, g])}

    def largest(self, scale: Scale) -> int:
        """The place of the sentence with the largest share of the variance.

        It is the row, or without pairing ``row * groups + column``.
        """
        return int(np.nanargmax(variance_shares(self.values(scale))))

    def _place(self, sentence: int) -> tuple[int, int]:
        return (sentence, 0) if self.paired else divmod(sentence, len(self.groups))


def read_dimensions(answers: pa.Table) -> tuple[Dimension, ...]:
    """Read ``dimension``, ``group``, ``sentence`` and ``perplexity``, in the order of first occurrence.

    Rows of several groups are paired by ``sentence_id`` or ``item`` if the groups share them, else by ``sentence``,
    else by their order within a group if all groups have as many. Perplexities that are missing, not above 0 or not
    finite are missing. Raises ``SelectionError`` for a dimension with one group, or a sentence that a group has twice.
    """
    found = []
    for name, rows in by_dimension(answers):
        groups, group = encode(rows["group"])
        if len(groups) < 2:
            raise SelectionError(
                f"dimension {name[:SHOWN]!r} has one group, {groups[0][:SHOWN]!r}: a comparison needs at least two"
            )
        key, by = _keys(rows, group, len(groups))
        if by in ("order", "none"):
            _refuse_repeated(rows, group, name)
        found.append(_dimension(name, groups, rows, group, key, by))
    return tuple(found)


def by_dimension(answers: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The rows of each dimension, in the order of first occurrence."""
    for name in pc.unique(answers["dimension"]).to_pylist():
        yield str(name), answers.filter(pc.equal(answers["dimension"], name))


def _dimension(name: str, groups: Sequence[str], rows: pa.Table, group: Ints, key: Ints, by: str) -> Dimension:
    shape = (int(key.max()) + 1, len(groups))
    perplexity = np.full(shape, np.nan)
    perplexity[key, group] = _known(rows["perplexity"])
    asked = np.zeros(shape, bool)
    asked[key, group] = True
    texts = np.full(shape, None)
    texts[key, group] = rows["sentence"].to_pylist()
    return Dimension(name, tuple(groups), perplexity, asked, tuple(map(tuple, texts.tolist())), by)


def _known(column: pa.ChunkedArray) -> Floats:
    values = floats(column)
    known: Floats = np.where(np.isfinite(values) & (values > 0), values, np.nan)
    return known


def _keys(rows: pa.Table, group: Ints, groups: int) -> tuple[Ints, str]:
    """The sentence of each row as a number, and the column that gives it."""
    for name in (*IDS, "sentence"):
        if name not in rows.column_names or rows[name].null_count:
            continue
        keys, key = encode(rows[name])
        if _shared(key, len(keys), group, groups):
            return key, name
    counts = np.bincount(group, minlength=groups)
    return occurrences(group).astype(np.int64), "order" if (counts == counts[0]).all() else "none"


def _shared(key: Ints, keys: int, group: Ints, groups: int) -> bool:
    """Whether at least half of the keys occur in two groups or more, and none twice in a group."""
    cells = np.unique(key * groups + group)
    return len(cells) == len(key) and (np.bincount(cells // groups, minlength=keys) > 1).mean() >= 0.5


def _refuse_repeated(rows: pa.Table, group: Ints, dimension: str) -> None:
    """Refuse a sentence that a group has twice: one of its perplexities is wrong, or the rows were added twice."""
    sentences, key = encode(rows["sentence"])
    cells, counts = np.unique(group * len(sentences) + key, return_counts=True)
    if not (counts > 1).any():
        return
    first = int(cells[int((counts > 1).argmax())])
    named = rows["group"].to_pylist()[int((group == first // len(sentences)).argmax())]
    raise SelectionError(
        f"dimension {dimension[:SHOWN]!r} has sentence {sentences[first % len(sentences)][:SHOWN]!r} "
        f"{counts.max()} times in group {named[:SHOWN]!r}: keep one row for each, or name them in a column sentence_id"
    )


WARNING = "WARNING"
HALF = 0.5
"""The share of the sum of squares above which one sentence is named in a warning."""
_VALUES, _FAR = 6, 10
SCALE_NAMES: Mapping[str, str] = {"log": "log-perplexity", "perplexity": "perplexity"}


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
                f"{WARNING}: {dimension.title}: one sentence has {show(share, 'share')} of the variance of "
                f"{SCALE_NAMES[scale]}: {cut(dimension.label(place))!r} ({_perplexities(row)}). "
                f"{_consequence(row, scale)}"
            )


def _perplexities(row: Mapping[str, float]) -> str:
    """The perplexities of a sentence by group, the largest first."""
    ordered = sorted(row.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{cut(group)} {show(value, 'perplexity')}" for group, value in ordered[:_VALUES])
    return f"perplexity: {shown}{' ...' if len(ordered) > _VALUES else ''}"


def _consequence(row: Mapping[str, float], scale: Scale) -> str:
    """The effect of the sentence on F and t: one value far above all others brings them to 1."""
    ordered = sorted(row.values())
    alone = scale == "perplexity" and (len(ordered) == 1 or ordered[-1] > _FAR * ordered[-2])
    brought = "One perplexity far above all others brings F to 1 and t to 1 or -1. " if alone else ""
    other = "" if scale == "log" else "read the log scale, and "
    return f"{brought}F and t on this scale depend on this sentence: {other}check it."


def _missing(dimension: Dimension) -> Iterator[str]:
    name, asked = dimension.title, int(dimension.asked.sum())
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
    name = dimension.title
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


@cache
def _known_titles() -> Mapping[str, str]:
    return short_titles({name: found.text for name, found in found_specifications().items()})


def of_groups(name: str, groups: str) -> str:
    """The name of those groups of a dimension that two runs share."""
    return f"{name} ({groups})"


def is_of_dimension(name: str, dimension: str) -> bool:
    """Whether a name is that of a dimension, or of those groups of it that two runs share; see ``of_groups``."""
    return name == dimension or (name.startswith(of_groups(dimension, "")[:-1]) and name.endswith(")"))


def said_dimension(name: str, titles: Mapping[str, str] | None = None) -> str:
    """A dimension in words: the title of the specification whose id it is, followed by the rest of the name.

    ``titles`` are by default those of the known specifications.
    """
    whole = name.partition(" (")[0].removesuffix(WITH_HELD_OUT)
    known = _known_titles() if titles is None else titles
    return f"{known[whole]} {cut(name.removeprefix(whole))}".strip() if whole in known else cut(name)


def cut(text: str) -> str:
    """The beginning of a text from the table, in one line and without control characters."""
    return shorten(" ".join("".join(letter if letter.isprintable() else " " for letter in text).split()), SHOWN)
