"""Try on a few requests whether a model writes the same in any batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.generation.generator import Sameness
from holisticbias_eval.generation.together import Prompts, Together
from holisticbias_eval.models.float64 import allowed_error, exactly, largest_difference
from holisticbias_eval.models.memory import one_line_for_errors

TRIED = 8
BATCH = 64  # the size of the batch in which they are tried
_FAILED = "cannot write responses of several lengths together"

Write = Callable[[Prompts], list[list[int]]]


def spread_rows(prompts: Prompts, count: int) -> Ints:
    """Rows spread over all lengths, the shortest and the longest included, without repetition."""
    lengths = [len(ids) for ids in prompts.ids]
    order = np.argsort(lengths, kind="stable")
    return np.unique(order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(np.int64)])


def why_not_together(together: Together, model: Any, prompts: Prompts, name: str) -> str | None:
    """The reason not to write these prompts in one batch; None if the model can do it.

    The likelihood of every response, as computed while it is written in the
    batch, is compared with one forward pass over prompt and response alone: the
    difference must not exceed what rounding explains, which a pass in float64 shows.
    """
    try:
        rows = together.rows(prompts, measure=True)
    except Exception:  # noqa: BLE001 - an architecture may refuse masks and positions with any error
        return _FAILED
    responses = [row.tokens for row in rows]
    with one_line_for_errors(name):
        plain = likelihoods_alone(model, prompts.ids, responses)
        reference, float64 = exactly(model, lambda: likelihoods_alone(model, prompts.ids, responses))
    error = largest_difference(np.array([row.log_likelihood for row in rows]), reference)
    allowed = allowed_error(plain, reference, float64=float64)
    if error <= allowed:
        return None
    return f"gives other likelihoods in one batch than alone, by {error:.2g} nats (rounding: {allowed:.2g})"


def likelihoods_alone(model: Any, prompts: Sequence[Sequence[int]], responses: Sequence[Sequence[int]]) -> Floats:
    """The log-likelihood of every response after its prompt in nats, each from one forward pass without a cache."""
    import torch

    values = np.zeros(len(prompts))
    for row, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        ids = torch.tensor([[*prompt, *response]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1]
        chosen = logits.double().log_softmax(1).gather(1, ids[0, len(prompt) :, None])
        values[row] = float(chosen.sum())
    return values


def same_in_batch(write: Write, few: Prompts, batch: Prompts) -> Sameness:
    """How many of a few responses are the same alone and in a batch, of which they are the first rows."""
    together = write(batch)
    same = sum(write(few.take(np.array([row])))[0] == together[row] for row in range(len(few.ids)))
    return Sameness(len(few.ids), same)
