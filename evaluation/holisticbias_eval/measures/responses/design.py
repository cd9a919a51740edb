"""Responses by group: their design, the figures of each group, and paired changes of two runs."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Ints, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Ends, Figure, make_figure
from holisticbias_eval.identity import RESPONSES, align
from holisticbias_eval.measures.columns import change_figures
from holisticbias_eval.measures.measure import baseline_of
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.readers.classifier import PREFIX
from holisticbias_eval.readers.judging import OFFENSIVE
from holisticbias_eval.sections.tables import Paragraph
from holisticbias_eval.statistics.cells import encode, floats
from holisticbias_eval.statistics.intervals import estimate, standard_error, wilson
from holisticbias_eval.statistics.responses.cells import (
    cell_means,
    descriptor_column,
    number_descriptors,
    permuted_p_values,
    repeats_resemble,
)
from holisticbias_eval.statistics.tests import holm, stratified_p_values


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows by group: ``keys`` of each group as those of a figure, and the group of each row, shape ``[rows]``."""

    keys: tuple[dict[str, str], ...]
    group: Ints

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Design:
    """The groupings of a table of answers, the texts of the descriptors, and the template and the cell of each row."""

    all: Grouping
    axes: Grouping
    descriptors: Grouping
    texts: tuple[str, ...]
    template: Ints
    cell: Ints

    @property
    def people(self) -> Grouping:
        """All rows but those of made-up words, if there are others: their group is -1."""
        axes = [keys["axis"] for keys in self.axes.keys]
        baseline = baseline_of(axes)
        left_out = -2 if baseline is None else axes.index(baseline)
        return Grouping(({},), np.where(self.axes.group == left_out, -1, self.all.group))


def read_design(answers: pa.Table) -> Design:
    """Group the rows by axis and descriptor; see ``number_descriptors``."""
    axes, axis, descriptors, descriptor = number_descriptors(answers)
    _, template = encode(answers["template_id" if "template_id" in answers.column_names else "template"])
    return Design(
        Grouping(({},), np.zeros(len(axis), np.int64)),
        Grouping(tuple({"axis": a} for a in axes), axis),
        Grouping(tuple({"axis": a, "descriptor": d} for a, d, _ in descriptors), descriptor),
        tuple(text for *_, text in descriptors),
        template,
        np.unique(descriptor * (int(template.max(initial=0)) + 1) + template, return_inverse=True)[1],
    )


def group_figures(
    measure: str, design: Design, grouping: Grouping, name: str, values: Floats, *,
    phrase: str = "", mean_unit: str = "", tested: bool = False,
) -> Iterator[Figure]:  # fmt: skip
    """A value in each group, with its interval; NaN is a row that is not counted.

    It is the share of the rows with the value 1 or, with ``mean_unit``, the mean of the rows, with the cells fixed.
    Tested groups are compared with all rows of the same templates: shares, and the ranks of other values.
    """
    known, group, size = ~np.isnan(values), grouping.group, len(grouping)
    rows, missing = (np.bincount(group[chosen], minlength=size) for chosen in (known, ~known))
    test: Callable[..., Floats] = permuted_p_values
    if not mean_unit:
        values, test = (values == 1).astype(np.int64), stratified_p_values
        mean = divide(np.bincount(group, values, size), rows)
        intervals: list[Ends] = [wilson(share, int(n)) for share, n in zip(mean, rows, strict=True)]
    else:
        cell = design.cell[known]
        cells = cell_means(values[known], cell, design.template[known])
        of_cell = np.zeros(len(cells.count), np.int64)
        of_cell[cell] = group[known]
        found = cells.over(of_cell, size, cells.count)
        mean, intervals = np.array([value for value, *_ in found]), [ends for _, ends, _ in found]
    p = test(values[known], group[known], design.template[known], size) if tested else np.full(size, np.nan)
    about, unit = {"phrase": phrase} if phrase else {}, mean_unit or "share"
    for g, own in enumerate(grouping.keys):
        keys = {**own, **about}
        yield make_figure(measure, name, keys, mean[g], unit, rows[g], missing[g], interval=intervals[g], p_value=p[g])


