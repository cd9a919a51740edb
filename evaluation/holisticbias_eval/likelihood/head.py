"""Compute the output head on many hidden states in tiles of the vocabulary, without a table of all logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

TILE = 2048


def log_normalisers(hidden: Tensor, weight: Tensor, bias: Tensor | None, tile: int = TILE) -> Tensor:
    """Log-sum-exp of all logits of each state, in float32; shape ``[states]``.

    ``hidden`` has shape ``[states, width]``, ``weight`` ``[vocabulary, width]``.
    The running sum over tiles is rescaled whenever a larger logit is found.
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
