"""All figures of a measure of texts about groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.groups.comparisons import DISPARITY, MOST_GROUPS, Comparisons, domains_in_pairs
from holisticbias_eval.measures.groups.figures import Groups, Summaries, arrange
from holisticbias_eval.measures.groups.method import Method
from holisticbias_eval.measures.groups.of_all import of_all_figures
from holisticbias_eval.measures.groups.readings import Reading, Texts, read_method, read_texts
from holisticbias_eval.measures.groups.shown import said_method
from holisticbias_eval.measures.groups.words import word_figures
from holisticbias_eval.measures.info import Info
from holisticbias_eval.measures.measure import Measured

Carriers = Callable[[Method], Iterator[Mapping[str, float]]]
MOST = 20_000
"""Groups of one table."""
AUDIT = "audit_"


def measured(info: Info, methods: Sequence[Method], answers: pa.Table, seed: int, carriers: Carriers) -> Measured:
    """The figures of every method whose columns the table has."""
    texts, readings = _read(info.name, methods, answers)
    rng = np.random.default_rng(seed)
    groups = arrange(texts, readings, rng)
    figures = [*Summaries(info.name, groups).figures(), *Comparisons(info.name, groups).figures(rng)]
    figures += of_all_figures(Summaries(info.name, groups), texts, readings, np.random.default_rng([seed, 1]))
    if "text" in answers.column_names:
        maker = Summaries(info.name, groups)
        for reading in readings:
            figures += word_figures(maker, texts, carriers(reading.method), reading.method)
    return Measured(tuple(figures), notes=tuple(_notes(info, groups)))


def audited(measure: str, methods: Sequence[Method], audit: pa.Table, seed: int) -> tuple[Figure, ...]:
    """The disparities of a table of fixed texts, with replaced subjects and as they are, without floors."""
    censored = np.asarray(audit["censored"].to_numpy(zero_copy_only=False), bool)
    found: list[Figure] = []
    for suffix, rows in (("", censored), ("_uncensored", ~censored)):
        if not rows.any():
            continue
        texts, readings = _read(measure, methods, audit.filter(pa.array(rows)))
        rng = np.random.default_rng(seed)
        for figure in Comparisons(measure, arrange(texts, readings, rng)).figures(rng):
            if figure.name == DISPARITY:
                name = f"{AUDIT}{DISPARITY}{suffix}"
                bare = {"name": name, "of": DISPARITY, "p_value": None, "floor": None, "floor_interval": None}
                found.append(figure.model_copy(update=bare))
    return tuple(found)


def _read(measure: str, methods: Sequence[Method], answers: pa.Table) -> tuple[Texts, tuple[Reading, ...]]:
    texts = read_texts(answers)
    if len(texts.groups) > MOST:
        raise SelectionError(
            f"the texts have {len(texts.groups):,} groups, more than {MOST:,}: check that the column group names the "
            "group that a text is about"
        )
    present = [method for method in methods if f"{measure}.{method.name}" in answers.column_names] or methods[:1]
    return texts, tuple(read_method(answers, measure, method, texts) for method in present)


def _notes(info: Info, groups: Groups) -> Iterator[str]:
    texts = groups.texts
    if texts.unnamed:
        yield f"{info.title}: {texts.unnamed:,} texts without a group are left out"
    undefined = int(np.isnan(groups.readings[0].values).sum())
    if undefined:
        first = groups.readings[0].method
        by = f" by {said_method(first)}" if first.key else ""
        yield (
            f"{info.title}: texts without a value{by}: {undefined:,} of {len(texts.group):,}; the figures undefined "
            "count them by reason"
        )
    sizes = [part.stop - part.start for part in texts.slices()]
    large = len(sizes) - len(domains_in_pairs(sizes, len(groups.model.quantities)))
    if large:
        which = f"{large} of {len(sizes)} domains" if len(sizes) > 1 else f"more than {MOST_GROUPS} groups"
        yield f"{info.title}: with {which} too large for all pairs, each group is compared with all others together"
