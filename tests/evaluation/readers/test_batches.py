"""Batches of sequences: by hand, and properties on any lengths."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.readers.engines.transformers import TOKENS, batches, blocks, padded_ids


@pytest.mark.parametrize(
    ("lengths", "padded", "expected"),
    [
        ([10, 9, 8, 7, 7], True, [(0, 3), (3, 5)]),  # 8 is 0.8 of 10
        ([10, 9, 9, 7], False, [(0, 1), (1, 3), (3, 4)]),
        ([3, 3, 0, 0], False, [(0, 2)]),
        ([0], True, []),
        ([], True, []),
        ([2 * TOKENS, 2 * TOKENS], True, [(0, 1), (1, 2)]),
        ([TOKENS // 2, TOKENS // 2, TOKENS // 2], True, [(0, 2), (2, 3)]),
    ],
)
def test_batches(lengths: list[int], padded: bool, expected: list[tuple[int, int]]) -> None:
    found = batches(np.array(lengths, np.int64), padded=padded)
    assert [(batch.start, batch.stop) for batch in found] == expected


@given(lengths=st.lists(st.integers(0, 600), max_size=80), padded=st.booleans())
def test_every_sequence_is_in_one_batch_of_similar_lengths(lengths: list[int], padded: bool) -> None:
    (rows,) = blocks(np.array(lengths)) if lengths else (np.zeros(0, np.int64),)
    ordered = np.array(lengths, np.int64)[rows]
    assert (np.diff(ordered) <= 0).all()
    found = list(batches(ordered, padded=padded))
    assert [i for batch in found for i in range(batch.start, batch.stop)] == list(range(np.count_nonzero(ordered)))
    for batch in found:
        longest, shortest = ordered[batch.start], ordered[batch.stop - 1]
        assert longest * (batch.stop - batch.start) <= max(TOKENS, longest)
        assert shortest >= (0.8 if padded else 1) * longest


def test_blocks_cover_all_rows_longest_first() -> None:
    lengths = np.arange(2500) % 7
    found = list(blocks(lengths))
    assert [len(block) for block in found] == [1024, 1024, 452]
    rows = np.concatenate(found)
    assert sorted(rows.tolist()) == list(range(2500))
    assert rows[:2].tolist() == [6, 13]


def test_padding_is_at_the_end_and_masked() -> None:
    ids, mask = padded_ids([[5, 6, 7], [8], [9, 1]], padding=1)
    assert ids.tolist() == [[5, 6, 7], [8, 1, 1], [9, 1, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
