"""Random numbers that depend on the seed only, not on a library's version."""

import hashlib

import numpy as np
import numpy.typing as npt


def random_number(text: str, size: int = 8) -> int:
    """A random number of so many bytes that a text alone decides: the beginning of its SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size])


def random_words(seed: int, stream: int, size: int, first: int = 0) -> npt.NDArray[np.uint64]:
    """64 random bits per row, from row ``first`` on: SplitMix64 (Steele et al. 2014), seeded with seed and stream."""
    start = np.array([seed % 2**64, stream], np.uint64)
    state = _mix(start[:1] + _GOLDEN * (start[1:] + np.uint64(1)))
    return _mix(state + _GOLDEN * np.arange(first + 1, first + size + 1, dtype=np.uint64))


def random_words_at(seeds: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Row ``rows[i, j]`` of stream 0 of ``random_words`` with the seed ``seeds[i]``; shape ``[seeds, columns]``."""
    state = _mix(seeds + _GOLDEN)
    return _mix(state[:, None] + _GOLDEN * (rows + 1).astype(np.uint64))


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
