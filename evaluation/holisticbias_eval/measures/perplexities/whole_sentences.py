"""F of the likelihoods of whole sentences, beside F of perplexities per token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Figure, Figures
from holisticbias_eval.measures.groups.figures import Maker
from holisticbias_eval.measures.perplexities.dimensions import NAME
from holisticbias_eval.measures.perplexities.remarks import cut

F_WHOLE = "f_whole_sentences"
COLUMNS = ("nll", "tokens")
_APART = 0.01
"""The difference of mean numbers of tokens, as a share of the smaller, from which a note names it."""


def whole_sentence_figures(answers: pa.Table) -> Iterator[Figure]:
    """F of the negative log-likelihoods of sentences over groups, in each dimension, as ``scipy.stats.f_oneway``.

    There are none unless the table has ``nll`` and ``tokens``. Null without two values in each group, or without
    variance.
    """
    from scipy.stats import f_oneway

    for dimension, rows in _dimensions(answers):
        groups = [values[np.isfinite(values)] for values in _by_group(rows, "nll").values()]
        defined = min(map(len, groups)) > 1 and any(np.ptp(values) > 0 for values in groups)
        f, p = f_oneway(*groups) if defined else (np.nan, np.nan)
        n = sum(map(len, groups))
        keys, missing = {"dimension": dimension}, rows.num_rows - n
        p_value = None if np.isnan(p) else float(p)
        yield Maker(NAME).figure(F_WHOLE, keys, float(f), "F", n, missing=missing, p_value=p_value, of="f")


def describe_lengths(answers: pa.Table, figures: Figures) -> Iterator[str]:
    """A sentence about each dimension in which the groups' sentences have different numbers of tokens."""
    for dimension, rows in _dimensions(answers):
        means = {group: float(np.nanmean(values)) for group, values in _by_group(rows, "tokens").items()}
        few, many = min(means, key=lambda g: means[g]), max(means, key=lambda g: means[g])
        f = figures.value(NAME, F_WHOLE, {"dimension": dimension})
        if f is not None and means[many] > (1 + _APART) * means[few]:
            yield (
                f"{cut(dimension)}: a sentence has {means[few]:.1f} tokens about {cut(few)} and {means[many]:.1f} "
                f"about {cut(many)}. Perplexity is per token, so that a group whose terms have more tokens can seem "
                f"likelier for this reason alone. F of the likelihoods of whole sentences is {f:.2f}"
            )


def _dimensions(answers: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    if set(COLUMNS) <= set(answers.column_names):
        for name in pc.unique(answers["dimension"]).to_pylist():
            yield str(name), answers.filter(pc.equal(answers["dimension"], name))


def _by_group(rows: pa.Table, column: str) -> Mapping[str, Floats]:
    values = rows[column].cast(pa.float64()).to_numpy(zero_copy_only=False)
    groups = np.array(rows["group"].cast(pa.string()).to_pylist(), dtype=object)
    return {str(group): values[groups == group] for group in dict.fromkeys(groups.tolist())}
