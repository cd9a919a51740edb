"""Texts of a file that are scored whole: sentences about several groups that differ in the group's term alone."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from holisticbias_eval.models.likelihood.scores import Scores, with_scores
from holisticbias_eval.models.likelihood.spans import Spans


@dataclass(frozen=True, slots=True)
class AskedTexts:
    """Rows of texts, and a span of each."""

    rows: pa.Table
    spans: Spans

    @property
    def together(self) -> Spans:
        """All spans to score."""
        return self.spans

    def answer(self, scores: Scores) -> pa.Table:
        """Add ``nll`` (nats), ``tokens`` and ``perplexity``, null for a text without a scored token.

        The column ``context`` is added if any context was given.
        """
        table = with_scores(self.rows, scores)
        if any(self.spans.context):
            table = table.append_column("context", pa.array(list(self.spans.context), pa.string()))
        return table
