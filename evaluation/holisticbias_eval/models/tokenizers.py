"""Facts about a tokenizer: its digest, and the special tokens that it puts around a text."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of everything that a tokenizer's ids depend on; of its vocabulary if transformers runs it in Python."""
    if getattr(tokenizer, "is_fast", False):
        content = tokenizer.backend_tokenizer.to_str()
    else:
        content = json.dumps(sorted(tokenizer.get_vocab().items()))
    return hashlib.sha256(content.encode()).hexdigest()


def special_tokens(tokenizer: Any, argument: str = "text") -> tuple[list[int], list[int]]:
    """The tokens that a tokenizer puts before and after a text; ``argument`` may be ``text_target``, for a label."""
    bare = tokenizer(**{argument: "a"}, add_special_tokens=False)["input_ids"]
    full = tokenizer(**{argument: "a"})["input_ids"]
    for i in range(len(full) - len(bare) + 1):
        if full[i : i + len(bare)] == bare:
            return list(full[:i]), list(full[i + len(bare) :])
    return [], []
