"""Choose the next token of every row: the likeliest one, or one drawn from the distribution that a decoding leaves.

A token is drawn as the one with the largest sum of score and Gumbel noise
(Gumbel-max), which is a draw from the softmax of the scores. Rounding changes the
draw only if two sums nearly agree, far more rarely than when the cumulative
distribution is inverted, whose every boundary moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from holisticbias_eval.arrays import Bools, Floats, Ints
from holisticbias_eval.models.generation.candidates import FIRST, find_candidates
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.noise import Words, gumbel_noise, tokens_above

if TYPE_CHECKING:
    from torch import Tensor


_MORE = 8
_SMALL = 4096  # tokens of a vocabulary for which all noise is computed


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen token of each row, shape ``[rows]``, and whether no change of scores within the margin changes it."""

    token: Ints
    sure: Bools


def choose_tokens(scores: Tensor, decoding: Decoding, seeds: Words, margin: float = 0.0) -> Choice:
    """Choose from float32 ``scores`` of shape ``[rows, vocabulary]``, with one seed of noise per row.

    Greedy takes the largest score, and of equal scores the smallest token id.
    ``margin`` is in units of scores.
    """
    if decoding.method == "greedy":
        largest = scores.topk(2).values.double()
        return Choice(scores.argmax(1).cpu().numpy(), (largest[:, 0] - largest[:, 1] > margin).cpu().numpy())
    if decoding.temperature != 1.0:
        scores, margin = scores / decoding.temperature, margin / decoding.temperature
    if decoding.top_k is None and (decoding.top_p is None or decoding.top_p >= 1.0):
        return _draw_from_all(scores, seeds, margin)
    return _draw_among_candidates(scores, decoding, seeds, margin, FIRST)


def _draw_among_candidates(scores: Tensor, decoding: Decoding, seeds: Words, margin: float, size: int) -> Choice:
    """Draw from what top-k and top-p leave; rows with more candidates than ``size`` are drawn again among more."""
    found = find_candidates(scores, decoding.top_k, decoding.top_p, margin, size)
    token, kept, doubtful = (part.cpu().numpy() for part in (found.token, found.kept, found.doubtful))
    summed = found.score.cpu().numpy() + gumbel_noise(seeds, token)
    best, gap = _largest(np.where(kept, summed, -np.inf), np.where(kept | doubtful, summed, -np.inf))
    row = np.arange(len(best))
    choice = Choice(token[row, best], (gap > margin) & ~doubtful[row, best])
    rest = np.flatnonzero(~found.complete.cpu().numpy())
    if len(rest):
        again = _draw_among_candidates(scores[rest], decoding, seeds[rest], margin, _MORE * size)
        choice.token[rest], choice.sure[rest] = again.token, again.sure
    return choice


def _largest(summed: Floats, rivals: Floats) -> tuple[Ints, Floats]:
    """The column of each row's largest sum, and by how much it exceeds the largest rival in another column."""
    row = np.arange(len(summed))
    best = summed.argmax(1)
    others = rivals.copy()
    others[row, best] = -np.inf
    return best, summed[row, best] - others.max(1)


def _draw_from_all(scores: Tensor, seeds: Words, margin: float) -> Choice:
    """Draw from all tokens: a token outside the likeliest ones needs much noise, and few tokens have it."""
    vocabulary = scores.shape[1]
    if vocabulary <= _SMALL:
        summed = scores.double().cpu().numpy() + gumbel_noise(seeds, np.arange(vocabulary)[None])
        token, gap = _largest(summed, summed)
        return Choice(token, gap > margin)
    head = scores.topk(min(FIRST, vocabulary))
    value, token = head.values.double().cpu().numpy(), head.indices.cpu().numpy()
    first = (value + gumbel_noise(seeds, token)).max(1)
    chosen, sure = np.zeros(len(seeds), np.int64), np.zeros(len(seeds), bool)
    for row, seed in enumerate(seeds):
        needed = first[row] - margin - value[row, -1]
        some = np.union1d(token[row], tokens_above(seed, vocabulary, needed))
        score = scores[row, some].double().cpu().numpy()
        summed = (score + gumbel_noise(seeds[row : row + 1], some[None])[0])[None]
        best, gap = _largest(summed, summed)
        chosen[row], sure[row] = some[best[0]], gap[0] > margin
    return Choice(chosen, sure)
