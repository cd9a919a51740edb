"""The inputs with which a model reads packs of a prefix tree: tokens, positions, and a mask of ancestors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Bools, Ints
from holisticbias_eval.models.prefix_tree import Pack, Tree


def place_nodes(packs: Sequence[Pack]) -> tuple[Ints, Bools]:
    """The inner node in each slot, -1 in an empty slot, and which slots hold a pack's own nodes.

    Both have shape ``[packs, slots]``; a pack's path comes before its own nodes.
    """
    slots = [pack.slots() for pack in packs]
    width = max(map(len, slots))
    place = np.full((len(packs), width), -1, np.int64)
    own = np.zeros((len(packs), width), bool)
    for i, (pack, nodes) in enumerate(zip(packs, slots, strict=True)):
        place[i, : len(nodes)] = nodes
        own[i, len(pack.path) : len(nodes)] = True
    return place, own


def tree_inputs(model: Any, tree: Tree, place: Ints) -> dict[str, Any]:
    """The model's inputs: ids, depths as positions, and a mask with which a node sees its ancestors and itself.

    The mask is additive, because eager attention would add a boolean mask as
    numbers. An empty slot sees itself, so that no row of the softmax is empty.
    """
    import torch

    def on_device(array: npt.NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(array).to(model.device)

    empty = place < 0
    row = on_device(np.where(empty, tree.inner + np.arange(place.shape[1]), place))
    end = on_device(np.where(empty, tree.inner + 1 + np.arange(place.shape[1]), tree.end[place]))
    seen = (row[:, None, :] <= row[:, :, None]) & (row[:, :, None] < end[:, None, :])
    mask = torch.zeros(seen.shape, dtype=model.dtype, device=model.device)
    mask.masked_fill_(~seen, torch.finfo(model.dtype).min)
    return {
        "input_ids": on_device(np.where(empty, 0, tree.inner_token[place]).astype(np.int64)),
        "position_ids": on_device(np.where(empty, 0, tree.depth[place]).astype(np.int64)),
        "attention_mask": mask[:, None],
        "use_cache": False,
    }
