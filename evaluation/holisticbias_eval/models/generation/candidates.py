"""The tokens that top-k and top-p leave to choose from, found without sorting the vocabulary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


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


def find_candidates(
    scores: Tensor, top_k: int | None, top_p: float | None, margin: float, size: int = FIRST
) -> Candidates:
    """Apply top-k and then top-p to float32 scores of shape ``[rows, vocabulary]``, as transformers does.

    All tokens that equal the ``top_k``-th remain. A token remains if the likelier
    ones sum to less than ``top_p``; of equal tokens the larger id counts as
    likelier, where transformers leaves the order open. Without ``top_k`` only the
    ``size`` likeliest tokens are looked at.
    """
    import torch

    found = _top_k(scores, top_k, margin) if top_k else _top_p(scores, top_p or 1.0, margin, size)
    if top_p is None or top_p >= 1.0 or not top_k:
        return found
    share = found.score.where(found.kept, -torch.inf).softmax(1)
    kept, doubtful = _within(found.score, share, top_p, margin)
    return Candidates(found.token, found.score, found.kept & kept, found.doubtful | doubtful, found.complete)


def _top_k(scores: Tensor, top_k: int, margin: float) -> Candidates:
    import torch

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
    import torch

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
    import torch

    summed = torch.nn.functional.pad(share.cumsum(1), (1, 0))
    above = summed[:, :-1].clone()
    above[:, 0] = 0.0
    falling = -value
    least = summed.gather(1, torch.searchsorted(falling, falling - margin))
    most = summed.gather(1, torch.searchsorted(falling, falling + margin, right=True)) - share
    return above < top_p, (least - margin < top_p) & (top_p < most + margin)
