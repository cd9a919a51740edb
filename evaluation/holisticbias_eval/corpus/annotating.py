"""Join the labels of annotators to their examples, and say how far they agree."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, with_columns
from holisticbias_eval.corpus.annotation_files import AnnotatorLabel, read_label_files
from holisticbias_eval.corpus.examples import (
    COLUMNS,
    LABEL,
    LABEL_OF,
    STATE,
    annotators_of,
    read_examples,
    refuse_with_record,
    write_with_record,
)
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.statistics.labels import agreement_figures, cohens_kappa

RECORD_SUFFIX = ".agreement.json"
_NAMED = 20  # ids in the record
Counts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Annotated:
    """Examples with ``label``, ``annotation`` and the labels of each annotator, and the report about them as JSON.

    The report has the number of ``examples`` and three lists. ``annotators``: counts of each; ``empty`` rows have no
    label, ``absent`` examples have no row, ``conflicting`` ids have two labels and so count as not labelled,
    ``other_sentence`` rows have another sentence than the example with their id; ``unknown_ids`` and others have the
    first of these ids, and ``unknown_places`` the files and rows of each. ``agreement``: figures, null if
    undefined, with the number ``n`` of examples behind them; ``dimension`` is null for all examples together, and
    ``first`` and ``second`` are the annotators of a pair. ``counts``: as in Zhao et al. 2024, table 9, of each
    dimension, whose ``group`` is null, and each of its groups; ``candidates`` have enough labels, which ``incomplete``
    examples have not, and of these ``removed`` are those on which annotators disagree.
    """

    table: pa.Table
    record: Mapping[str, Any]


def join_labels(examples: Path, labels: Sequence[Path], out: Path) -> Annotated:
    """Read examples and labels, and write the annotated table and its report, ``OUT.agreement.json`` beside it.

    Raises ``CorpusError``, ``TableError`` and ``OutputError``.
    """
    refuse_with_record(out, RECORD_SUFFIX, [examples, *labels])
    annotated = annotate(read_examples(examples), read_label_files(labels))
    write_with_record(annotated.table, annotated.record, out, RECORD_SUFFIX)
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
    for name in set(annotators_of(examples)) - set(by_annotator):
        values = zip(texts, examples[LABEL_OF + name].to_pylist(), strict=True)
        by_annotator[name] = [AnnotatorLabel("", name, (i,), value, None) for i, value in values if value is not None]
    names = sorted(by_annotator)
    joined = [_joined(name, by_annotator[name], texts) for name in names]
    matrix = np.column_stack([column for column, _ in joined])
    counts = [count for _, count in joined]
    if np.isnan(matrix).all():
        unknown = next((one for one in counts if one["unknown"]), None)
        why = "every label is empty"
        if unknown:
            why = f"{unknown['unknown_places'][0][0]}: no example has the id {unknown['unknown_ids'][0][:80]!r}"
        raise CorpusError(f"no example has a label: {why}")
    table = _with_labels(examples, matrix, names)
    agreement = list(_agreement(table, matrix, names))
    record = {"examples": len(table), "annotators": counts, "agreement": agreement, "counts": list(_counts(table))}
    return Annotated(table, record)


def _first_of_each(rows: Iterable[AnnotatorLabel]) -> list[AnnotatorLabel]:
    """The first row of each label."""
    found: dict[int, AnnotatorLabel] = {}
    for row in rows:
        if row.label is not None:
            found.setdefault(row.label, row)
    return list(found.values())


def _joined(name: str, labels: Iterable[AnnotatorLabel], texts: Mapping[str, str]) -> tuple[Floats, Counts]:
    """The labels of an annotator for each example, NaN without one, and counts of what is missing or wrong."""
    rows: dict[str, list[AnnotatorLabel]] = defaultdict(list)
    unknown: list[AnnotatorLabel] = []
    for label in labels:
        example = next((form for form in label.ids if form in texts), None)
        if example is None:
            unknown.append(label)
        else:
            rows[example].append(label)
    values = {example: {row.label for row in own} - {None} for example, own in rows.items()}
    single = {example: next(iter(own)) for example, own in values.items() if len(own) == 1}
    column = np.array([single.get(example, np.nan) for example in texts], float)
    found = {
        "unknown": [(label.ids[0], [label]) for label in unknown],
        "repeated": [(example, own) for example, own in rows.items() if len(own) > 1],
        "conflicting": [(example, _first_of_each(rows[example])) for example, own in values.items() if len(own) > 1],
    }
    return column, {
        "annotator": name,
        "labels": len(single),
        "biased": int((column == 1).sum()),
        "empty": sum(not own for own in values.values()),
        "absent": len(texts) - len(rows),
        **{kind: len(of) for kind, of in found.items()},
        **{f"{kind}_ids": [name for name, _ in of[:_NAMED]] for kind, of in found.items()},
        **{f"{kind}_places": [[one.place for one in own] for _, own in of[:_NAMED]] for kind, of in found.items()},
        "other_sentence": sum(row.has_other(texts[example]) for example, own in rows.items() for row in own),
    }


def _with_labels(examples: pa.Table, labels: Floats, names: Sequence[str]) -> pa.Table:
    """The examples with the label that annotators agree on, its state, and each annotator's labels."""
    count = (~np.isnan(labels)).sum(axis=1)
    needed = min(2, len(names))
    biased = (labels == 1).sum(axis=1)
    agreed = (count >= needed) & ((biased == 0) | (biased == count))
    states = np.where(count < needed, "incomplete", np.where(agreed, "agreed", "disagreed"))
    columns = {
        LABEL: pa.array((biased > 0).astype(np.int8), mask=~agreed),
        STATE: pa.array(states.tolist(), pa.string()),
    }
    for name, column in zip(names, labels.T, strict=True):
        columns[LABEL_OF + name] = pa.array(column, from_pandas=True).cast(pa.int8())
    return with_columns(examples.select(COLUMNS), columns)


def _agreement(table: pa.Table, labels: Floats, names: Sequence[str]) -> Iterator[Counts]:
    """The figures of all examples, then those of each dimension if there are several."""
    if len(names) < 2:
        return
    dimensions = np.array(table["dimension"].to_pylist())
    several = sorted(set(dimensions.tolist()))
    for dimension in (None, *(several if len(several) > 1 else ())):
        rated = labels if dimension is None else labels[dimensions == dimension]
        for name, (value, n) in agreement_figures(rated).items():
            yield {"dimension": dimension, "name": name, "value": value, "n": n, "first": None, "second": None}
        for i, j in combinations(range(len(names)), 2):
            value, n = cohens_kappa(rated[:, i], rated[:, j])
            pair = {"first": names[i], "second": names[j]}
            yield {"dimension": dimension, "name": "cohen_kappa", "value": value, "n": n, **pair}


def _counts(table: pa.Table) -> Iterator[Counts]:
    """Counts for each dimension, and for each of its groups."""
    columns = (table[name].to_pylist() for name in ("dimension", "group", STATE, LABEL))
    counted: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for dimension, group, state, label in zip(*columns, strict=True):
        outcome = {1: "biased", 0: "not_biased", None: state}[label]
        counted[dimension, ""][outcome] += 1
        counted[dimension, group][outcome] += 1
    for (dimension, group), outcomes in sorted(counted.items()):
        yield {
            "dimension": dimension,
            "group": group or None,
            "candidates": outcomes.total() - outcomes["incomplete"],
            "removed": outcomes["disagreed"],
            **{name: outcomes[name] for name in ("biased", "not_biased", "incomplete")},
        }
