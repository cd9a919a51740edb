"""Choose the next token of every row: the likeliest one, or one drawn from the distribution that a decoding leaves.

A token is drawn as the one with the largest sum of score and Gumbel noise
(Gumbel-max), which is a draw from the softmax of the scores. Rounding changes the
draw only if two sums nearly agree, far more rarely than when the cumulative
distribution is inverted, whose every boundary moves.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from holisticbias.compile.random_words import random_number, random_words, random_words_at
from holisticbias_eval.arrays import Bools, Floats, Ints, Tensor
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.requests import PromptRequests

Words = npt.NDArray[np.uint64]
_BITS = 52  # with one more, the largest number would be rounded to 1


def step_seeds(seed: int, requests: PromptRequests, steps: int) -> Words:
    """A seed for each step of each response, shape ``[rows, steps]``.

    Each depends on seed, prompt, persona, sample and step alone.
    """
    seeds = np.empty((len(requests), steps), np.uint64)
    for row, (prompt, persona, sample) in enumerate(
        zip(requests.prompt, requests.persona, requests.sample.tolist(), strict=True)
    ):
        seeds[row] = random_words(_request_seed(seed, prompt, persona), sample, steps)
    return seeds


def gumbel_noise(seeds: Words, tokens: Ints) -> Floats:
    """Standard Gumbel noise of each token, shape ``[rows, tokens]``, for one seed per row."""
    return _gumbel(random_words_at(seeds, tokens))


def tokens_above(seed: np.uint64, vocabulary: int, noise: float) -> Ints:
    """The tokens whose noise is at least ``noise``, and at most a few more; the logarithms of the others are spared."""
    words = random_words_at(np.array([seed]), np.arange(vocabulary)[None])[0]
    least = int(np.exp(-np.exp(-noise)) * 2.0**_BITS) - 2
    return np.flatnonzero(words >> np.uint64(64 - _BITS) >= np.uint64(max(0, least)))


def _gumbel(words: npt.NDArray[Any]) -> Floats:
    uniform = ((words >> np.uint64(64 - _BITS)).astype(np.float64) + 0.5) * 2.0**-_BITS
    noise: Floats = -np.log(-np.log(uniform))
    return noise


def _request_seed(seed: int, prompt: str, persona: str) -> int:
    """The first bits of SHA-256 of seed, prompt and persona as JSON, in which no two requests are the same text."""
    return random_number(json.dumps([seed, prompt, persona]))


FIRST = 256  # how many of the likeliest tokens are looked at first
_ROWS_AT_ONCE = 32  # rows whose exponentials are in memory together


@dataclass(frozen=True, slots=True)
class Candidates:
    """Tokens to choose from; the fields have shape ``[rows, candidates]``.

    ``score`` is in float64. ``kept`` marks the tokens that remain, and ``doubtful``
    the tokens for which a change of scores by the margin could decide that. ``complete``, shape
    ``[rows]``, marks the rows in which no token is missing.
    """

    token: Tensor
    score: Tensor
    kept: Tensor
    doubtful: Tensor
    complete: Tensor


def find_candidates(scores: Tensor, top_k: int | None, top_p: float | None, margin: float, size: int) -> Candidates:
    """Apply top-k and then top-p to float32 scores of shape ``[rows, vocabulary]``, as transformers does.

    All tokens that equal the ``top_k``-th remain. A token remains if the likelier
    ones sum to less than ``top_p``; of equal tokens the larger id counts as
    likelier, where transformers leaves the order open. Without ``top_k`` only the
    ``size`` likeliest tokens are looked at.
    """
    found = _top_k(scores, top_k, margin) if top_k else _top_p(scores, top_p or 1.0, margin, size)
    if top_p is None or top_p >= 1.0 or not top_k:
        return found
    share = found.score.where(found.kept, -torch.inf).softmax(1)
    kept, doubtful = _within(found.score, share, top_p, margin)
    return Candidates(found.token, found.score, found.kept & kept, found.doubtful | doubtful, found.complete)


def _top_k(scores: Tensor, top_k: int, margin: float) -> Candidates:
    top_k = min(top_k, scores.shape[1])
    value, token = scores.topk(min(top_k + 1, scores.shape[1]))
    last = value[:, top_k - 1 : top_k]
    if bool((value[:, top_k:] >= last - margin).any()):  # more tokens are near the last one than topk returns
        value, token = scores.topk(int((scores >= last - margin).sum(1).max()))
    value, token = _ranked(value, token)
    near = (value - last).abs() <= margin
    return Candidates(
        token,
        value.double(),
        value >= last,
        near & (near.sum(1, keepdim=True) > 1),
        torch.ones_like(last[:, 0], dtype=torch.bool),
    )


def _top_p(scores: Tensor, top_p: float, margin: float, size: int) -> Candidates:
    peak = scores.amax(1, keepdim=True)
    parts = zip(torch.split(scores, _ROWS_AT_ONCE), torch.split(peak, _ROWS_AT_ONCE), strict=True)
    total = torch.cat([(part - largest).exp_().sum(1, keepdim=True, dtype=torch.float64) for part, largest in parts])
    value, token = _ranked(*scores.topk(min(size, scores.shape[1])))
    share = (value - peak).double().exp() / total
    held = share.where(value > value[:, -1:] + 2 * margin, 0.0).sum(1)  # tokens near the last one may be missing
    complete = (held >= top_p + margin) | (size >= scores.shape[1])
    return Candidates(token, value.double(), *_within(value.double(), share, top_p, margin), complete)


def _ranked(value: Tensor, token: Tensor) -> tuple[Tensor, Tensor]:
    """Scores and tokens by falling score, and equal ones by falling token id."""
    token, order = token.sort(dim=1, descending=True)
    value, order = value.gather(1, order).sort(dim=1, descending=True, stable=True)
    return value, token.gather(1, order)


def _within(value: Tensor, share: Tensor, top_p: float, margin: float) -> tuple[Tensor, Tensor]:
    """Masks of the ranked tokens that remain, and of the tokens that a change of scores could let in or out.

    Tokens whose scores differ by less than the margin may change places, so that
    the sum of the likelier ones lies between two bounds.
    """
    summed = torch.nn.functional.pad(share.cumsum(1), (1, 0))
    above = summed[:, :-1].clone()
    above[:, 0] = 0.0
    falling = -value
    least = summed.gather(1, torch.searchsorted(falling, falling - margin))
    most = summed.gather(1, torch.searchsorted(falling, falling + margin, right=True)) - share
    return above < top_p, (least - margin < top_p) & (top_p < most + margin)


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


MARGIN = 1e-3  # rounding changes scores in float32 by less, a few times 1e-5 in a trained model

Alone = Callable[[int], Any]
"""The scores of the next token of the row at a position of the batch, read alone; shape ``[vocabulary]``."""


class Chooser:
    """Applies a decoding and the limits of a response to the scores of a batch."""

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._decoding = decoding
        self._ending = ending
        self._margin = MARGIN if model.dtype.itemsize >= 4 else 0.0  # rounded weights would need too wide a margin

    def restrict(self, scores: Tensor, step: int, responses: Sequence[Sequence[int]]) -> Tensor:
        """A float32 copy of the scores with -inf for every token that may not come next."""
        scores = scores.float().clone()
        self._ending.mask(scores, step)
        if self._decoding.blocked_ngram:
            for row, response in enumerate(responses):
                scores[row, sorted(blocked_after(response, self._decoding.blocked_ngram))] = float("-inf")
        return scores

    def choose(self, scores: Tensor, step: int, seeds: Words, responses: Sequence[Sequence[int]], alone: Alone) -> Ints:
        """The next token of each row, after the tokens ``responses``; raises ``ModelError`` without finite scores."""
        restricted = self.restrict(scores, step, responses)
        choice = choose_tokens(restricted, self._decoding, seeds, self._margin)
        chosen = choice.token.copy()
        check_finite(restricted, chosen)
        if self._margin:
            for row in np.flatnonzero(~choice.sure).tolist():
                again = self.restrict(alone(row)[None], step, [responses[row]])
                chosen[row] = choose_tokens(again, self._decoding, seeds[row : row + 1]).token[0]
        return chosen


def check_finite(scores: Tensor, token: Ints) -> None:
    """Raise ``ModelError`` if a token was chosen whose score is not finite."""
    if not bool(scores.gather(1, torch.from_numpy(token)[:, None].to(scores.device)).isfinite().all()):
        raise ModelError(
            "the model gives no finite score for a next token: its weights or its precision are damaged, "
            "or the decoding blocks every token"
        )


def blocked_after(tokens: Sequence[int], length: int) -> set[int]:
    """The tokens that would repeat a sequence of ``length`` tokens if they followed ``tokens``."""
    start = len(tokens) - length + 1
    if start <= 0:
        return set()
    last = tuple(tokens[start:])
    return {tokens[i + length - 1] for i in range(start) if tuple(tokens[i : i + length - 1]) == last}
