"""Score token sequences in batches: as packs of a prefix tree, or as whole sequences of equal length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Floats, Int32s, Ints, Tensor
from holisticbias_eval.models.loading.running import in_batches
from holisticbias_eval.models.sequences import Pack, Tree, cut_packs, distinct_sequences, equal_groups, place_nodes
from holisticbias_eval.progress import Notice, Progress

_TILE = 2048
_LOGITS_AT_ONCE = 16_000_000


@dataclass(frozen=True, slots=True)
class PackSize:
    """How much the model reads at once: ``slots`` per pack, and packs of up to ``batch`` slots together."""

    slots: int = 128
    batch: int = 1024


def tiled(model: Any, inputs: Any, kept: Tensor, state: Tensor, token: Tensor) -> Tensor:
    """Negative log-likelihoods from the model's body and its head in tiles; shape ``[choices]``."""
    hidden = model.base_model(**inputs)[0].flatten(0, 1)[kept]
    head = model.get_output_embeddings()
    normaliser = log_normalisers(hidden, head.weight, head.bias)
    return normaliser[state] - chosen_logits(hidden, head.weight, head.bias, state, token)


def through_the_model(model: Any, inputs: Any, kept: Tensor, state: Tensor, token: Tensor) -> Tensor:
    """The same from the whole model, for models with more than a linear head after the body."""
    import torch

    logits = model(**inputs).logits.flatten(0, 1)
    normaliser = torch.cat([logits[rows].float().logsumexp(1) for rows in torch.split(kept, 256)])
    nll: Tensor = normaliser[state] - logits[kept[state], token].float()
    return nll


HEADS = {"tiled head": tiled, "whole model": through_the_model}


def node_likelihoods(model: Any, tree: Tree, size: PackSize, head: str, progress: Progress, notice: Notice) -> Floats:
    """Negative log-likelihood of every node given its prefix, in nats; shape ``[nodes]``.

    The value of a root is 0. ``head`` is one of ``HEADS``. ``progress`` is called
    with the number of inner nodes done.
    """
    import torch

    nll = np.zeros(len(tree.token))
    packs = cut_packs(tree, size.slots)

    def run(start: int, stop: int) -> None:
        batch = packs[start:stop]
        with torch.inference_mode():
            nll[_edges(tree, batch)] = _forward(model, tree, batch, head)
        progress(batch[-1].stop - batch[0].first)

    in_batches(len(packs), _packs_at_once(model, size, head), run, notice)
    return nll


def _packs_at_once(model: Any, size: PackSize, head: str) -> int:
    slots = size.batch
    if head != "tiled head":
        slots = min(slots, _LOGITS_AT_ONCE // model.get_input_embeddings().num_embeddings)
    return max(1, slots // size.slots)


def _edges(tree: Tree, packs: Sequence[Pack]) -> Int32s:
    return tree.edge[tree.first_edge[packs[0].first] : tree.first_edge[packs[-1].stop]]


def _forward(model: Any, tree: Tree, packs: Sequence[Pack], head: str) -> Floats:
    """Negative log-likelihoods of the children of the packs' own nodes."""
    import torch

    place, kept = place_nodes(packs)
    edges = _edges(tree, packs)
    degrees = np.diff(tree.first_edge[packs[0].first : packs[-1].stop + 1])
    state = np.repeat(np.arange(len(degrees)), degrees)

    def on_device(array: npt.NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(model.device)

    nll = HEADS[head](
        model,
        tree.inputs(model, place),
        on_device(np.flatnonzero(kept)),
        on_device(state),
        on_device(tree.token[edges].astype(np.int64)),
    )
    values: Floats = nll.double().cpu().numpy()
    return values


def log_normalisers(hidden: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Log-sum-exp of all logits of each state, in float32; shape ``[states]``.

    ``hidden`` has shape ``[states, width]``, ``weight`` ``[vocabulary, width]``.
    The running sum over tiles is rescaled whenever a larger logit is found.
    """
    import torch

    largest = torch.full((len(hidden),), float("-inf"), device=hidden.device)
    total = torch.zeros_like(largest)
    buffer = torch.empty((len(hidden), _TILE), dtype=hidden.dtype, device=hidden.device)
    for start in range(0, len(weight), _TILE):
        part = weight[start : start + _TILE]
        logits = torch.matmul(hidden, part.T, out=buffer if len(part) == _TILE else None)
        if bias is not None:
            logits += bias[start : start + _TILE]
        scores = logits.float()
        peak = torch.maximum(largest, scores.amax(1))
        total = total * torch.exp(largest - peak) + scores.sub_(peak[:, None]).exp_().sum(1)
        largest = peak
    return largest + total.log()


def chosen_logits(hidden: Tensor, weight: Tensor, bias: Tensor | None, state: Tensor, token: Tensor) -> Tensor:
    """The logit of ``token[i]`` at state ``state[i]``, in float32; shape ``[choices]``."""
    logits = (hidden[state].float() * weight[token].float()).sum(1)
    return logits if bias is None else logits + bias[token].float()


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
    return following(model(input_ids=tokens, use_cache=False).logits, tokens)


def following(logits: Tensor, tokens: Tensor) -> Tensor:
    """Negative log-likelihoods of the tokens after the first, ``[rows, length - 1]``, from the logits of all tokens."""
    before = logits[:, :-1].float()
    # cross_entropy is less exact for a large vocabulary
    nll: Tensor = before.logsumexp(-1) - before.gather(-1, tokens[:, 1:, None])[..., 0]
    return nll
