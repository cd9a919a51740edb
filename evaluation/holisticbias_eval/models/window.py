"""The longest text that a model can read."""

from __future__ import annotations

from typing import Any

import numpy as np


def context_length(model: Any) -> int:
    """The number of tokens a model can read; models like RoBERTa lose the positions up to their padding index.

    A configuration without a number, or with XLNet's -1, means no limit.
    """
    stated = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None) or 0
    limit = stated if stated > 0 else np.iinfo(np.int32).max
    table = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    shifted = getattr(table, "padding_idx", None)
    return int(limit) - (0 if shifted is None else shifted + 1)
