"""Log-probabilities of the tokens of terms, with a gradient."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from holisticbias_eval.mitigation.term_prefixes import Layers, read_prefixes, read_terms

_FEWEST_TOKENS = 1024
"""A pass over further texts has at least this many tokens, however small the batch."""


def term_log_probabilities(model: Any, logits: torch.Tensor, prepared: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The log-probability of each group's term in the place of a mention, shape ``[mentions, groups]``, in nats.

    It is the sum over the term's tokens, each given the text before it. ``logits``, shape ``[texts, tokens, words]``,
    are those of the batch; ``prepared`` is made by ``TermReader``. Tokens that follow another text than that of the
    batch are scored in further passes: each is as large as the batch at most (or 1,024 tokens), and if there are
    several, they are computed again for the gradient, so that memory does not grow with the number of terms. The text
    before a mention is read once for all groups, if the model can keep what it has read.
    """
    present = prepared["present"]
    scores = _picked(logits, prepared["row"], prepared["position"], prepared["token"])
    total = scores.new_zeros(present.numel()).index_add(0, prepared["cell"], scores)
    for cells, values in _further(model, logits.shape[0] * logits.shape[1], prepared):
        total = total.index_add(0, cells, values)
    return total.view(present.shape)


def _further(
    model: Any, tokens: int, prepared: Mapping[str, torch.Tensor]
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    ids = prepared["extra_ids"]
    if not len(ids):
        return
    rows = max(tokens, _FEWEST_TOKENS) // ids.shape[1] or 1
    again = len(ids) > rows and torch.is_grad_enabled()
    layers = read_prefixes(model, prepared)
    for start in range(0, len(ids), rows):
        inside = (prepared["extra_row"] >= start) & (prepared["extra_row"] < start + rows)
        given = model, prepared, layers, slice(start, start + rows), inside
        values = checkpoint(_scored, *given, use_reentrant=False) if again else _scored(*given)
        yield prepared["extra_cell"][inside], values


def _scored(
    model: Any, prepared: Mapping[str, torch.Tensor], layers: Layers | None, rows: slice, inside: torch.Tensor
) -> torch.Tensor:
    """The log-probabilities of the tokens ``inside`` the further texts of ``rows``."""
    row, position, token = (prepared[f"extra_{key}"][inside] for key in ("row", "position", "token"))
    if layers is not None:
        position = position - prepared["extra_before"][row]
        return _picked(read_terms(model, layers, prepared, rows), row - rows.start, position, token)
    mask = prepared["extra_mask"][rows]
    mask = mask[:, : int(mask.sum(-1).max())]
    ids = prepared["extra_ids"][rows, : mask.shape[1]]
    logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    return _picked(logits, row - rows.start, position, token)


def _picked(logits: torch.Tensor, row: torch.Tensor, position: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
    """The log-probability of each token at a position; half precisions are widened to float32."""
    chosen = logits[row, position]
    chosen = chosen.to(torch.promote_types(chosen.dtype, torch.float32))
    return chosen.gather(-1, token[:, None])[:, 0] - chosen.logsumexp(-1)
