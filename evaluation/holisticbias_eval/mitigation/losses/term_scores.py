"""Log-probabilities of the tokens of terms, with a gradient."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.utils.checkpoint import checkpoint
from transformers import DynamicCache

from holisticbias_eval.mitigation.validation import evaluating
from holisticbias_eval.models.generation.slots import with_cache

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
    model: Any, prepared: Mapping[str, torch.Tensor], layers: "Layers | None", rows: slice, inside: torch.Tensor
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


Layers = Sequence[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, ``[texts, heads, tokens, width]``, with a gradient."""

_PROBED = 4  # texts that are read in both ways
_UNABLE = (AttributeError, IndexError, NotImplementedError, RuntimeError, TypeError, ValueError)
_ABLE: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def read_prefixes(model: Any, prepared: Mapping[str, torch.Tensor]) -> Layers | None:
    """Read the texts before the mentions; null if the model does not keep all of them, or reads differently after them.

    Whether log-probabilities are the same is tried once for each model, with some of the further texts.
    """
    if model not in _ABLE:
        _ABLE[model] = _can_share(model, prepared)
    return _read(model, prepared) if _ABLE[model] else None


def _read(model: Any, prepared: Mapping[str, torch.Tensor]) -> Layers | None:
    ids, mask = prepared["prefix_ids"], prepared["prefix_mask"]
    read = model.base_model(input_ids=ids, attention_mask=mask, use_cache=True).past_key_values
    layers = [(layer.keys, layer.values) for layer in read.layers]
    whole = all(keys.shape[0] == ids.shape[0] and keys.shape[2] == ids.shape[1] for keys, _ in layers)
    return layers if whole else None


def read_terms(model: Any, layers: Layers, prepared: Mapping[str, torch.Tensor], rows: slice) -> torch.Tensor:
    """The logits of the further texts of ``rows``, from their terms' first tokens on: ``[texts, tokens, words]``.

    The text before a term ends where the term begins, in all rows, so that distances between tokens are those of the
    text, also for a model that attends to a window of tokens.
    """
    before, length = prepared["extra_before"][rows], prepared["extra_mask"][rows].sum(-1)
    places = before[:, None] - torch.arange(int(before.max()), 0, -1, device=before.device)
    term = before[:, None] + torch.arange(int((length - before).max()), device=before.device)
    position = term.minimum(length[:, None] - 1)
    text = prepared["extra_prefix"][rows][:, None]
    kept = [[states[text, :, places.clamp(min=0)].transpose(1, 2) for states in layer] for layer in layers]
    logits: torch.Tensor = model(
        input_ids=prepared["extra_ids"][rows].gather(1, position),
        attention_mask=torch.cat([places >= 0, term < length[:, None]], 1).long(),
        position_ids=position,
        **with_cache(model, DynamicCache(kept)),
    ).logits
    return logits


def _can_share(model: Any, prepared: Mapping[str, torch.Tensor]) -> bool:
    try:
        with evaluating(model), torch.no_grad():
            return _agree(model, prepared)
    except _UNABLE:
        return False


def _agree(model: Any, prepared: Mapping[str, torch.Tensor]) -> bool:
    rows = slice(max(0, len(prepared["extra_ids"]) - _PROBED), None)  # the longest
    ids, mask, before = (prepared[f"extra_{name}"][rows] for name in ("ids", "mask", "before"))
    layers = _read(model, prepared)
    if layers is None:
        return False
    found = read_terms(model, layers, prepared, rows)
    whole = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
    most = 1e-3 if torch.finfo(found.dtype).eps < 1e-5 else 0.1  # nats
    for i, (start, stop) in enumerate(zip(before.tolist(), mask.sum(-1).tolist(), strict=True)):
        one, other = found[i, : stop - start].log_softmax(-1), whole[i, start:stop].log_softmax(-1)
        if not torch.allclose(one, other, rtol=most, atol=most):
            return False
    return True
