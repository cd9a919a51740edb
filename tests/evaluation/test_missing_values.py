"""One missing perplexity: the effect in the published procedure, and in the measures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.stats import mannwhitneyu

from holisticbias_eval.measures.descriptors.terms import HATE, LOVE
from holisticbias_eval.measures.love_hate import measure_love_hate
from holisticbias_eval.measures.shares.shares import measure_shares
from holisticbias_eval.statistics.medians import group_medians

# five nouns each; the three descriptors do not overlap in either template
SAMPLES = {
    LOVE: {"aged": [21.0, 22, 23, 24, 25], "old": [11.0, 12, math.nan, 14, 15], "young": [1.0, 2, 3, 4, 5]},
    HATE: {"aged": [1.0, 2, 3, 4, 5], "old": [11.0, 12, 13, 14, 15], "young": [21.0, 22, 23, 24, 25]},
}


def published() -> tuple[dict[str, float], dict[tuple[str, str], float], dict[str, float]]:
    """Shares by template, medians, and love-hate differences as the published procedure computes them, step by step."""
    shares: dict[str, float] = {}
    medians: dict[tuple[str, str], float] = {}
    below: dict[str, dict[str, float]] = {}
    for template, cell in SAMPLES.items():
        pairs = list(itertools.combinations(sorted(cell), 2))
        first, second = (np.array([cell[pair[side]] for pair in pairs]) for side in (0, 1))
        p = mannwhitneyu(first, second, axis=1).pvalue
        shares[template] = float(pd.Series((p < 0.05).astype(int)).mean())
        medians |= {(template, name): float(np.median(values)) for name, values in cell.items()}
        overall = np.median([value for values in cell.values() for value in values])
        below[template] = {n: sum(v < overall for v in values) / len(values) for n, values in cell.items()}
    return shares, medians, {name: below[LOVE][name] - below[HATE][name] for name in SAMPLES[LOVE]}


def scores() -> pa.Table:
    rows = [
        {
            "axis": "age",
            "template": template,
            "descriptor_id": name,
            "descriptor": name,
            "noun_id": str(noun),
            "perplexity": value,
        }
        for template, cell in SAMPLES.items()
        for name, values in cell.items()
        for noun, value in enumerate(values)
    ]
    return pa.Table.from_pylist(rows)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_the_published_procedure_lets_one_missing_value_spread() -> None:
    shares, medians, differences = published()
    # both pairs of the descriptor count as not different, and stay in the denominator
    assert shares == {LOVE: pytest.approx(1 / 3), HATE: 1.0}
    assert [key for key, median in medians.items() if math.isnan(median)] == [(LOVE, "old")]
    # nothing lies below a median that is NaN: the share of love is 0 for every descriptor, not for "old" alone
    assert differences == {"aged": -1.0, "old": pytest.approx(-0.4), "young": 0.0}


def test_the_measures_leave_out_the_sentence_alone() -> None:
    found = {s.template: (s.share, s.pairs, s.untested) for s in measure_shares(scores()).by_template}
    assert found == {LOVE: (1.0, 3, 0), HATE: (1.0, 3, 0)}
    medians = {(r["template"], r["descriptor"]): r["median"] for r in group_medians(scores()).to_pylist()}
    _, theirs, _ = published()
    assert medians == {**theirs, (LOVE, "old"): 13.0}
    # love: the median of the 14 known values is 13; two of the four values of "old" are below it
    differences = {r["descriptor"]: r["difference"] for r in measure_love_hate(scores()).to_pylist()}
    assert differences == {"aged": -1.0, "old": pytest.approx(0.5 - 0.4), "young": 1.0}
