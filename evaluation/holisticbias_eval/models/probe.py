"""What a causal model can do, tried on a few texts before the first are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.batches import one_line_for_errors
from holisticbias_eval.models.likelihoods import span_scores
from holisticbias_eval.models.tokens import Encoded, pick
from holisticbias_eval.scoring import Floats

Likelihoods = Callable[[Encoded], Floats]

_PER_TEXT = 1e-4
_HINDSIGHT = 1e-4  # nats a token: the same sums over more tokens differ by less, a look ahead by more


def spread(encoded: Encoded, count: int) -> list[int]:
    """The longest text, the shortest, and some in between."""
    order = np.argsort(encoded.lengths, kind="stable")
    return sorted({int(order[i]) for i in np.linspace(0, len(order) - 1, count).astype(int)}) if len(order) else []


def plain_likelihoods(few: Encoded, plain: Likelihoods, name: str) -> Floats:
    """The likelihoods of a few texts, each read as it stands.

    Raises ``ModelError`` for a model that cannot read them, and for one whose
    likelihood of a token hangs on the tokens after it.
    """
    with one_line_for_errors(name):
        values, before = plain(few), plain(_without_last(few))
    kept = np.ones(len(values), bool)
    kept[few.starts[1:][few.lengths > 0] - 1] = False
    if np.any(np.abs(values[kept] - before) > _HINDSIGHT):
        raise ModelError(
            f"{name} judges a word by the words after it too: it is no causal model as it stands; "
            "score a masked model with --kind masked"
        )
    return values


def agrees(many: Encoded, expected: Floats, tree: Likelihoods) -> bool:
    """Whether a way of reading the tree of texts gives the first of them the sums of their expected likelihoods."""
    try:
        found = span_scores(many, tree(many)).nll[: len(expected)]
    except Exception:  # noqa: BLE001 - an architecture may refuse a tree in any way it likes
        return False
    return bool(np.all(np.abs(found - expected) <= _PER_TEXT))


@contextmanager
def in_float32(model: Any) -> Iterator[None]:
    """A model in rounded numbers calculates in float32 meanwhile: only then do small faults show."""
    rounded = [(parameter, parameter.data) for parameter in model.parameters()]
    for parameter, data in rounded:
        parameter.data = data.float()
    try:
        yield
    finally:
        for parameter, data in rounded:
            parameter.data = data


def _without_last(few: Encoded) -> Encoded:
    """The same texts, each without its last token."""
    kept = np.ones(len(few.ids), bool)
    kept[few.starts[1:][few.lengths > 0] - 1] = False
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.maximum(few.lengths - 1, 0))))
    return pick(Encoded(few.ids[kept], starts, starts[:-1], starts[1:], few.bytes), range(len(few.lengths)))
