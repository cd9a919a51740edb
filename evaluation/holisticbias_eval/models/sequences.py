"""Sequences of token ids, and their prefix tree: every distinct prefix is one node, which a model reads once.

Nodes are in depth-first preorder: the descendants of a node directly follow it.
Only inner nodes, the nodes with children, are run through the model; its output
at a node is the distribution over the children.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Bools, Int32s, Ints


def bounds(lengths: Ints) -> Ints:
    """The place at which each sequence begins, and the end of the last one: shape ``[sequences + 1]``."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))


def ranges(first: Ints, counts: Ints | Int32s) -> Ints:
    """The places ``first[i] .. first[i] + counts[i] - 1`` of each sequence, one after the other."""
    ends: Ints = np.cumsum(counts, dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    places: Ints = np.arange(total) + np.repeat(first - (ends - counts), counts)
    return places


def equal_groups(keys: Ints) -> list[Ints]:
    """The positions of equal keys, in the order of the keys: sequences of one length need no padding."""
    order = np.argsort(keys, kind="stable")
    return [group for group in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(group)]


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[Ints, Ints]:
    """Token ids of sequences, filled up at their end, and a mask that is 1 for tokens and 0 for padding."""
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.full(mask.shape, padding, np.int64)
    ids[mask] = np.concatenate([np.array(row, np.int64) for row in rows])
    return ids, mask.astype(np.int64)


def evenly(size: int, count: int) -> Ints:
    """At most ``count`` of the places from 0 to ``size``, at equal distances, the first and the last included."""
    return np.linspace(0, size - 1, min(count, size)).astype(np.int64)


def spread(lengths: Ints | Int32s, count: int) -> Ints:
    """At most ``count`` rows spread over all lengths, the shortest and the longest included."""
    order = np.argsort(lengths, kind="stable")
    return np.unique(order[evenly(len(order), count)])


def distinct_sequences(ids: Int32s, starts: Ints) -> tuple[Ints, Ints]:
    """The first row of each distinct sequence, and for each row the position of its distinct sequence."""
    which = pc.dictionary_encode(_binary(ids, starts)).indices.to_numpy().astype(np.int64)
    return np.unique(which, return_index=True)[1], which


def _binary(ids: Int32s, starts: Ints) -> pa.LargeBinaryArray:
    """Each sequence as big-endian bytes, which sort as the ids do."""
    offsets, data = (starts * 4).astype(np.int64).tobytes(), ids.astype(">u4").tobytes()
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(starts) - 1, buffers)


