"""The interface of scorers: the required and optional methods of engines that score text spans."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.figures import Part
from holisticbias_eval.models.likelihood.scores import Scores, refuse_non_numbers
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.likelihood.tokens import TextWindow, uncut
from holisticbias_eval.models.model import Kind, ModelSignature
from holisticbias_eval.progress import Progress


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


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of testing a scorer on a few texts; ``rounding`` is missing in float32."""

    exactness: ExactnessRecord
    rounding: RoundingRecord | None = None

    @property
    def signed(self) -> Mapping[str, object]:
        """The fields of a run's signature."""
        return {"exactness": self.exactness, "rounding": self.rounding}


class MaskedInputs(Part):
    """The masked inputs that a run needs, one per scored token, and the distinct inputs that it ran."""

    asked: int
    run: int


class Scorer(ABC):
    """Scores text spans with one model.

    ``identity`` is the model, ``kind`` its kind, and ``settings`` everything else
    that the scores depend on: they are recorded in the run and are part of the
    store's key. ``first_token_scored`` says whether a text without a context has a
    likelihood for its first token. An engine must implement ``score``. The other methods are
    optional; the defaults say that the engine does not support them.
    """

    block_size = 16_384
    """Spans that are scored and stored together."""
    kept: str | None = None
    """The number of scores that its store holds, in words; null without a store."""
    roughly = False
    """Whether the method is tested without float64, for a trial whose scores are discarded."""

    def __init__(
        self, identity: ModelSignature, kind: Kind, settings: Mapping[str, str], *, first_token_scored: bool = True
    ) -> None:
        self.identity = identity
        self.kind = kind
        self.settings = settings
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
    refuse_non_numbers(spans.text, scores)
    return scores
