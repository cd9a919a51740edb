"""F of a model's perplexities of validation sentences over groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.models.loading.tokenizers import context_length

_BATCH = 16


def validation_f(model: Any, tokenizer: Any, rows: pa.Table, first_token: str = AUTO) -> float | None:
    """F of a one-way analysis of variance of log-perplexities over groups; null if it is undefined.

    ``rows`` have ``group`` and ``text``, each sentence once for each group. Log-perplexities are nats per token.
    F = (between-group sum of squares / (groups - 1)) / (within-group sum of squares / (rows - groups)), Zhao et al.
    2024, section 3.
    """
    from scipy.stats import f_oneway

    from holisticbias_eval.mitigation.encoding import Collator, Encoder
    from holisticbias_eval.mitigation.validation import measure_likelihoods

    encoded = Encoder(tokenizer, context_length(model), first_token).encode(rows.select(["text"]))
    if encoded.empty:
        return None
    found = measure_likelihoods(model, encoded.texts, Collator(tokenizer), None, _BATCH)
    values, groups = found.nll / found.tokens, np.array(rows["group"].to_pylist())
    samples = [values[groups == group] for group in dict.fromkeys(groups.tolist())]
    if len(samples) < 2 or min(map(len, samples)) < 2 or np.ptp(values) == 0:
        return None
    f = float(f_oneway(*samples).statistic)
    return f if np.isfinite(f) else None
