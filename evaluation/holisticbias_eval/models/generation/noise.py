"""The random numbers of sampling: Gumbel noise for each token of each step, from the seed and the request alone."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from holisticbias.compile.random_words import random_words, random_words_at
from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.generation.requests import Requests

Words = npt.NDArray[np.uint64]
_BITS = 52  # with one more, the largest number would be rounded to 1


def step_seeds(seed: int, requests: Requests, steps: int) -> Words:
    """A seed for each step of each response, shape ``[rows, steps]``.

    Each depends on seed, prompt, persona, sample and step alone.
    """
    seeds = np.empty((len(requests), steps), np.uint64)
    for row, (prompt, persona, sample) in enumerate(
        zip(requests.prompt, requests.persona, requests.sample.tolist(), strict=True)
    ):
        seeds[row] = random_words(_request_seed(seed, prompt, persona), sample, steps)
    return seeds


def gumbel_noise(seeds: Words, tokens: Ints) -> Floats:
    """Standard Gumbel noise of each token, shape ``[rows, tokens]``, for one seed per row."""
    return _gumbel(random_words_at(seeds, tokens))


def tokens_above(seed: np.uint64, vocabulary: int, noise: float) -> Ints:
    """The tokens whose noise is at least ``noise``, and at most a few more; the logarithms of the others are spared."""
    words = random_words_at(np.array([seed]), np.arange(vocabulary)[None])[0]
    least = int(np.exp(-np.exp(-noise)) * 2.0**_BITS) - 2
    return np.flatnonzero(words >> np.uint64(64 - _BITS) >= np.uint64(max(0, least)))


def _gumbel(words: npt.NDArray[Any]) -> Floats:
    uniform = ((words >> np.uint64(64 - _BITS)).astype(np.float64) + 0.5) * 2.0**-_BITS
    noise: Floats = -np.log(-np.log(uniform))
    return noise


def _request_seed(seed: int, prompt: str, persona: str) -> int:
    """The first bits of SHA-256 of seed, prompt and persona as JSON, in which no two requests are the same text."""
    digest = hashlib.sha256(json.dumps([seed, prompt, persona]).encode()).digest()
    return int.from_bytes(digest[:8], "big")


def request_seed(seed: int, prompt: str, persona: str, sample: int) -> int:
    """A number below 2**31, which every server takes, that depends on the run's seed and the request alone."""
    content = json.dumps([seed, prompt, persona, sample]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1
