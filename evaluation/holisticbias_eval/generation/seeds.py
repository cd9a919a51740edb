"""Seeds for engines that draw for themselves: one number per request."""

from __future__ import annotations

import hashlib
import json


def request_seed(seed: int, prompt: str, persona: str, sample: int) -> int:
    """A number below 2**31, which every server takes, that depends on the run's seed and the request alone."""
    content = json.dumps([seed, prompt, persona, sample]).encode()
    return int.from_bytes(hashlib.sha256(content).digest()[:4], "big") >> 1
