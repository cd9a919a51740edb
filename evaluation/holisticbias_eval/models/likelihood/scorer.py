"""Scores of text spans, and the interface of scorers: the required and optional methods of engines."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints, divide, with_columns
from holisticbias_eval.errors import ModelError
from holisticbias_eval.figures import Part
from holisticbias_eval.models.likelihood.spans import Spans, TextWindow, uncut
from holisticbias_eval.models.model import Kind, Model, ModelSignature
from holisticbias_eval.models.store.keys import Rows
from holisticbias_eval.progress import Progress


@dataclass(frozen=True, slots=True)
class Scores(Rows):
    """Scores of spans, in the order of the spans; every field has shape ``[rows]``.

    ``nll`` is the sum of the negative log-likelihoods of a span's scored tokens,
    in nats; ``tokens`` is their number; ``bytes`` is the span's length in UTF-8,
    without the bytes of a first token that could not be scored. A token belongs
    to a span if any of its characters does. A span without a scored token has
    ``tokens`` 0, ``nll`` 0 and no perplexity.
    """

    FIELDS: ClassVar = (("nll", pa.float64()), ("tokens", pa.int32()), ("bytes", pa.int32()))

    nll: Floats
    tokens: Int32s
    bytes: Int32s

    @property
    def perplexity(self) -> Floats:
        """Perplexity per token, ``exp(nll / tokens)``; NaN if no token was scored."""
        return exponential(divide(self.nll, self.tokens))

    @property
    def byte_perplexity(self) -> Floats:
        """Perplexity per byte, ``exp(nll / bytes)``, comparable across tokenizers; NaN if no token was scored."""
        return exponential(divide(self.nll, np.where(self.tokens > 0, self.bytes, 0)))

    def put(self, rows: Ints, scores: "Scores") -> None:
        """Replace the scores of these rows; of a row that occurs several times the last counts."""
        for name, _ in self.FIELDS:
            getattr(self, name)[rows] = getattr(scores, name)


def no_scores(rows: int) -> Scores:
    """Scores of spans without a scored token, to be replaced with ``put``."""
    return Scores(np.zeros(rows), np.zeros(rows, np.int32), np.zeros(rows, np.int32))


def exponential(values: Floats) -> Floats:
    """The perplexities of mean negative log-likelihoods; infinite if they overflow."""
    with np.errstate(over="ignore"):
        exponentials: Floats = np.exp(values)
    return exponentials


def with_scores(sentences: pa.Table, scores: Scores) -> pa.Table:
    """The sentences with ``nll`` (nats), ``tokens``, ``bytes``, ``perplexity`` and ``byte_perplexity``."""
    found = {"perplexity": scores.perplexity, "byte_perplexity": scores.byte_perplexity}
    perplexities = {name: pa.array(values, from_pandas=True) for name, values in found.items()}
    return with_columns(with_columns(sentences, scores.table()), perplexities)


def refuse_non_numbers(spans: Spans, scores: Scores, rows: Ints | None = None) -> None:
    """Raise ``ModelError`` if a likelihood is not a finite number; ``scores`` are of these rows, by default of all."""
    broken = np.flatnonzero(~np.isfinite(scores.nll))
    if len(broken):
        first = spans.text[broken[0] if rows is None else rows[broken[0]]]
        raise ModelError(
            f"the model gives no finite likelihood for {len(broken):,} of {len(scores):,} sentences, "
            f"for example {first[:80]!r}: its weights are damaged, or its precision is too low"
        )


@dataclass(frozen=True, slots=True)
class Work:
    """The work of scoring some spans: the ``tokens`` of the texts, and the ``forward`` tokens that the model reads."""

    tokens: int
    forward: int


class RoundingRecord(Part):
    """Rounding error of a precision other than float32, on some texts of the run: nats per text."""

    dtype: str
    texts: int
    largest: float
    mean: float

    def __str__(self) -> str:
        return (
            f"{self.dtype} instead of float32: on {self.texts} texts, off by at most {self.largest:.2g} nats, "
            f"{self.mean:.2g} on average"
        )


class ExactnessRecord(Part):
    """The method of scoring, and its largest error against float64 on some texts, in nats per text.

    ``plain_error`` is the error of scoring one text at a time. Both are null if the model cannot run in float64.
    """

    method: str
    texts: int
    error: float | None
    plain_error: float | None


class Probe(NamedTuple):
    """The result of testing a scorer on a few texts, for a run's signature; ``rounding`` is missing in float32."""

    exactness: ExactnessRecord
    rounding: RoundingRecord | None = None


class MaskedInputs(Part):
    """The masked inputs that a run needs, one per scored token, and the distinct inputs that it ran."""

    asked: int
    run: int


class Scorer(Model, ABC):
    """Scores text spans with one model.

    ``first_token_scored`` says whether a text without a context has a
    likelihood for its first token. An engine must implement ``score``. The other methods are
    optional; the defaults say that the engine does not support them.
    """

    block_size = 16_384
    """Spans that are scored and stored together."""
    control_tokens: Sequence[str] = ()
    """Texts that a chat model which chooses between sentences reads as control tokens."""
    roughly = False
    """Whether the method is tested without float64, for a trial whose scores are discarded."""

    def __init__(
        self, identity: ModelSignature, kind: Kind, settings: Mapping[str, str], *, first_token_scored: bool = True
    ) -> None:
        super().__init__(identity, kind, settings)
        self.first_token_scored = first_token_scored

    @property
    def context_in_text(self) -> bool:
        """Whether a span's context is the beginning of the text that the model reads, not a separate input."""
        return self.kind != "seq2seq"

    @abstractmethod
    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Score spans; call ``progress`` with the number of rows done since the last call."""

    def blocks(self, distinct: Spans) -> list[Ints]:
        """The rows of distinct spans that are not in a store, in the blocks in which they are scored."""
        return [np.arange(len(distinct))]

    def score_blocks(self, spans: Spans, blocks: Sequence[Ints], progress: Progress) -> Iterator[tuple[Ints, Scores]]:
        """Score blocks of rows; yield each block's rows and scores as it is done, in any order."""
        for rows in blocks:
            yield rows, self.score(spans.take(rows), progress)

    def windows(self, texts: Sequence[str]) -> Sequence[tuple[TextWindow, ...]]:
        """The windows in which texts that are too long can be read; the whole text if this engine cannot say."""
        return [uncut(text) for text in texts]

    def work(self, spans: Spans) -> Work | None:
        """Count the work of scoring these spans together; None if this engine cannot."""
        return None

    def probe(self, spans: Spans) -> Probe | None:
        """Measure the error of the scores on some of the spans; None if this engine cannot."""
        return None

    def input_counts(self) -> MaskedInputs | None:
        """The masked inputs that this process has run so far; None if the model is not masked or runs elsewhere."""
        return None


def score_spans(spans: Spans, scorer: Scorer, progress: Progress) -> Scores:
    """Score spans; raises ``ModelError`` if a score is not a finite number."""
    scores = scorer.score(spans, progress)
    refuse_non_numbers(spans, scores)
    return scores
