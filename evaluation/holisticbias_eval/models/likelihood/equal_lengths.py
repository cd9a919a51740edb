"""Score whole sequences in batches of equal length, for models that cannot read a prefix tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.models.loading.memory import in_batches
from holisticbias_eval.models.prefix_tree import distinct_sequences
from holisticbias_eval.progress import Notice, Progress

MAX_LOGITS = 32_000_000


def token_likelihoods(model: Any, ids: Int32s, starts: Ints, progress: Progress, notice: Notice) -> Floats:
    """Negative log-likelihood of every token given the tokens before it, in nats; shape ``[tokens]``.

    The value of a sequence's first token is 0. Equal sequences are run once.
    ``progress`` is called with the number of distinct sequences done.
    """
    nll = np.zeros(len(ids))
    distinct, which = distinct_sequences(ids, starts)
    lengths = np.diff(starts)
    room = MAX_LOGITS // model.get_input_embeddings().num_embeddings
    for group in _groups(distinct, lengths):
        places = starts[group][:, None] + np.arange(lengths[group[0]])

        def run(start: int, stop: int, places: Ints = places) -> None:
            nll[places[start:stop, 1:]] = _batch(model, ids[places[start:stop]])
            progress(stop - start)

        in_batches(len(group), room // places.shape[1], run, notice)
    shift = starts[distinct][which] - starts[:-1]
    return nll[np.arange(len(ids)) + np.repeat(shift, lengths)]


def _groups(rows: Ints, lengths: Ints) -> list[Ints]:
    """Group rows by length, so that no padding is needed; rows without a token to score are left out."""
    rows = rows[lengths[rows] > 1]
    rows = rows[np.argsort(lengths[rows], kind="stable")]
    groups = np.split(rows, np.flatnonzero(np.diff(lengths[rows])) + 1)
    return [group for group in groups if len(group)]


def _batch(model: Any, ids: Int32s) -> Floats:
    """Negative log-likelihoods after the first token, of sequences of equal length; shape ``[rows, length - 1]``."""
    import torch

    inputs = torch.from_numpy(ids.astype(np.int64)).to(model.device)
    with torch.inference_mode():
        logits: Any = model(input_ids=inputs, use_cache=False).logits[:, :-1].float()
        # cross_entropy is less exact for a large vocabulary
        nll = logits.logsumexp(-1) - logits.gather(-1, inputs[:, 1:, None])[..., 0]
    values: Floats = nll.double().cpu().numpy()
    return values
