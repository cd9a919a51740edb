"""The report about labels of annotators."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class AnnotatorCounts:
    """Counts of an annotator's files.

    ``empty`` rows have no label, ``absent`` examples have no row, ``conflicting`` ids have two labels and so count as
    not labelled, ``other_sentence`` rows have another sentence than the example with their id.
    """

    annotator: str
    labels: int
    biased: int
    empty: int
    absent: int
    unknown: int
    unknown_ids: tuple[str, ...]
    repeated: int
    repeated_ids: tuple[str, ...]
    conflicting: int
    conflicting_ids: tuple[str, ...]
    other_sentence: int


@dataclass(frozen=True, slots=True)
class AgreementFigure:
    """A figure of agreement, null if undefined, and the number of examples behind it.

    ``dimension`` is null for all examples together; ``first`` and ``second`` are the annotators of a pair.
    """

    dimension: str | None
    name: str
    value: float | None
    n: int
    first: str | None = None
    second: str | None = None


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """Counts as in Zhao et al. 2024, table 9, for a group, or for a whole dimension if ``group`` is null.

    ``candidates`` have enough labels; of these, ``removed`` are those on which annotators disagree. ``incomplete``
    examples have too few labels, and do not count as candidates.
    """

    dimension: str
    group: str | None
    candidates: int
    removed: int
    biased: int
    not_biased: int
    incomplete: int


@dataclass(frozen=True, slots=True)
class Annotated:
    """Examples with ``label``, ``annotation`` and the labels of each annotator, and the report about them."""

    table: pa.Table
    annotators: tuple[AnnotatorCounts, ...]
    agreement: tuple[AgreementFigure, ...]
    counts: tuple[GroupCounts, ...]

    def record(self) -> dict[str, object]:
        """The report as JSON."""
        return {
            "examples": len(self.table),
            "annotators": [asdict(one) for one in self.annotators],
            "agreement": [asdict(one) for one in self.agreement],
            "counts": [asdict(one) for one in self.counts],
        }
