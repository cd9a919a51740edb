"""Responses by group: their design, and the values of each response."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.measures.measure import baseline_of
from holisticbias_eval.models.store.keys import distinct_rows
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.intervals import wilson
from holisticbias_eval.statistics.responses.cells import means_over_draws, number_draws, permuted_p_values
from holisticbias_eval.statistics.tests import stratified_p_values
from holisticbias_eval.statistics.words import WordArrays, has_phrase, longest_common_runs, split_words, starts_with


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows by group: ``keys`` of each group as those of a figure, and the group of each row, shape ``[rows]``."""

    keys: tuple[dict[str, str], ...]
    group: Ints

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Design:
    """The groupings of a table of answers, and the template of each row.

    ``draw`` numbers the rows of a cell. A model that always chooses the likeliest
    token repeats itself for equal prompts, which adds no evidence: ``counted``
    then has one row per prompt, and rows with equal prompts have the same draw. Otherwise every row counts.
    """

    all: Grouping
    axes: Grouping
    descriptors: Grouping
    template: Ints
    draw: Ints
    counted: Bools

    @property
    def people(self) -> Grouping:
        """All rows but those of made-up words, if there are others: their group is -1."""
        baseline = baseline_of([keys["axis"] for keys in self.axes.keys])
        left_out = [place for place, keys in enumerate(self.axes.keys) if keys["axis"] == baseline]
        return Grouping(({},), np.where(np.isin(self.axes.group, left_out), -1, self.all.group))

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """From the whole to the parts."""
        return self.all, self.axes, self.descriptors


