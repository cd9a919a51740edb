import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.models.sequences import Tree, build_tree, cut_packs

Sequences = list[list[int]]
sequences = st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=30)


def grow(rows: Sequences) -> Tree:
    ids = np.array([t for row in rows for t in row], np.int32)
    return build_tree(ids, np.cumsum([0, *map(len, rows)]))


@given(sequences)
def test_nodes_are_the_distinct_prefixes(rows: Sequences) -> None:
    tree = grow(rows)
    prefixes = [tuple(row[: i + 1]) for row in rows for i in range(len(row))]
    named = dict(zip(prefixes, tree.node.tolist(), strict=True))
    assert [named[p] for p in prefixes] == tree.node.tolist()
    assert sorted(named.values()) == list(range(len(tree.token)))
    assert sorted(named) == sorted(named, key=lambda p: named[p])
    assert all(tree.token[node] == prefix[-1] for prefix, node in named.items())
    inner = sorted({p[:-1] for p in prefixes if len(p) > 1})
    assert tree.inner_token.tolist() == [p[-1] for p in inner]
    assert tree.depth.tolist() == [len(p) - 1 for p in inner]
    for i, prefix in enumerate(inner):
        assert tree.end[i] == i + sum(p[: len(prefix)] == prefix for p in inner)
        assert tree.parent[i] == (inner.index(prefix[:-1]) if len(prefix) > 1 else -1)
        children = sorted(named[p] for p in named if p[:-1] == prefix and len(p) > 1)
        assert tree.edge[tree.first_edge[i] : tree.first_edge[i + 1]].tolist() == children


@given(sequences, st.integers(1, 9))
def test_packs_hold_every_inner_node_once_with_its_ancestors(rows: Sequences, slots: int) -> None:
    tree = grow(rows)
    packs = cut_packs(tree, slots)
    assert [n for p in packs for n in range(p.first, p.stop)] == list(range(tree.inner))
    for pack in packs:
        held = set(pack.slots().tolist())
        assert all(int(tree.parent[n]) in held | {-1} for n in held)
        assert len(held) <= max(slots, len(pack.path) + 1)
