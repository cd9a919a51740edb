"""Sum token log-likelihoods per span."""

from __future__ import annotations

from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.scores import Scores
from holisticbias_eval.likelihood.spans import Spans
from holisticbias_eval.likelihood.tokens import Encoded
from holisticbias_eval.models.window import context_length


def span_scores(encoded: Encoded, nll: Floats) -> Scores:
    """Sum the negative log-likelihoods of the tokens of each row's span."""
    bounds = np.stack((encoded.first, encoded.stop), axis=1).ravel()
    sums = np.add.reduceat(np.append(nll, 0.0), bounds)[::2] if len(bounds) else np.zeros(0)
    scored = encoded.scored
    return Scores(np.where(scored > 0, sums, 0.0), scored, np.where(scored > 0, encoded.bytes, 0).astype(np.int32))


def refuse_long(model: Any, encoded: Encoded, spans: Spans, added: int = 0) -> None:
    """Raise ``ModelError`` if a text, with ``added`` tokens, has more tokens than the model can read."""
    limit = context_length(model)
    long = np.flatnonzero(encoded.lengths + added > limit)
    if len(long):
        named = ", ".join(repr(spans.text[i]) for i in long[:3]) + (" and others" if len(long) > 3 else "")
        raise ModelError(
            f"the model reads at most {limit:,} tokens, and these texts have more: {named}; leave them out"
        )