def common_responses(first: pa.Table, second: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The rows of both tables with the same id, in the same order, without repeats in both.

    Raises ``SelectionError`` if they have none in common.
    """
    if not all("response_id" in table.column_names for table in (first, second)):
        raise SelectionError("the responses have no column response_id: there is nothing to pair them by")
    tables = align(first, second, RESPONSES).rows(first, second)
    counted = np.union1d(*(count_repeats(table)[0] for table in tables))
    one, other = (table.take(pa.array(counted)) for table in tables)
    return one, other


FEW, SAME = 0.2, 0.9
"""Up to which share of responses repeats are few, and from which share of equal ones on many repeats do not count."""


def count_repeats(answers: pa.Table) -> tuple[Ints, str]:
    """The rows that count, in order: all, or the first of each prompt of a cell; and what to say of the others.

    A model that chooses the likeliest tokens gives the same response each time: its repeats add nothing. A server may
    round in another way in another batch, so up to a tenth of the repeats may differ from the first response. Where
    only few responses repeat a prompt, as in prompts drawn at random, it costs little to leave them out: they count
    only if nothing shows that they resemble the first response, in their text or in what classifiers read.
    """
    asked = [name for name in ("prompt", "persona") if name in answers.column_names]
    rows = np.arange(len(answers))
    if not len(rows) or not {"prompt", "response"} <= {*answers.column_names}:
        return rows, ""
    named = ["axis", descriptor_column(answers), "template"]
    counted, prompt = distinct_rows(answers, [*named, *asked])
    first = counted[prompt]
    repeats = first != rows
    if not repeats.any():
        return rows, ""
    _, response = distinct_rows(answers, ["response"])
    equal, few = (response == response[first])[repeats].mean(), repeats.mean() <= FEW
    read = (floats(answers[name]) for name in answers.column_names if name.startswith(PREFIX) or name == OFFENSIVE[0])
    said = f"{repeats.sum():,} responses answer a prompt again and resemble its first response"
    alike = equal >= (1 - SAME if few else SAME)
    if not alike and not repeats_resemble(read, distinct_rows(answers, named)[1], first):
        return rows, ""
    if alike or few:
        return counted, f"{said}, so each prompt counts once"
    return rows, f"{said}, but count: intervals are too narrow and p-values too small"


def counted_answers(title: str, answers: pa.Table) -> tuple[pa.Table, tuple[str, ...]]:
    """The rows that count, and a note for the measure ``title`` if something is to be said of repeats."""
    rows, said = count_repeats(answers)
    return answers.take(pa.array(rows)), (f"{title}: {said}",) if said else ()


def repeats_paragraph(answers: pa.Table) -> tuple[Paragraph, ...]:
    """A paragraph on repeats, if something is to be said of them."""
    _, said = count_repeats(answers)
    return (Paragraph(f"{said}.", "note"),) if said else ()


def paired_changes(
    measure: str,
    name: str,
    unit: str,
    grouping: Grouping,
    values: Mapping[str, tuple[Floats, Floats]],
    *,
    named: bool = True,
) -> Iterator[Figure]:
    """The figures of one value, of each of its phrases if it has several, in every group.

    With ``named`` the key ``figure`` has the name of the value. Interval and test are those of a mean of differences
    (Student's t). P-values are corrected over phrases and groups (Holm).
    """
    about, found, estimates = {"figure": name} if named else {}, [], []
    for phrase, (before, after) in values.items():
        moved = after - before
        for group, own in enumerate(grouping.keys):
            rows = ~np.isnan(moved) & (grouping.group == group)
            evidence, n = moved[rows], int(rows.sum())
            means = (float(before[rows].mean()), float(after[rows].mean())) if n else (None, None)
            change = float(moved[rows].mean()) if n else np.nan
            found.append(({**about, **({"phrase": phrase} if phrase else {}), **own}, means, n, change))
            estimates.append(estimate(change, standard_error(evidence), len(evidence) - 1))
    p = holm(np.array([p for _, p in estimates], np.float64))
    for (keys, means, n, change), (interval, _), adjusted in zip(found, estimates, p.tolist(), strict=True):
        yield from change_figures(
            measure, name, keys, means, unit, n, change=change, interval=interval, p_value=adjusted
        )
