"""Score whole sequences in batches of equal length, which need no padding; equal sequences are run once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.models.loading.memory import in_batches
from holisticbias_eval.models.sequences import distinct_sequences, equal_groups
from holisticbias_eval.progress import Notice, Progress

if TYPE_CHECKING:
    from torch import Tensor

MAX_LOGITS = 32_000_000


def in_equal_batches(lengths: Ints, slots: int, run: Callable[[Ints], object], notice: Notice) -> None:
    """Call ``run`` with rows of one length, which need no padding: about ``slots`` tokens at once."""
    for group in equal_groups(lengths):

        def part(start: int, stop: int, group: Ints = group) -> None:
            run(group[start:stop])

        in_batches(len(group), slots // max(1, int(lengths[group[0]])), part, notice)


def token_likelihoods(model: Any, ids: Int32s, starts: Ints, progress: Progress, notice: Notice) -> Floats:
    """Negative log-likelihood of every token given the tokens before it, in nats; shape ``[tokens]``.

    The value of a sequence's first token is 0. ``progress`` is called with the number of sequences done.
    """
    room = MAX_LOGITS // model.get_input_embeddings().num_embeddings
    return in_equal_lengths(model.device, partial(_likelihoods, model), room, ids, starts, progress, notice)


def in_equal_lengths(
    device: Any,
    likelihoods: Callable[[Tensor], Tensor],
    room: int,
    ids: Int32s,
    starts: Ints,
    progress: Progress,
    notice: Notice,
) -> Floats:
    """The same from a function of sequences of one length, which gives the values after their first tokens.

    ``likelihoods`` takes ids of shape ``[rows, length]``; ``room`` is the most tokens of a batch.
    """
    import torch

    nll = np.zeros(len(ids))
    distinct, which = distinct_sequences(ids, starts)
    lengths, counts = np.diff(starts), np.bincount(which)

    def run(rows: Ints) -> None:
        places = starts[distinct[rows]][:, None] + np.arange(lengths[distinct[rows[0]]])
        if places.shape[1] < 2:
            return
        tokens = torch.from_numpy(ids[places].astype(np.int64)).to(device)
        with torch.inference_mode():
            nll[places[:, 1:]] = likelihoods(tokens).double().cpu().numpy()
        progress(int(counts[rows].sum()))

    in_equal_batches(lengths[distinct], room, run, notice)
    shift = starts[distinct][which] - starts[:-1]
    return nll[np.arange(len(ids)) + np.repeat(shift, lengths)]


def _likelihoods(model: Any, tokens: Tensor) -> Tensor:
    logits: Any = model(input_ids=tokens, use_cache=False).logits[:, :-1].float()
    # cross_entropy is less exact for a large vocabulary
    nll: Tensor = logits.logsumexp(-1) - logits.gather(-1, tokens[:, 1:, None])[..., 0]
    return nll
