"""A cache of keys and values in which every row's position has one slot, so that rows of different lengths fit.

A row's first token stands in slot 0 whatever the lengths of the other rows, and
a mask hides the slots that a row has not filled. Nothing is copied when a token
is added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers.cache_utils import Cache, DynamicLayer

if TYPE_CHECKING:
    from torch import Tensor


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

    def keep(self, rows: Tensor) -> None:
        """Keep these rows alone, in this order."""
        self.batch_select_indices(rows)


def layer_count(model: Any) -> int:
    """The number of layers with keys and values."""
    return int(model.config.get_text_config(decoder=True).num_hidden_layers)


def hidden_slots(slot: Tensor, width: int, dtype: Any) -> Tensor:
    """The additive mask that hides the slots after each row's own ``slot``; shape ``[rows, 1, 1, width]``."""
    import torch

    seen = torch.arange(width, device=slot.device) <= slot[:, None]
    mask = torch.zeros(seen.shape, dtype=dtype, device=slot.device)
    return mask.masked_fill_(~seen, torch.finfo(dtype).min)[:, None, None]
