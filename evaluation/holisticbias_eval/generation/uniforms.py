"""The random numbers of sampling: one for each step of a response, from the seed and the request alone."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from holisticbias.compile.random_words import random_words
from holisticbias_eval.arrays import Floats
from holisticbias_eval.generation.requests import Requests

UNIT = 2.0**-53


def uniforms(seed: int, requests: Requests, steps: int) -> Floats:
    """Numbers in [0, 1), shape ``[rows, steps]``: each depends on seed, prompt, persona, sample and step alone."""
    numbers = np.empty((len(requests), steps))
    for row, (prompt, persona, sample) in enumerate(
        zip(requests.prompt, requests.persona, requests.sample.tolist(), strict=True)
    ):
        words = random_words(_request_seed(seed, prompt, persona), sample, steps)
        numbers[row] = (words >> np.uint64(11)).astype(np.float64) * UNIT
    return numbers


def _request_seed(seed: int, prompt: str, persona: str) -> int:
    """A seed from SHA-256 of seed, prompt and persona, as JSON, so that no two requests have one text."""
    digest = hashlib.sha256(json.dumps([seed, prompt, persona]).encode()).digest()
    return int.from_bytes(digest[:8], "big")
