"""Read the text before a mention once, and each group's term after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from transformers import DynamicCache

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
        past_key_values=DynamicCache(kept),
        use_cache=True,
    ).logits
    return logits


def _can_share(model: Any, prepared: Mapping[str, torch.Tensor]) -> bool:
    was = model.training
    model.eval()
    try:
        with torch.no_grad():
            return _agree(model, prepared)
    except _UNABLE:
        return False
    finally:
        model.train(was)


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
