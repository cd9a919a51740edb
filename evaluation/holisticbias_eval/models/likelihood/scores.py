"""Scores: the negative log-likelihoods of text spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.store.keys import table_of

SCORE_FIELDS = (("nll", pa.float64()), ("tokens", pa.int32()), ("bytes", pa.int32()))


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of spans, in the order of the spans; every field has shape ``[rows]``.

    ``nll`` is the sum of the negative log-likelihoods of a span's scored tokens,
    in nats; ``tokens`` is their number; ``bytes`` is the span's length in UTF-8,
    without the bytes of a first token that could not be scored. A token belongs
    to a span if any of its characters does. A span without a scored token has
    ``tokens`` 0, ``nll`` 0 and no perplexity.
    """

    nll: Floats
    tokens: Int32s
    bytes: Int32s

    def __len__(self) -> int:
        return len(self.nll)

    @property
    def perplexity(self) -> Floats:
        """Perplexity per token, ``exp(nll / tokens)``; NaN if no token was scored."""
        return _exp(_ratio(self.nll, self.tokens))

    @property
    def byte_perplexity(self) -> Floats:
        """Perplexity per byte, ``exp(nll / bytes)``, comparable across tokenizers; NaN if no token was scored."""
        return _exp(_ratio(self.nll, np.where(self.tokens > 0, self.bytes, 0)))

    def take(self, rows: Ints) -> Scores:
        """Select rows by position, in the given order."""
        return Scores(self.nll[rows], self.tokens[rows], self.bytes[rows])

    @classmethod
    def of(cls, table: pa.Table) -> Self:
        """The scores in a table with the columns ``SCORE_FIELDS``."""
        return cls(*(table[name].to_numpy() for name, _ in SCORE_FIELDS))

    def table(self) -> pa.Table:
        """The scores as an Arrow table with the columns ``SCORE_FIELDS``."""
        return table_of(SCORE_FIELDS, (self.nll, self.tokens, self.bytes))

    def put(self, rows: Ints, scores: Scores) -> None:
        """Replace the scores of these rows; of a row that occurs several times the last counts."""
        for name, _ in SCORE_FIELDS:
            getattr(self, name)[rows] = getattr(scores, name)


def no_scores(rows: int) -> Scores:
    """Scores of spans without a scored token, to be replaced with ``put``."""
    return Scores(np.zeros(rows), np.zeros(rows, np.int32), np.zeros(rows, np.int32))


def _exp(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        exponentials: Floats = np.exp(values)
    return exponentials


def _ratio(sums: Floats, counts: Int32s) -> Floats:
    values: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return values


def with_scores(sentences: pa.Table, scores: Scores) -> pa.Table:
    """The sentences with ``nll`` (nats), ``tokens``, ``bytes``, ``perplexity`` and ``byte_perplexity``."""
    return (
        sentences.append_column("nll", pa.array(scores.nll))
        .append_column("tokens", pa.array(scores.tokens))
        .append_column("bytes", pa.array(scores.bytes))
        .append_column("perplexity", pa.array(scores.perplexity, from_pandas=True))
        .append_column("byte_perplexity", pa.array(scores.byte_perplexity, from_pandas=True))
    )


def refuse_non_numbers(texts: Sequence[str], scores: Scores) -> None:
    """Raise ``ModelError`` if a likelihood is not a finite number."""
    broken = np.flatnonzero(~np.isfinite(scores.nll))
    if len(broken):
        raise ModelError(
            f"the model gives no finite likelihood for {len(broken):,} of {len(texts):,} sentences, "
            f"for example {texts[broken[0]]!r}: its weights are damaged, or its precision is too low"
        )
