"""Join the labels of annotators to their examples, and say how far they agree."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.output import write_file
from holisticbias_eval.arrays import Floats
from holisticbias_eval.corpus.annotation_files import AnnotatorLabel, read_label_files
from holisticbias_eval.corpus.examples import (
    COLUMNS,
    LABEL,
    LABEL_OF,
    STATE,
    annotators_of,
    read_examples,
    refuse_source,
    refuse_suffix,
    write_examples,
)
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.statistics.labels import agreement_figures, cohens_kappa

RECORD_SUFFIX = ".agreement.json"
_NAMED = 20  # ids in the record


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
            "annotators": [asdict(counts) for counts in self.annotators],
            "agreement": [asdict(figure) for figure in self.agreement],
            "counts": [asdict(counts) for counts in self.counts],
        }


def join_labels(examples: Path, labels: Sequence[Path], out: Path) -> Annotated:
    """Read examples and labels, and write the annotated table and its report, ``NAME.agreement.json`` beside it.

    Raises ``CorpusError``, ``TableError`` and ``OutputError``.
    """
    refuse_suffix(out)
    refuse_source(out, [examples, *labels])
    annotated = annotate(read_examples(examples), read_label_files(labels))
    write_examples(annotated.table, out)
    record = json.dumps(annotated.record(), indent=2)
    write_file(out.with_name(out.stem + RECORD_SUFFIX), f"{record}\n".encode())
    return annotated


def annotate(examples: pa.Table, labels: Iterable[AnnotatorLabel]) -> Annotated:
    """Join labels to examples by id.

    An example has the label on which all its annotators agree; it needs two of them, or the only one if all labels are
    of one annotator. Otherwise its label is null. Labels that the examples have of other annotators are kept.
    Raises ``CorpusError`` if no label belongs to an example.
    """
    texts = dict(zip(examples["id"].to_pylist(), examples["text"].to_pylist(), strict=True))
    by_annotator: dict[str, list[AnnotatorLabel]] = defaultdict(list)
    for label in labels:
        by_annotator[label.annotator].append(label)
    if not by_annotator:
        raise CorpusError("the files have no labels: fill in the column Label first")
    for name in set(annotators_of(examples)) - set(by_annotator):
        values = zip(texts, examples[LABEL_OF + name].to_pylist(), strict=True)
        by_annotator[name] = [AnnotatorLabel(name, (example,), value, None) for example, value in values]
        by_annotator[name] = [label for label in by_annotator[name] if label.label is not None]
    names = sorted(by_annotator)
    joined = [_joined(name, by_annotator[name], texts) for name in names]
    matrix = np.column_stack([column for column, _ in joined])
    counts = tuple(count for _, count in joined)
    if np.isnan(matrix).all():
        unknown = next((count.unknown_ids[0] for count in counts if count.unknown_ids), None)
        why = f"no example has the id {unknown[:80]!r}" if unknown else "every label is empty"
        raise CorpusError(f"no example has a label: {why}")
    table = _with_labels(examples, matrix, names)
    return Annotated(table, counts, tuple(_agreement(table, matrix, names)), _counts(table))


def _joined(name: str, labels: Iterable[AnnotatorLabel], texts: Mapping[str, str]) -> tuple[Floats, AnnotatorCounts]:
    """The labels of an annotator for each example, NaN without one, and counts of what is missing or wrong."""
    rows: dict[str, list[AnnotatorLabel]] = defaultdict(list)
    unknown: list[str] = []
    for label in labels:
        example = next((form for form in label.ids if form in texts), None)
        if example is None:
            unknown.append(label.ids[0])
        else:
            rows[example].append(label)
    values = {example: {label.label for label in found} - {None} for example, found in rows.items()}
    single = {example: next(iter(found)) for example, found in values.items() if len(found) == 1}
    repeated = [example for example, found in rows.items() if len(found) > 1]
    conflicting = [example for example, found in values.items() if len(found) > 1]
    column = np.array([single.get(example, np.nan) for example in texts], float)
    return column, AnnotatorCounts(
        annotator=name,
        labels=len(single),
        biased=int((column == 1).sum()),
        empty=sum(not found for found in values.values()),
        absent=len(texts) - len(rows),
        unknown=len(unknown),
        unknown_ids=tuple(unknown[:_NAMED]),
        repeated=len(repeated),
        repeated_ids=tuple(repeated[:_NAMED]),
        conflicting=len(conflicting),
        conflicting_ids=tuple(conflicting[:_NAMED]),
        other_sentence=sum(_differs(label, texts[example]) for example, found in rows.items() for label in found),
    )


def _differs(label: AnnotatorLabel, text: str) -> bool:
    return label.sentence is not None and label.sentence.split() != text.split()


def _with_labels(examples: pa.Table, labels: Floats, names: Sequence[str]) -> pa.Table:
    """The examples with the label that annotators agree on, its state, and each annotator's labels."""
    given = (~np.isnan(labels)).sum(axis=1)
    needed = min(2, len(names))
    biased = (labels == 1).sum(axis=1)
    agreed = (given >= needed) & ((biased == 0) | (biased == given))
    states = np.where(given < needed, "incomplete", np.where(agreed, "agreed", "disagreed"))
    table = examples.select(COLUMNS)
    table = table.append_column(LABEL, pa.array((biased > 0).astype(np.int8), mask=~agreed))
    table = table.append_column(STATE, pa.array(states.tolist(), pa.string()))
    for name, column in zip(names, labels.T, strict=True):
        table = table.append_column(LABEL_OF + name, pa.array(column, from_pandas=True).cast(pa.int8()))
    return table


def _agreement(table: pa.Table, labels: Floats, names: Sequence[str]) -> Iterator[AgreementFigure]:
    """The figures of all examples, then those of each dimension if there are several."""
    if len(names) < 2:
        return
    dimensions = np.array(table["dimension"].to_pylist())
    several = sorted(set(dimensions)) if len(set(dimensions)) > 1 else ()
    for dimension in (None, *several):
        rated = labels if dimension is None else labels[dimensions == dimension]
        where = None if dimension is None else str(dimension)
        for name, (value, n) in agreement_figures(rated).items():
            yield AgreementFigure(where, name, value, n)
        for i, j in combinations(range(len(names)), 2):
            value, n = cohens_kappa(rated[:, i], rated[:, j])
            yield AgreementFigure(where, "cohen_kappa", value, n, names[i], names[j])


def _counts(table: pa.Table) -> tuple[GroupCounts, ...]:
    """Counts for each dimension, and for each of its groups."""
    columns = (table[name].to_pylist() for name in ("dimension", "group", STATE, LABEL))
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for dimension, group, state, label in zip(*columns, strict=True):
        outcome = {1: "biased", 0: "not_biased", None: state}[label]
        counted[dimension, ""][outcome] += 1
        counted[dimension, group][outcome] += 1
    return tuple(
        GroupCounts(
            dimension=dimension,
            group=group or None,
            candidates=outcomes.total() - outcomes["incomplete"],
            removed=outcomes["disagreed"],
            biased=outcomes["biased"],
            not_biased=outcomes["not_biased"],
            incomplete=outcomes["incomplete"],
        )
        for (dimension, group), outcomes in sorted(counted.items())
    )
