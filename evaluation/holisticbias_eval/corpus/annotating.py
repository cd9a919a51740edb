"""Join the labels of annotators to their examples, and say how far they agree."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa

from holisticbias.output import write_file
from holisticbias_eval.arrays import Floats
from holisticbias_eval.corpus.annotation_record import AgreementFigure, Annotated, AnnotatorCounts, GroupCounts
from holisticbias_eval.corpus.examples import (
    COLUMNS,
    LABEL,
    LABEL_OF,
    STATE,
    annotators_of,
    read_examples,
    refuse_suffix,
    write_examples,
)
from holisticbias_eval.corpus.label_files import GivenLabel, read_label_files
from holisticbias_eval.errors import CorpusError
from holisticbias_eval.statistics.rater_agreement import agreement_figures, cohens_kappa

RECORD_SUFFIX = ".agreement.json"
_NAMED = 20  # ids in the record


def join_labels(examples: Path, labels: Sequence[Path], out: Path) -> Annotated:
    """Read examples and labels, and write the annotated table and its report, ``NAME.agreement.json`` beside it.

    Raises ``CorpusError``, ``ScoresError`` and ``OutputError``.
    """
    refuse_suffix(out)
    annotated = annotate(read_examples(examples), read_label_files(labels))
    write_examples(annotated.table, out)
    record = json.dumps(annotated.record(), indent=2)
    write_file(out.with_name(out.stem + RECORD_SUFFIX), f"{record}\n".encode())
    return annotated


def annotate(examples: pa.Table, given: Iterable[GivenLabel]) -> Annotated:
    """Join labels to examples by id.

    An example has the label on which all its annotators agree; it needs two of them, or the only one if all labels are
    of one annotator. Otherwise its label is null. Labels that the examples have of other annotators are kept.
    Raises ``CorpusError`` if no label belongs to an example.
    """
    ids = {name: place for place, name in enumerate(examples["id"].to_pylist())}
    texts = examples["text"].to_pylist()
    by_annotator: dict[str, list[GivenLabel]] = defaultdict(list)
    for label in given:
        by_annotator[label.annotator].append(label)
    if not by_annotator:
        raise CorpusError("the files have no labels: fill in the column Label first")
    for name in set(annotators_of(examples)) - set(by_annotator):
        known = zip(examples["id"].to_pylist(), examples[LABEL_OF + name].to_pylist(), strict=True)
        by_annotator[name] = [GivenLabel(name, (one,), label, None) for one, label in known if label is not None]
    names = sorted(by_annotator)
    labels = np.full((len(ids), len(names)), np.nan)
    counts = [_fill(labels[:, i], name, by_annotator[name], ids, texts) for i, name in enumerate(names)]
    if np.isnan(labels).all():
        unknown = next((one.unknown_ids[0] for one in counts if one.unknown_ids), None)
        why = f"no example has the id {unknown[:80]!r}" if unknown else "every label is empty"
        raise CorpusError(f"no example has a label: {why}")
    table = _with_labels(examples, labels, names)
    return Annotated(table, tuple(counts), _agreement(table, labels, names), _counts(table))


def _fill(
    column: Floats, name: str, given: Iterable[GivenLabel], ids: Mapping[str, int], texts: Sequence[str]
) -> AnnotatorCounts:
    """Put the labels of an annotator into their column, and count what is missing or wrong."""
    found: dict[str, list[GivenLabel]] = defaultdict(list)
    unknown: list[str] = []
    for label in given:
        known = next((one for one in label.ids if one in ids), None)
        if known is None:
            unknown.append(label.ids[0])
        else:
            found[known].append(label)
    values = {one: {label.label for label in labels} - {None} for one, labels in found.items()}
    for one, labels in values.items():
        if len(labels) == 1:
            column[ids[one]] = next(iter(labels))
    repeated = [one for one, labels in found.items() if len(labels) > 1]
    conflicting = [one for one, labels in values.items() if len(labels) > 1]
    return AnnotatorCounts(
        annotator=name,
        labels=int((~np.isnan(column)).sum()),
        biased=int((column == 1).sum()),
        empty=sum(not labels for labels in values.values()),
        absent=len(ids) - len(found),
        unknown=len(unknown),
        unknown_ids=tuple(unknown[:_NAMED]),
        repeated=len(repeated),
        repeated_ids=tuple(repeated[:_NAMED]),
        conflicting=len(conflicting),
        conflicting_ids=tuple(conflicting[:_NAMED]),
        other_sentence=sum(_differs(label, texts[ids[one]]) for one, own in found.items() for label in own),
    )


def _differs(label: GivenLabel, text: str) -> bool:
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
        missing = np.isnan(column)
        table = table.append_column(
            f"{LABEL_OF}{name}", pa.array(np.where(missing, 0, column).astype(np.int8), mask=missing)
        )
    return table


def _agreement(table: pa.Table, labels: Floats, names: Sequence[str]) -> tuple[AgreementFigure, ...]:
    """The figures of all examples, then those of each dimension if there are several."""
    if len(names) < 2:
        return ()
    dimensions = np.array(table["dimension"].to_pylist())
    found = list(_figures(None, labels, names))
    several = sorted(set(dimensions)) if len(set(dimensions)) > 1 else ()
    for dimension in several:
        found += _figures(str(dimension), labels[dimensions == dimension], names)
    return tuple(found)


def _figures(dimension: str | None, labels: Floats, names: Sequence[str]) -> Iterable[AgreementFigure]:
    for name, (value, n) in agreement_figures(labels).items():
        yield AgreementFigure(dimension, name, value, n)
    for i, j in combinations(range(len(names)), 2):
        value, n = cohens_kappa(labels[:, i], labels[:, j])
        yield AgreementFigure(dimension, "cohen_kappa", value, n, names[i], names[j])


def _counts(table: pa.Table) -> tuple[GroupCounts, ...]:
    """Counts for each dimension, and for each of its groups."""
    columns = (table[name].to_pylist() for name in ("dimension", "group", STATE, LABEL))
    counted: dict[tuple[str, str | None], Counter[str]] = defaultdict(Counter)
    for dimension, group, state, label in zip(*columns, strict=True):
        outcome = {1: "biased", 0: "not_biased", None: state}[label]
        counted[dimension, None][outcome] += 1
        counted[dimension, group][outcome] += 1
    return tuple(
        GroupCounts(
            dimension=dimension,
            group=group,
            candidates=found.total() - found["incomplete"],
            removed=found["disagreed"],
            biased=found["biased"],
            not_biased=found["not_biased"],
            incomplete=found["incomplete"],
        )
        for (dimension, group), found in sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    )