def read_design(answers: pa.Table) -> Design:
    """Group the rows by axis and descriptor; a descriptor is told apart by its id if there is one."""
    axes, axis = encode(answers["axis"])
    by_id = "descriptor_id" in answers.column_names
    names, name = encode(answers["descriptor_id" if by_id else "descriptor"])
    _, template = encode(answers["template_id" if "template_id" in answers.column_names else "template"])
    pairs, descriptor = _in_order(axis * max(len(names), 1) + name)
    keys = tuple({"axis": axes[p // len(names)], "descriptor": names[p % len(names)]} for p in pairs)
    cell = np.unique(descriptor * (int(template.max(initial=0)) + 1) + template, return_inverse=True)[1]
    first = _first_of_equals(answers, descriptor)
    counted = first == np.arange(len(first))
    draw = np.zeros(len(first), np.int64)
    draw[counted] = number_draws(cell[counted])
    return Design(
        Grouping(({},), np.zeros(len(axis), np.int64)),
        Grouping(tuple({"axis": a} for a in axes), axis),
        Grouping(keys, descriptor),
        template,
        draw[first],
        counted,
    )


def _first_of_equals(answers: pa.Table, descriptor: Ints) -> Ints:
    """For each row the first row with its descriptor and prompt, if equal prompts always have equal responses."""
    rows = np.arange(answers.num_rows)
    asked = [name for name in ("prompt", "persona") if name in answers.column_names]
    if "prompt" not in asked or not len(rows):
        return rows
    first, prompt = distinct_rows(answers, asked)
    if len(first) == len(rows) or len(distinct_rows(answers, [*asked, "response"])[0]) > len(first):
        return rows
    _, own, inverse = np.unique(descriptor * len(first) + prompt, return_index=True, return_inverse=True)
    found: Ints = own[inverse]
    return found


def _in_order(codes: Ints) -> tuple[list[int], Ints]:
    """The distinct codes in order of first occurrence, and the place of each row's code among them."""
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return distinct[order].tolist(), place[inverse]


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes figures of one measure from values of the rows of a design; NaN is a row that is not counted."""

    measure: str
    design: Design

    @property
    def figure(self) -> Callable[..., Figure]:
        """Makes a figure of the measure; see ``make_figure``."""
        return partial(make_figure, self.measure)

    def shares(
        self, name: str, values: Floats, grouping: Grouping, *, tested: bool = False, **keys: str
    ) -> Iterator[Figure]:
        """The share of ones in each group, with a Wilson interval; tested against all rows of the same templates."""
        known = ~np.isnan(values)
        rows, ones, missing = (_counts(grouping, chosen) for chosen in (known, values == 1, ~known))
        evidence = known & self.design.counted
        effective = _counts(grouping, evidence)
        p: Floats = np.full(len(grouping), np.nan)
        if tested:
            ones_or_not = (values[evidence] == 1).astype(np.int64)
            p = stratified_p_values(
                ones_or_not, grouping.group[evidence], self.design.template[evidence], len(grouping)
            )
        for g, own in enumerate(grouping.keys):
            n = int(rows[g])
            share = int(ones[g]) / n if n else None
            yield self.figure(
                name, {**own, **keys}, share, "share", n, int(missing[g]),
                interval=None if share is None else wilson(share, int(effective[g])), p_value=p[g],
            )  # fmt: skip

    def means(
        self, name: str, values: Floats, unit: str, grouping: Grouping, *, tested: bool = False
    ) -> Iterator[Figure]:
        """The mean of each group, with an interval over draws; ranks are tested against those of the same templates."""
        known = ~np.isnan(values)
        rows, missing = _counts(grouping, known), _counts(grouping, ~known)
        found = means_over_draws(values[known], grouping.group[known], self.design.draw[known], len(grouping))
        p: Floats = np.full(len(grouping), np.nan)
        if tested:
            chosen = known & self.design.counted
            p = permuted_p_values(values[chosen], grouping.group[chosen], self.design.template[chosen], len(grouping))
        for g, own in enumerate(grouping.keys):
            ends = (found.low[g], found.high[g])
            yield self.figure(name, own, found.mean[g], unit, rows[g], missing[g], interval=ends, p_value=p[g])


def _counts(grouping: Grouping, rows: np.ndarray) -> Ints:
    """The number of chosen rows in each group."""
    return np.bincount(grouping.group[rows], minlength=len(grouping))


ENDINGS = {"share_truncated": "length", "share_refused": "refused", "share_filtered": "filtered"}
"""Shares of responses by why they end, see ``Finish``."""
MEANS = {"parroting_run": "share", "length": "words"}
"""Values that are not 0 or 1, with their units."""
UNTESTED = "parroting_run"
"""A share of the prompt's words depends on how many words the descriptor itself has, so descriptors are not tested."""
PHRASE_SHARE = "phrase_share"


@dataclass(frozen=True, slots=True)
class RowValues:
    """A value of each response, NaN for responses that are not counted: shape ``[rows]``."""

    name: str
    values: Floats
    phrase: str | None = None


@dataclass(frozen=True, slots=True)
class Wordings:
    """The words of responses and prompts, and which responses have a text.

    ``answered`` is false for responses that are empty, refused or withheld. ``prompts`` is ``None`` if the table has
    no prompts.
    """

    words: WordArrays
    prompts: WordArrays | None
    answered: Bools
    empty: Bools


def read_wordings(answers: pa.Table) -> Wordings:
    """Split responses and prompts into words."""
    texts = _known(answers["response"])
    blank = pc.equal(pc.utf8_trim_whitespace(texts), pa.scalar("", pa.large_string())).to_numpy()
    withheld = np.zeros(len(blank), bool)
    if "finish" in answers.column_names:
        withheld = _is_any(answers["finish"], ("refused", "filtered"))
    columns = [texts, *([answers["prompt"]] if "prompt" in answers.column_names else [])]
    words, *prompts = split_words(*columns)
    return Wordings(words, prompts[0] if prompts else None, ~blank & ~withheld, blank & ~withheld)


def _known(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts, with null as the empty text."""
    return pc.fill_null(column.cast(pa.large_string()), pa.scalar("", pa.large_string()))


def _is_any(column: pa.ChunkedArray, values: Sequence[str]) -> Bools:
    found: Bools = pc.is_in(column.cast(pa.string()), pa.array(list(values), pa.string())).to_numpy()
    return found


def row_values(answers: pa.Table, wordings: Wordings, phrases: Sequence[str]) -> Iterator[RowValues]:
    """Every value of every response; values that need a column that the table lacks are left out."""
    words, answered = wordings.words, wordings.answered
    for phrase in phrases:
        own = split_words(pa.chunked_array([pa.array([phrase], pa.large_string())]))[0]
        yield RowValues(PHRASE_SHARE, _among(has_phrase(words, own.vocabulary.take(own.codes).to_pylist()), answered),
                        phrase)  # fmt: skip
    if wordings.prompts is not None:
        yield from _parroting(words, wordings.prompts, answered)
    yield RowValues("length", _among(words.lengths, answered))
    yield RowValues("share_repeated", _among(_repeated(answers, answered), answered))
    yield RowValues("share_empty", wordings.empty.astype(float))
    if "finish" in answers.column_names:
        for name, ending in ENDINGS.items():
            yield RowValues(name, _is_any(answers["finish"], (ending,)).astype(float))


def _parroting(words: WordArrays, prompts: WordArrays, answered: Bools) -> Iterator[RowValues]:
    """Whether a response is its prompt, starts with it, and how much of it its longest common run of words is."""
    counted = answered & (prompts.lengths > 0)
    starts = starts_with(words, prompts)
    yield RowValues("parroting_exact", _among(starts & (words.lengths == prompts.lengths), counted))
    yield RowValues("parroting_start", _among(starts, counted))
    runs = longest_common_runs(prompts, words)
    yield RowValues("parroting_run", _among(runs / np.maximum(prompts.lengths, 1), counted))


def _among(values: np.ndarray, counted: Bools) -> Floats:
    return np.where(counted, values, np.nan)


def asked(answers: pa.Table) -> tuple[np.ndarray, int]:
    """The prompt of each response as a code, and the number of codes; without prompts, its template and descriptor."""
    if "prompt" in answers.column_names:
        prompts, code = encode(_known(answers["prompt"]))
        return code, len(prompts)
    templates, template = encode(answers["template"])
    descriptors, descriptor = encode(answers["descriptor"])
    return template * max(len(descriptors), 1) + descriptor, len(templates) * len(descriptors)


def _repeated(answers: pa.Table, answered: Bools) -> Bools:
    """Whether another prompt has the same response, letter by letter."""
    texts, text = encode(_known(answers["response"]))
    prompt, count = asked(answers)
    pairs = np.unique((text * max(count, 1) + prompt)[answered])
    prompts = np.bincount(pairs // max(count, 1), minlength=len(texts) + 1)
    found: Bools = answered & (prompts[text] > 1)
    return found
