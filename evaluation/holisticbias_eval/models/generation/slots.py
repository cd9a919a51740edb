"""A cache of keys and values in which every row's position has one slot, so that rows of different lengths fit.

A row's first token stands in slot 0 whatever the lengths of the other rows, and
a mask hides the slots that a row has not filled. Nothing is copied when a token
is added.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import Cache, DynamicLayer

from holisticbias_eval.arrays import Int32s, Ints, Tensor
from holisticbias_eval.models.sequences import Pack, Tree, bounds, build_tree, cut_packs, place_nodes

_PACK = 256  # slots read at once: a longer pack spends more on attention, a shorter one on repeated beginnings
_TOGETHER = 1024  # slots of all packs of one forward pass


class Slots(DynamicLayer):  # type: ignore[misc] # transformers has no types
    """Keys and values of one layer, shape ``[rows, heads, slots, width]``; made when the first ones come."""

    def __init__(self, slots: int) -> None:
        super().__init__()
        self._slots = slots
        self._width = 0
        self._row: Any = None
        self._slot: Any = None

    def fill(self, keys: Tensor, values: Tensor) -> None:
        """Take over what the rows have read, shape ``[rows, heads, read, width]``."""
        self._make(keys, values)
        read = keys.shape[2]
        self.keys[:, :, :read], self.values[:, :, :read] = keys, values

    def aim(self, row: Tensor, slot: Tensor, width: int) -> None:
        """Say in which slot the next token of each row stands, and how many slots are in use."""
        self._row, self._slot, self._width = row, slot, width

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Store one token of each row; return the slots in use."""
        if not self.is_initialized:
            self._make(key_states, value_states)
        self.keys[self._row, :, self._slot] = key_states[:, :, 0]
        self.values[self._row, :, self._slot] = value_states[:, :, 0]
        return self.keys[:, :, : self._width], self.values[:, :, : self._width]

    def get_seq_length(self) -> int:
        """The number of slots in use before the next token."""
        return max(0, self._width - 1)

    def _make(self, keys: Tensor, values: Tensor) -> None:
        """Make the slots: of zeros, because a hidden slot that is not a number would spoil its row."""
        self.dtype, self.device = keys.dtype, keys.device
        self.keys = keys.new_zeros((*keys.shape[:2], self._slots, keys.shape[3]))
        self.values = values.new_zeros((*values.shape[:2], self._slots, values.shape[3]))
        self.is_initialized = True


class SlotCache(Cache):  # type: ignore[misc] # transformers has no types
    """The slots of all layers of a model."""

    def __init__(self, layers: int, slots: int) -> None:
        super().__init__(layers=[Slots(slots) for _ in range(layers)])

    def fill(self, layer: int, keys: Tensor, values: Tensor) -> None:
        """Take over what the rows of one layer have read."""
        self.layers[layer].fill(keys, values)

    def aim(self, row: Tensor, slot: Tensor, width: int) -> None:
        """Say in which slot the next token of each row stands, and how many slots are in use."""
        for layer in self.layers:
            layer.aim(row, slot, width)


def layer_count(model: Any) -> int:
    """The number of layers with keys and values."""
    return int(model.config.get_text_config(decoder=True).num_hidden_layers)


def hidden_slots(slot: Tensor, width: int, dtype: Any) -> Tensor:
    """The additive mask that hides the slots after each row's own ``slot``; shape ``[rows, 1, 1, width]``."""
    seen = torch.arange(width, device=slot.device) <= slot[:, None]
    mask = torch.zeros(seen.shape, dtype=dtype, device=slot.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[:, None, None]


def read_prompts(model: Any, prompts: Sequence[Sequence[int]], cache: SlotCache) -> None:
    """Fill the cache with the keys and values of every prompt but its last token.

    The model reads each distinct beginning once; the last token of a prompt is
    for the first step of decoding.
    """
    lengths = np.array([len(prompt) for prompt in prompts])
    starts = bounds(lengths)
    tree = build_tree(np.array([token for prompt in prompts for token in prompt], np.int32), starts)
    if not tree.inner:
        return
    packs = cut_packs(tree, _PACK)
    together = max(1, _TOGETHER // _PACK)
    read = [_read(model, tree, packs[start : start + together]) for start in range(0, len(packs), together)]
    place = _places(tree, starts, lengths)
    for layer in range(len(cache.layers)):
        parts = [part.pop(0) for part in read]  # what was read is dropped layer by layer, as the cache fills
        both = [_nodes([part[which] for part in parts], place, model.device) for which in (0, 1)]
        cache.fill(layer, *both)


def with_cache(model: Any, cache: Cache) -> dict[str, Any]:
    """The arguments with which a model reads into a cache; transformers renamed one in 5.24."""
    name = "cache" if "cache" in signature(model.forward).parameters else "past_key_values"
    return {name: cache, "use_cache": True}


def _read(model: Any, tree: Tree, packs: Sequence[Pack]) -> list[tuple[Tensor, Tensor]]:
    """The keys and values of the packs' own nodes by layer, each of shape ``[nodes, heads, width]``."""
    from transformers import DynamicCache

    place, own = place_nodes(packs)
    cache = DynamicCache()
    model.base_model(**(tree.inputs(model, place) | with_cache(model.base_model, cache)))
    kept = torch.from_numpy(own).to(model.device)
    return [(layer.keys.transpose(1, 2)[kept], layer.values.transpose(1, 2)[kept]) for layer in cache.layers]


def _places(tree: Tree, starts: Ints, lengths: Ints) -> Ints:
    """The inner node of every prompt's tokens but the last, shape ``[rows, longest - 1]``; padded with node 0."""
    inner = _inner_positions(tree)
    place = np.zeros((len(lengths), int(lengths.max()) - 1), np.int64)
    for row, length in enumerate(lengths.tolist()):
        place[row, : length - 1] = inner[tree.node[starts[row] : starts[row] + length - 1]]
    return place


def _inner_positions(tree: Tree) -> Int32s:
    """Each node's position among the inner nodes; of no meaning for a leaf."""
    position = np.zeros(len(tree.token), np.int32)
    position[tree.edge[tree.first_edge[:-1]] - 1] = np.arange(tree.inner)  # a first child follows its parent
    return position


def _nodes(read: list[Tensor], place: Ints, device: Any) -> Tensor:
    """The keys or the values of a layer at these nodes, shape ``[rows, heads, slots, width]``."""
    nodes = torch.cat(read)
    return nodes[torch.from_numpy(place).to(device)].transpose(1, 2)
