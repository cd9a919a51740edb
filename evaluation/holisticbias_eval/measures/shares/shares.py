"""Measure the share of descriptor pairs that differ."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from holisticbias_eval.arrays import map_in_threads
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.measures.measure import Settings
from holisticbias_eval.measures.shares.counts import count_cell, pool
from holisticbias_eval.measures.shares.figures import Share
from holisticbias_eval.measures.shares.pair_tables import pairs_table, tests_table
from holisticbias_eval.measures.shares.records import Trust
from holisticbias_eval.measures.shares.trust import measure_trust
from holisticbias_eval.statistics.cells import Compared, Crossing, cross
from holisticbias_eval.statistics.mannwhitney import PairwiseTests
from holisticbias_eval.statistics.pairs import pairwise_tests


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares by axis, by template and by both, with the tests behind them.

    ``tests`` is the table of ``tests_table`` and ``pairs`` that of ``pairs_table``.
    ``trust`` is missing if it was not requested or cannot be computed; in the
    second case ``note`` gives the reason.
    """

    by_axis: tuple[Share, ...]
    by_template: tuple[Share, ...]
    by_axis_and_template: tuple[Share, ...]
    tests: pa.Table
    pairs: pa.Table
    trust: Trust | None = None
    note: str | None = None


def compare_descriptors(crossing: Crossing) -> tuple[list[PairwiseTests], tuple[Share, ...]]:
    """Test the pairs of descriptors of each cell, and count the pairs that differ; see ``groups_of_rows``."""
    tests = list(map_in_threads(lambda cell: pairwise_tests(cell.values), crossing.cells))
    return tests, tuple(map(count_cell, crossing.cells, tests))


def measure_shares(scores: pa.Table, value: Compared = "perplexity", settings: Settings | None = None) -> Shares:
    """Count the pairs of descriptors that differ.

    For every pair of descriptors of an axis, in one template, a two-sided
    Mann-Whitney U test compares their sentences over nouns; the share is that of
    the pairs with p < 0.05. An axis's share is over the pairs of all its
    templates. As in the published procedure, the pairs of an axis and template
    are tested in one call, which makes a difference only with up to 8 nouns; see
    ``mann_whitney_pairs``. ``scores`` are those of ``cross``; rows without a value
    are left out. Without settings there is no ``trust``.

    Raises ``SelectionError`` if there is no row. Source: Smith et al. 2022, 2.3.2.
    """
    if not scores.num_rows:
        raise SelectionError("no sentence with a descriptor and a noun is left to measure")
    crossing = cross(scores, value)
    tests, cells = compare_descriptors(crossing)
    trust, effects, note = None, None, None
    if settings:
        try:
            trust, effects = measure_trust(crossing, tests, settings)
        except SelectionError as error:
            note = f"the trust figures cannot be computed: {error}"
    return Shares(
        by_axis=tuple(pool(cells, axis, None) for axis in crossing.axes),
        by_template=tuple(pool(cells, None, template) for template in crossing.templates),
        by_axis_and_template=cells,
        tests=tests_table(crossing, tests),
        pairs=pairs_table(crossing, tests, effects),
        trust=trust,
        note=note,
    )
