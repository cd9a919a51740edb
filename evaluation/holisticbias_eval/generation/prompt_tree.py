"""Read the prompts of a batch: every shared beginning once, as a prefix tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.arrays import Int32s, Ints
from holisticbias_eval.models.prefix_tree import Pack, Tree, build_tree, cut_packs
from holisticbias_eval.models.tree_inputs import place_nodes, tree_inputs

if TYPE_CHECKING:
    from torch import Tensor

    from holisticbias_eval.generation.slots import SlotCache

_PACK = 256  # slots read at once: a longer pack spends more on attention, a shorter one on repeated beginnings
_TOGETHER = 1024  # slots of all packs of one forward pass


def read_prompts(model: Any, prompts: Sequence[Sequence[int]], cache: SlotCache) -> None:
    """Fill the cache with the keys and values of every prompt but its last token.

    The model reads each distinct beginning once; the last token of a prompt is
    for the first step of decoding.
    """
    lengths = np.array([len(prompt) for prompt in prompts])
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    tree = build_tree(np.array([token for prompt in prompts for token in prompt], np.int32), starts)
    if not tree.inner:
        return
    packs = cut_packs(tree, _PACK)
    together = max(1, _TOGETHER // _PACK)
    read = [_read(model, tree, packs[start : start + together]) for start in range(0, len(packs), together)]
    place = _places(tree, starts, lengths)
    for layer in range(len(cache.layers)):
        both = [_nodes(read, layer, which, place, model.device) for which in (0, 1)]
        cache.fill(layer, *both)


def _read(model: Any, tree: Tree, packs: Sequence[Pack]) -> list[tuple[Tensor, Tensor]]:
    """The keys and values of the packs' own nodes by layer, each of shape ``[nodes, heads, width]``."""
    import torch
    from transformers import DynamicCache

    place, own = place_nodes(packs)
    cache = DynamicCache()
    inputs = tree_inputs(model, tree, place) | {"use_cache": True, "past_key_values": cache}
    model.base_model(**inputs)
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


def _nodes(read: list[list[tuple[Tensor, Tensor]]], layer: int, which: int, place: Ints, device: Any) -> Tensor:
    """The keys (0) or values (1) of a layer at these nodes, shape ``[rows, heads, slots, width]``."""
    import torch

    nodes = torch.cat([part[layer][which] for part in read])
    return nodes[torch.from_numpy(place).to(device)].transpose(1, 2)
