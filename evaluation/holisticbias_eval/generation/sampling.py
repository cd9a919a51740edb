"""Choose the next token of every row: the likeliest one, or one drawn from the distribution that a decoding leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holisticbias_eval.generation.decoding import Decoding

if TYPE_CHECKING:
    from torch import Tensor

_FIRST_CANDIDATES = 256
_ROWS_AT_ONCE = 32  # rows whose whole distributions are held in float64


def choose_tokens(scores: Tensor, decoding: Decoding, uniform: Tensor) -> Tensor:
    """The next token of each row, shape ``[rows]``, from float32 ``scores``, shape ``[rows, vocabulary]``.

    Greedy takes the largest score, and of equal scores the smallest token id.
    Sampling inverts the cumulative distribution over token ids, in float64, at
    ``uniform``, float64 numbers in [0, 1) of shape ``[rows]``.
    """
    import torch

    if decoding.method == "greedy":
        return scores.argmax(1)  # the first of equal scores
    if decoding.temperature != 1.0:
        scores = scores / decoding.temperature
    if decoding.top_k is None and (decoding.top_p is None or decoding.top_p == 1.0):
        parts = zip(scores.split(_ROWS_AT_ONCE), uniform.split(_ROWS_AT_ONCE), strict=True)
        return torch.cat([_invert(part.double().softmax(1), numbers) for part, numbers in parts])
    probabilities, token = candidates(scores, decoding.top_k, decoding.top_p)
    token, order = token.sort(1)
    return token.gather(1, _invert(probabilities.gather(1, order), uniform)[:, None])[:, 0]


def candidates(scores: Tensor, top_k: int | None, top_p: float | None) -> tuple[Tensor, Tensor]:
    """The tokens that remain after top-k and then top-p: probabilities in float64 and token ids.

    Both have shape ``[rows, candidates]``; a token that is left out has the
    probability 0. As in transformers, all tokens that equal the ``top_k``-th stay, and
    a token stays if the likelier ones sum to less than ``top_p``; of equal
    tokens the larger id counts as likelier.
    """
    value, token = _top_k(scores, top_k) if top_k else _top_p(scores, top_p or 1.0)
    token, order = token.sort(1, descending=True)
    value, order = value.gather(1, order).sort(dim=1, descending=True, stable=True)
    token = token.gather(1, order)
    probabilities = value.double().softmax(1) if top_k else (value.double() - _normaliser(scores)).exp()
    if top_p is not None and top_p < 1.0:
        above = probabilities.cumsum(1) - probabilities
        above[:, 0] = 0.0
        probabilities = probabilities.masked_fill(above >= top_p, 0.0)
    return probabilities / probabilities.sum(1, keepdim=True), token


def _top_k(scores: Tensor, top_k: int) -> tuple[Tensor, Tensor]:
    """The largest scores and their tokens, with every token that equals the last of them; -inf pads."""
    import torch

    top_k = min(top_k, scores.shape[1])
    value, token = scores.topk(min(top_k + 1, scores.shape[1]))
    last = value[:, top_k - 1 : top_k]
    if bool((value[:, top_k:] == last).any()):  # more tokens equal the last one than topk returns
        value, token = scores.topk(int((scores >= last).sum(1).max()))
    return torch.where(value >= last, value, -torch.inf), token


def _top_p(scores: Tensor, top_p: float) -> tuple[Tensor, Tensor]:
    """The largest scores and their tokens, enough in every row to hold the probability ``top_p`` and its ties."""
    normaliser = _normaliser(scores)
    size = min(_FIRST_CANDIDATES, scores.shape[1])
    while True:
        value, token = scores.topk(size)
        within = value > value[:, -1:]  # tokens that equal the last one may be incomplete
        held = (value.double() - normaliser).exp().where(within, 0.0).sum(1)
        if size == scores.shape[1] or bool((held >= top_p).all()):
            return value, token
        size = min(8 * size, scores.shape[1])


def _normaliser(scores: Tensor) -> Tensor:
    """Log-sum-exp of every row in float64, shape ``[rows, 1]``, without a float64 copy of all scores."""
    import torch

    return torch.cat([part.double().logsumexp(1, keepdim=True) for part in scores.split(_ROWS_AT_ONCE)])


def _invert(probabilities: Tensor, uniform: Tensor) -> Tensor:
    """The first column whose cumulative probability exceeds ``uniform``, shape ``[rows]``."""
    import torch

    cumulative = probabilities.cumsum(1)
    total = cumulative[:, -1:].contiguous()
    found = torch.searchsorted(cumulative, uniform[:, None].to(cumulative) * total, right=True)
    last = torch.searchsorted(cumulative, total)  # the product may be rounded up to the total
    return torch.minimum(found, last)[:, 0]
