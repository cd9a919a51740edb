"""Compare a fast way of scoring with the plain one, on some texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.tokens import (
    Encoded,
    pick,
    span_scores,
)
from holisticbias_eval.models.loading.float64 import exactly, largest_difference
from holisticbias_eval.models.loading.memory import one_line_for_errors
from holisticbias_eval.models.sequences import bounds

Likelihoods = Callable[[Encoded], Floats]

_HINDSIGHT = 1e-4  # nats per token: rounding differs by less, a look ahead by more


def spread(encoded: Encoded, count: int) -> list[int]:
    """Rows spread over all lengths, the shortest and the longest included."""
    order = np.argsort(encoded.lengths, kind="stable")
    return sorted({int(order[i]) for i in np.linspace(0, len(order) - 1, count).astype(int)}) if len(order) else []


def plain_sums(few: Encoded, plain: Likelihoods, name: str) -> Floats:
    """Negative log-likelihood of each text, read alone in the model's precision; shape ``[texts]``, nats.

    Raises ``ModelError`` if the model cannot read the texts, or gives no finite likelihoods.
    """
    with one_line_for_errors(name):
        sums = span_scores(few, plain(few)).nll
    broken = int(np.count_nonzero(~np.isfinite(sums)))
    if broken:
        raise ModelError(
            f"{name} gives no finite likelihood for {broken} of {len(sums)} texts tried: "
            "its weights or its precision are damaged"
        )
    return sums


def reference_sums(few: Encoded, plain: Likelihoods, model: Any, name: str) -> tuple[Floats, bool]:
    """The same in float64, and whether float64 was possible: some devices and kernels lack it.

    Raises ``ModelError`` if the likelihood of a token depends on the tokens after it.
    """
    shorter = _without_last(few)
    with one_line_for_errors(name):
        (values, before), float64 = exactly(model, lambda: (plain(few), plain(shorter)))
    if np.any(np.abs(values[_all_but_last(few)] - before) > _HINDSIGHT):
        raise ModelError(
            f"{name} uses the words after a word to predict it, so it is not a causal model; "
            "score a masked model with --kind masked"
        )
    return span_scores(few, values).nll, float64


def largest_error(many: Encoded, expected: Floats, tree: Likelihoods) -> float:
    """The largest error of a method on the first texts, in nats; infinite if it fails."""
    try:
        sums = span_scores(many, tree(many)).nll
    except Exception:  # noqa: BLE001 - an architecture may refuse a tree with any error
        return np.inf
    return largest_difference(sums[: len(expected)], expected)


@contextmanager
def in_float32(model: Any) -> Iterator[None]:
    """Run a model with rounded weights in float32 within the block, so that small faults show."""
    rounded = [(parameter, parameter.data) for parameter in model.parameters()]
    for parameter, data in rounded:
        parameter.data = data.float()
    try:
        yield
    finally:
        for parameter, data in rounded:
            parameter.data = data


def _all_but_last(few: Encoded) -> np.ndarray[Any, np.dtype[np.bool_]]:
    kept = np.ones(len(few.ids), bool)
    kept[few.starts[1:][few.lengths > 0] - 1] = False
    return kept


def _without_last(few: Encoded) -> Encoded:
    """The same texts, each without its last token."""
    starts = bounds(np.maximum(few.lengths - 1, 0))
    shorter = Encoded(few.ids[_all_but_last(few)], starts, starts[:-1], starts[1:], few.bytes)
    return pick(shorter, range(len(few.lengths)))
