"""F1 and accuracy of candidates, with intervals over dialogues."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, divide
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.figures import Figure, make_figure
from holisticbias_eval.identity import CANDIDATES, align
from holisticbias_eval.statistics.cells import encode
from holisticbias_eval.statistics.groups.items import (
    DRAWS,
    Items,
    Resampled,
    add_up,
    paired_p,
    resampled_sums,
    summarise,
)

NAME = "dialogue_state"
F1, ACCURACY = "f1", "accuracy"
_NAMES = (F1, ACCURACY)


def task_figures(answers: pa.Table, seed: int) -> Iterator[Figure]:
    """F1 of label 1 and accuracy, with 95% intervals of a bootstrap of dialogues."""
    columns, known = _columns(answers)
    items = _items(answers, known, columns[known])
    found = _summary(_scores(items.group_sums()[0]), _scores(_drawn(items, seed)), items)
    n, missing = int(known.sum()), int((~known).sum())
    for i, name in enumerate(_NAMES):
        of = None if name == F1 else F1
        yield make_figure(NAME, name, {}, found.value[i], "share", n, missing, interval=found.ends(i), of=of)
    yield make_figure(NAME, "dialogues", {}, len(items.sums), "count", n, missing, of=F1)


def task_changes(first: pa.Table, second: pa.Table, seed: int) -> Iterator[Figure]:
    """The scores of both runs on the candidates that both have, and their change, paired by dialogue.

    Figures are named as in ``CHANGE_NAMES``; the key ``figure`` names the score. Raises ``SelectionError`` without a
    common candidate.
    """
    one, other = align(first, second, CANDIDATES).rows(first, second)
    (before, known), (after, also) = _columns(one), _columns(other)
    both = known & also
    items = _items(one, both, np.concatenate([before, after], axis=1)[both])
    total, drawn = items.group_sums()[0], _drawn(items, seed)
    values = _scores(total[:4]), _scores(total[4:])
    found = _summary(values[1] - values[0], _scores(drawn[:, 4:]) - _scores(drawn[:, :4]), items)
    p = paired_p(found, np.full(len(_NAMES), len(items.sums)))
    n, missing = int(both.sum()), int((~both).sum())
    for i, name in enumerate(_NAMES):
        keys = {"figure": name}
        for run, value in zip(("first", "second"), values, strict=True):
            yield make_figure(NAME, run, keys, value[i], "share", n, missing, of=name)
        yield make_figure(
            NAME, "change", keys, found.value[i], "share difference", n, missing, interval=found.ends(i),
            p_value=p[i], of=name,
        )  # fmt: skip


def _columns(answers: pa.Table) -> tuple[Floats, np.ndarray]:
    """For each candidate whether it is a true positive, a false positive, a false negative, and right; and if known."""
    probability = answers["probability"].cast(pa.float64()).to_numpy()
    known = ~np.isnan(probability)
    label, chosen = answers["label"].to_numpy() == 1, probability >= 0.5
    parts = (label & chosen, ~label & chosen, label & ~chosen, label == chosen)
    return np.stack(parts, axis=1).astype(float), known


def _items(answers: pa.Table, known: np.ndarray, columns: Floats) -> Items:
    if not known.any():
        raise SelectionError("no candidate has a probability: there is nothing to measure")
    _, dialogue = encode(answers["dialogue"])
    own = dialogue[known]
    return add_up(np.zeros(len(own), np.int64), own, columns, 1)


def _drawn(items: Items, seed: int) -> Floats:
    return next(resampled_sums(items, DRAWS, np.random.default_rng(seed)))


def _scores(sums: Floats) -> Floats:
    """F1 and accuracy of sums of ``_columns``: ``[..., 2]``; a candidate that is not right is false or missed."""
    true, false, missed, right = (sums[..., i] for i in range(4))
    return np.stack([divide(2 * true, 2 * true + false + missed), divide(right, right + false + missed)], axis=-1)


def _summary(value: Floats, drawn: Floats, items: Items) -> Resampled:
    return summarise(value, drawn, np.full(len(_NAMES), len(items.sums)))
