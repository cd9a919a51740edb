"""The change of every group from one run to another."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures import columns as col
from holisticbias_eval.measures.groups import figures as of_groups
from holisticbias_eval.measures.groups.comparisons import DISPARITY
from holisticbias_eval.measures.groups.figures import FROM_HUMAN, FROM_HUMAN_ADJUSTED, MEAN, SHARE, Groups
from holisticbias_eval.measures.groups.readings import TextMethod, read_method, read_texts
from holisticbias_eval.prompts.texts import HUMAN, MODEL, by_people
from holisticbias_eval.statistics.groups.pairs import disparity_changes
from holisticbias_eval.statistics.intervals import estimate

CHANGE, CHANGE_ADJUSTED = "change", "change_adjusted_p"
_NAMES = {
    FROM_HUMAN: CHANGE, FROM_HUMAN_ADJUSTED: CHANGE_ADJUSTED, SHARE: "second", MEAN: "second",
    f"{HUMAN}_{SHARE}": "first", f"{HUMAN}_{MEAN}": "first",
}  # fmt: skip
"""The figures of two runs in one table, the first of them in the place of human-written texts."""


def group_changes(
    measure: str, methods: Sequence[TextMethod], first: pa.Table, second: pa.Table, seed: int
) -> tuple[Figure, ...]:
    """Compute the change of every share and mean of the groups and domains that both runs have, and of disparities.

    Items that both runs have are paired: the bootstrap draws an item with its texts of both runs. ``change`` has a 95%
    interval and a two-sided p-value, ``change_adjusted_p`` is corrected over the groups of a domain (Holm 1979).
    Human-written texts are left out. Raises ``SelectionError`` without a common group or method.
    """
    shared = [m for m in methods if all(f"{measure}.{m.name}" in t.column_names for t in (first, second))]
    if not shared:
        raise SelectionError(f"the runs have no values of {measure} in common")
    both = _in_common(_together(measure, shared, first, second))
    texts = read_texts(both)
    readings = tuple(read_method(both, measure, method, texts) for method in shared)
    groups = of_groups.arrange(measure, texts, readings, np.random.default_rng(seed))
    made = tuple(_renamed(figure) for figure in of_groups.summary_figures(groups) if figure.name in _NAMES)
    return (*made, *_disparity_changes(groups, np.random.default_rng(seed)))


def _disparity_changes(groups: Groups, rng: np.random.Generator) -> Iterator[Figure]:
    """The disparity of both runs in every domain with several groups, and its change; the key ``figure`` names it."""
    parts = groups.texts.slices()
    every = disparity_changes(groups.items, parts, [side.layout.side for side in reversed(groups.sides)], rng)
    for part, (first, second, error, freedom) in zip(parts, every, strict=True):
        n = part.stop - part.start
        for q, quantity in enumerate(groups.quantities if n > 1 else ()):
            keys = {**groups.texts.domain_keys(part.start), **quantity.keys, "figure": DISPARITY}
            values, unit = (first[q], second[q]), quantity.difference_unit
            interval, p = estimate(second[q] - first[q], error[q], freedom[q])
            yield from col.change_figures(
                groups.measure, DISPARITY, keys, values, unit, n, interval=interval, p_value=p,
                limits=quantity.difference_limits,
            )  # fmt: skip


def _renamed(figure: Figure) -> Figure:
    of = CHANGE if figure.name == FROM_HUMAN_ADJUSTED else figure.of or figure.name.removeprefix(f"{HUMAN}_")
    return figure.model_copy(update={"name": _NAMES[figure.name], "of": of})


def _together(measure: str, methods: Sequence[TextMethod], first: pa.Table, second: pa.Table) -> pa.Table:
    """The texts of both models in one table; those of the first run stand as human-written texts."""
    types = {name: pa.string() for name in ("domain", "group", "item")}
    for name in (f"{measure}.{method.name}" for method in methods):
        types |= {name: pa.float64(), f"{name}.class": pa.string(), f"{name}.why": pa.string()}
    parts = []
    for table, source in ((first, HUMAN), (second, MODEL)):
        own = table.filter(pa.array(~by_people(table)))
        columns = {
            name: own[name].cast(kind) if name in own.column_names else pa.nulls(own.num_rows, kind)
            for name, kind in types.items()
        }
        parts.append(pa.table({**columns, "source": pa.array([source] * own.num_rows, pa.string())}))
    return pa.concat_tables(parts)


def _in_common(both: pa.Table) -> pa.Table:
    """The texts of groups that both runs have."""
    texts = read_texts(both)
    sides = [np.bincount(texts.group[side], minlength=len(texts.groups)) > 0 for side in (texts.human, ~texts.human)]
    shared = sides[0] & sides[1]
    if not shared.any():
        raise SelectionError("the runs have no group in common, or have it in different domains")
    return both.take(pa.array(texts.rows[shared[texts.group]]))
