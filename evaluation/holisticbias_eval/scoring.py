"""Sentences to log-likelihoods: what a scorer is, and scoring a table of sentences with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.errors import ModelError, SelectionError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Scores:
    """Likelihoods of texts, in their order: shape ``[texts]`` each.

    ``nll`` is the sum of the negative log-likelihoods of a text's scored
    tokens, in nats; ``tokens`` is how many were scored. A text with no scored
    token has ``tokens`` 0 and an ``nll`` of 0, and no perplexity.
    """

    nll: Floats
    tokens: Ints

    @property
    def perplexity(self) -> Floats:
        """``exp(nll / tokens)``, NaN where no token was scored."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.exp(self.nll / self.tokens)


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model was scored: enough to know it again."""

    name: str
    architecture: str
    revision: str | None
    weights_sha256: str
    parameters: int
    dtype: str
    note: str | None = None


class Scorer(Protocol):
    """Anything that gives texts their likelihoods."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What the values depend on beside the model, for the record."""

    def score(self, texts: Sequence[str], progress: Progress) -> Scores:
        """Score texts, all different; ``progress`` is told how many were done since it was last called."""


def score_sentences(sentences: pa.Table, scorer: Scorer, progress: Progress) -> pa.Table:
    """The sentences with ``nll`` (nats), ``tokens`` and ``perplexity``; each distinct text is scored once.

    Raises ``SelectionError`` where there is no sentence and ``ModelError``
    where the model gives something that is no number.
    """
    if not sentences.num_rows:
        raise SelectionError("no sentence is left to score: widen the selection")
    encoded = pc.dictionary_encode(sentences["text"]).combine_chunks()
    texts = encoded.dictionary.to_pylist()
    scores = scorer.score(texts, progress)
    _refuse_non_numbers(texts, scores)
    rows = encoded.indices.to_numpy()
    return (
        sentences.append_column("nll", pa.array(scores.nll[rows]))
        .append_column("tokens", pa.array(scores.tokens[rows]))
        .append_column("perplexity", pa.array(scores.perplexity[rows], from_pandas=True))
    )


def _refuse_non_numbers(texts: Sequence[str], scores: Scores) -> None:
    broken = np.flatnonzero(~np.isfinite(scores.nll))
    if len(broken):
        raise ModelError(
            f"the model gives no finite likelihood for {len(broken):,} of {len(texts):,} sentences, "
            f"{texts[broken[0]]!r} for one: its weights or its precision are broken"
        )