@dataclass(frozen=True, slots=True)
class Tree:
    """The prefix tree of some sequences.

    ``token``, shape ``[nodes]``: each node's token, in preorder.
    ``node``, shape ``[tokens]``: the node of each token of the sequences.
    Shape ``[inner]``, for the inner nodes in preorder: ``inner_token``;
    ``depth``, 0 at a root; ``parent``, a position among the inner nodes, -1 at a
    root; ``end``, the position after the last inner descendant.
    ``edge``, shape ``[edges]``: the child nodes, sorted by their inner node. The
    edges of inner node ``i`` are ``first_edge[i]`` to ``first_edge[i + 1]``.
    """

    token: Int32s
    node: Int32s
    inner_token: Int32s
    depth: Int32s
    parent: Int32s
    end: Int32s
    edge: Int32s
    first_edge: Ints

    @property
    def inner(self) -> int:
        """The number of inner nodes: the tokens that a model has to read."""
        return len(self.depth)

    def ancestors(self, node: int) -> list[int]:
        """The inner nodes above a node, from its root downwards."""
        path = []
        above = int(self.parent[node])
        while above >= 0:
            path.append(above)
            above = int(self.parent[above])
        return path[::-1]

    def inputs(self, model: Any, place: Ints) -> dict[str, Any]:
        """The model's inputs: ids, depths as positions, and a mask with which a node sees its ancestors and itself.

        The mask is additive, because eager attention would add a boolean mask as
        numbers. An empty slot sees itself, so that no row of the softmax is empty.
        """
        import torch

        def on_device(array: npt.NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(array).to(model.device)

        empty = place < 0
        row = on_device(np.where(empty, self.inner + np.arange(place.shape[1]), place))
        end = on_device(np.where(empty, self.inner + 1 + np.arange(place.shape[1]), self.end[place]))
        seen = (row[:, None, :] <= row[:, :, None]) & (row[:, :, None] < end[:, None, :])
        mask = torch.zeros(seen.shape, dtype=model.dtype, device=model.device)
        mask.masked_fill_(~seen, torch.finfo(model.dtype).min)
        return {
            "input_ids": on_device(np.where(empty, 0, self.inner_token[place]).astype(np.int64)),
            "position_ids": on_device(np.where(empty, 0, self.depth[place]).astype(np.int64)),
            "attention_mask": mask[:, None],
            "use_cache": False,
        }


def build_tree(ids: Int32s, starts: Ints) -> Tree:
    """Build the tree of sequences of token ids, given one after the other; sequence ``i`` begins at ``starts[i]``.

    Sequences may be empty, equal, or prefixes of others. Works on whole arrays,
    without a loop over sequences.
    """
    order = pc.sort_indices(_binary(ids, starts)).to_numpy().astype(np.int64)
    lengths = np.diff(starts)[order]
    begins = bounds(lengths)[:-1]
    depth = ranges(np.zeros_like(lengths), lengths)
    source = np.repeat(starts[:-1][order], lengths) + depth
    tokens = ids[source]
    new = depth >= np.repeat(_shared_lengths(tokens, begins, lengths), lengths)
    node_sorted = _nodes(new, depth)
    node = np.empty(len(ids), np.int32)
    node[source] = node_sorted
    above = np.where(depth > 0, np.concatenate((np.zeros(1, np.int32), node_sorted))[:-1], -1)
    return _assemble(tokens[new], node, depth[new].astype(np.int32), above[new].astype(np.int32))


def _shared_lengths(tokens: Int32s, begins: Ints, lengths: Ints) -> Ints:
    """How many leading tokens each sequence shares with the previous one."""
    if not len(lengths):
        return lengths
    common = np.minimum(lengths, np.concatenate((np.zeros(1, np.int64), lengths[:-1])))
    offset = ranges(np.zeros_like(common), common)
    before = np.concatenate((np.zeros(1, np.int64), begins[:-1]))
    same = tokens[np.repeat(begins, common) + offset] == tokens[np.repeat(before, common) + offset]
    shared = common.copy()
    differ = np.flatnonzero(~same)
    row = np.repeat(np.arange(len(common)), common)[differ]
    np.minimum.at(shared, row, offset[differ])
    return shared


def _nodes(new: Bools, depth: Ints) -> Int32s:
    """The node of every token: its own if it is new, else the previous sequence's node at the same depth."""
    own = np.cumsum(new, dtype=np.int32) - 1
    by_depth = np.argsort(_small(depth), kind="stable")
    place = np.where(new[by_depth], np.arange(len(new)), 0)
    np.maximum.accumulate(place, out=place)
    node = np.empty(len(new), np.int32)
    node[by_depth] = own[by_depth][place]
    return node


def _small(depth: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Depths as 16-bit numbers if they fit, which sort in linear time."""
    return depth.astype(np.int16) if len(depth) and depth.max() < np.iinfo(np.int16).max else depth


def _assemble(token: Int32s, node: Int32s, depth: Int32s, above: Int32s) -> Tree:
    """Assemble the tree from every node's token, depth and parent."""
    edges = np.flatnonzero(above >= 0).astype(np.int32)
    is_inner = np.zeros(len(token), bool)
    is_inner[above[edges]] = True
    inner = np.flatnonzero(is_inner)
    position = np.cumsum(is_inner, dtype=np.int32) - 1
    parent = np.where(above[inner] >= 0, position[above[inner]], -1).astype(np.int32)
    owner = position[above[edges]]
    by_owner = np.argsort(owner, kind="stable")
    return Tree(
        token=token,
        node=node,
        inner_token=token[inner],
        depth=depth[inner],
        parent=parent,
        end=_ends(depth[inner], parent),
        edge=edges[by_owner],
        first_edge=np.searchsorted(owner[by_owner], np.arange(len(inner) + 1)),
    )


def _ends(depth: Int32s, parent: Int32s) -> Int32s:
    """The position after each node's last descendant, from subtree sizes summed from the deepest level upwards."""
    size = np.ones(len(depth), np.int32)
    by_depth = np.argsort(_small(depth), kind="stable")
    levels = np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1)
    for level in reversed(levels[1:]):
        np.add.at(size, parent[level], size[level])
    return np.arange(len(depth), dtype=np.int32) + size


@dataclass(frozen=True, slots=True)
class Pack:
    """A run of inner nodes ``first`` to ``stop``, led by the ``path`` from the root to the first of them."""

    path: list[int]
    first: int
    stop: int

    def slots(self) -> Ints:
        """The inner nodes in the order in which the model reads them."""
        return np.concatenate((np.array(self.path, np.int64), np.arange(self.first, self.stop)))


def cut_packs(tree: Tree, slots: int) -> list[Pack]:
    """Cut the inner nodes into packs of consecutive nodes; with its path, every pack but the last fills its slots.

    A pack whose path alone fills the slots still has one more node.
    """
    packs = []
    first = 0
    while first < tree.inner:
        path = tree.ancestors(first)
        stop = min(tree.inner, first + max(1, slots - len(path)))
        packs.append(Pack(path, first, stop))
        first = stop
    return packs


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
