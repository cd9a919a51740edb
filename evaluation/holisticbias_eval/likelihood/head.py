"""The output head on many hidden states, in tiles of the vocabulary: no table of logits ever stands in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

TILE = 2048


def log_normalisers(hidden: Tensor, weight: Tensor, bias: Tensor | None, tile: int = TILE) -> Tensor:
    """The logarithm of the sum of the exponentials of all logits of each state, in float32; shape ``[states]``.

    ``hidden`` has shape ``[states, width]``, ``weight`` ``[vocabulary, width]``.
    Online over tiles: the running sum is rescaled when a larger logit turns up.
    """
    import torch

    largest = torch.full((len(hidden),), float("-inf"), device=hidden.device)
    total = torch.zeros_like(largest)
    buffer = torch.empty((len(hidden), tile), dtype=hidden.dtype, device=hidden.device)
    for start in range(0, len(weight), tile):
        part = weight[start : start + tile]
        logits = torch.matmul(hidden, part.T, out=buffer if len(part) == tile else None)
        if bias is not None:
            logits += bias[start : start + tile]
        scores = logits.float()
        peak = torch.maximum(largest, scores.amax(1))
        total = total * torch.exp(largest - peak) + scores.sub_(peak[:, None]).exp_().sum(1)
        largest = peak
    return largest + total.log()


def chosen_logits(hidden: Tensor, weight: Tensor, bias: Tensor | None, state: Tensor, token: Tensor) -> Tensor:
    """The logit of ``token[i]`` at state ``state[i]``, in float32; shape ``[choices]``."""
    logits = (hidden[state].float() * weight[token].float()).sum(1)
    return logits if bias is None else logits + bias[token].float()
