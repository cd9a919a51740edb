"""Lines of a text: their table, and the windows of them to score."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Ints
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.scores import Scores, with_scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.store.keys import counted


@dataclass(frozen=True, slots=True)
class AskedLines:
    """Lines of a text and the windows in which they are scored; ``line`` is the line of each window: ``[windows]``."""

    lines: pa.Table
    spans: Spans
    line: Ints

    @property
    def together(self) -> Spans:
        """All windows."""
        return self.spans

    def answer(self, scores: Scores) -> pa.Table:
        """Add the scores of each line, the sums over its windows, and ``windows``, their number."""
        count = self.lines.num_rows
        sums = (np.bincount(self.line, values, count) for values in (scores.tokens, scores.bytes))
        tokens, size = (values.astype(np.int32) for values in sums)
        nll = np.bincount(self.line, scores.nll, count).astype(np.float64)
        windows = np.bincount(self.line, minlength=count).astype(np.int32)
        return with_scores(self.lines, Scores(nll, tokens, size)).append_column("windows", pa.array(windows))


def line_table(lines: Sequence[str]) -> pa.Table:
    """A table of the lines that are not empty: ``line_id``, ``line`` (its number in the text, from 1) and ``text``.

    The id depends on the text and on how often it came before: lines of two runs are paired by it in any order.
    """
    found = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.strip()]
    texts = [text for _, text in found]
    digests = (hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts)
    ids = [f"{digest}-{before + 1}" for digest, before in zip(digests, counted(texts), strict=True)]
    return pa.table(
        {
            "line_id": pa.array(ids, pa.string()),
            "line": pa.array([number for number, _ in found], pa.int64()),
            "text": pa.array(texts, pa.large_string()),
        }
    )


def ask_lines(lines: pa.Table, engine: Scorer) -> AskedLines:
    """The windows of the lines, as an engine can read them."""
    texts = lines["text"].to_pylist()
    found = [(i, window) for i, windows in enumerate(engine.windows(texts)) for window in windows]
    cut = [texts[i][w.begin : w.stop] for i, w in found]
    start = np.array([w.start - w.begin for _, w in found], np.int32)
    stop = np.array([w.stop - w.begin for _, w in found], np.int32)
    return AskedLines(lines, Spans(cut, start, stop, [""] * len(cut)), np.array([i for i, _ in found], np.int64))
