"""Parts of texts to log-likelihoods: what a scorer is, and scoring a table of sentences with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holisticbias_eval.arrays import Floats, Int32s, Ints
from holisticbias_eval.errors import ModelError, SelectionError
from holisticbias_eval.models.identity import ModelIdentity

Progress = Callable[[int], None]
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Spans:
    """Parts of texts whose likelihood is asked for, one a row; all fields have shape ``[rows]``.

    Row ``i`` asks for the characters ``start[i]`` to ``stop[i]`` (the last one
    excluded) of ``text[i]``. ``context[i]`` is what the model is given before the
    text and that is never scored: the encoder's input of an encoder-decoder
    model; for every other model the text's beginning, joined as it stands. The
    same text may stand in several rows: it is then run through the model once.
    """

    text: Sequence[str]
    start: Int32s
    stop: Int32s
    context: Sequence[str]

    def __len__(self) -> int:
        return len(self.text)

    def take(self, rows: Ints) -> Spans:
        """The rows at these positions, in their order."""
        return Spans([self.text[i] for i in rows], self.start[rows], self.stop[rows], [self.context[i] for i in rows])


def whole(texts: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """The whole of each text."""
    lengths = np.fromiter(map(len, texts), np.int32, len(texts))
    return Spans(texts, np.zeros(len(texts), np.int32), lengths, context or [""] * len(texts))


def parts(texts: Sequence[str], phrases: Sequence[str], context: Sequence[str] | None = None) -> Spans:
    """Of each text the first place where its phrase stands, either capitalised or not at its first letter.

    Raises ``SelectionError`` where a phrase is not in its text, or is empty.
    """
    found = [_find(text, phrase) for text, phrase in zip(texts, phrases, strict=True)]
    start = np.array(found, np.int32).reshape(-1)
    lengths = np.fromiter(map(len, phrases), np.int32, len(texts))
    return Spans(texts, start, start + lengths, context or [""] * len(texts))


def _find(text: str, phrase: str) -> int:
    places = [text.find(p) for p in (phrase, phrase[:1].upper() + phrase[1:]) if phrase]
    known = [p for p in places if p >= 0]
    if not known:
        raise SelectionError(f"the phrase {phrase!r} does not stand in the text {text!r}")
    return min(known)


@dataclass(frozen=True, slots=True)
class Scores:
    """Likelihoods of spans, in their order: shape ``[rows]`` each.

    ``nll`` is the sum of the negative log-likelihoods of a span's scored tokens,
    in nats; ``tokens`` is how many were scored, ``bytes`` how many bytes of UTF-8
    the span has, without those of a first token that could not be scored. A
    token belongs to a span when any of its characters does. A span with no
    scored token has ``tokens`` 0 and an ``nll`` of 0, and no perplexity.
    """

    nll: Floats
    tokens: Int32s
    bytes: Int32s

    @property
    def perplexity(self) -> Floats:
        """Per token: ``exp(nll / tokens)``, NaN where no token was scored."""
        return _exp(_ratio(self.nll, self.tokens))

    @property
    def byte_perplexity(self) -> Floats:
        """Per byte: ``exp(nll / bytes)``, comparable across tokenizers; NaN where no token was scored."""
        return _exp(_ratio(self.nll, np.where(self.tokens > 0, self.bytes, 0)))

    def take(self, rows: Ints) -> Scores:
        """The rows at these positions, in their order."""
        return Scores(self.nll[rows], self.tokens[rows], self.bytes[rows])


def _exp(values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        found: Floats = np.exp(values)
    return found


def _ratio(sums: Floats, counts: Int32s) -> Floats:
    values: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return values


@dataclass(frozen=True, slots=True)
class Rounding:
    """What a precision other than float32 costs, found on some texts: nats a text, at most and on average."""

    dtype: str
    texts: int
    largest: float
    mean: float

    def __str__(self) -> str:
        return (
            f"{self.dtype} instead of float32: on {self.texts} texts tried {self.largest:.2g} nats off at most, "
            f"{self.mean:.2g} on average"
        )


@dataclass(frozen=True, slots=True)
class Exactness:
    """The method that scores, and its largest error against float64 on some texts, in nats a text.

    ``plain_error`` is that of scoring one text at a time in the same precision.
    Both are missing if the model could not be run in float64.
    """

    method: str
    texts: int
    error: float | None
    plain_error: float | None


@dataclass(frozen=True, slots=True)
class Probe:
    """What was tried on a few texts before the first are scored; ``rounding`` is missing in float32."""

    exactness: Exactness
    rounding: Rounding | None = None


class Scorer(Protocol):
    """Anything that gives parts of texts their likelihoods."""

    @property
    def identity(self) -> ModelIdentity:
        """The model behind it."""

    @property
    def settings(self) -> Mapping[str, str]:
        """What the values depend on beside the model, for the record and for the store's key."""

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Score spans; ``progress`` is told how many rows were done since it was last called."""


@dataclass(frozen=True, slots=True)
class Work:
    """How much there is to score: the texts' ``tokens``, and the ``forward`` tokens that the model has to read."""

    tokens: int
    forward: int


@runtime_checkable
class Measurable(Scorer, Protocol):
    """A scorer that can tell how much work some spans are before it does it."""

    def work(self, spans: Spans) -> Work:
        """The work of scoring these spans together."""


def score_spans(spans: Spans, scorer: Scorer, progress: Progress) -> Scores:
    """Score spans, as a rule distinct ones.

    Raises ``SelectionError`` if there are none, and ``ModelError`` if a score is
    not a finite number.
    """
    if not len(spans):
        raise SelectionError("no sentence is left to score: widen the selection")
    scores = scorer.score(spans, progress)
    refuse_non_numbers(spans.text, scores)
    return scores


def with_scores(sentences: pa.Table, scores: Scores) -> pa.Table:
    """The sentences with ``nll`` (nats), ``tokens``, ``bytes``, ``perplexity`` and ``byte_perplexity``."""
    return (
        sentences.append_column("nll", pa.array(scores.nll))
        .append_column("tokens", pa.array(scores.tokens))
        .append_column("bytes", pa.array(scores.bytes))
        .append_column("perplexity", pa.array(scores.perplexity, from_pandas=True))
        .append_column("byte_perplexity", pa.array(scores.byte_perplexity, from_pandas=True))
    )


def joined(one: Spans, other: Spans) -> Spans:
    """The rows of both, one after the other."""
    return Spans(
        [*one.text, *other.text],
        np.concatenate((one.start, other.start)),
        np.concatenate((one.stop, other.stop)),
        [*one.context, *other.context],
    )


def unique_spans(spans: Spans) -> tuple[Spans, Ints]:
    """The distinct spans, in the order in which they first occur, and for each row which of them it is."""
    encoded = pc.dictionary_encode(span_keys(spans))
    rows = encoded.indices.to_numpy().astype(np.int64)
    _, first = np.unique(rows, return_index=True)
    return (spans if len(first) == len(spans) else spans.take(first)), rows


def span_keys(spans: Spans) -> pa.LargeStringArray:
    """One string a row that tells spans apart: range, context and text."""
    columns = (pa.array(spans.start), pa.array(spans.stop), pa.array(map(len, spans.context)))
    numbers = [pc.cast(column, pa.large_string()) for column in columns]
    texts = [pa.array(column, pa.large_string()) for column in (spans.context, spans.text)]
    return pc.binary_join_element_wise(*numbers, *texts, pa.scalar(" ", pa.large_string()))


def refuse_non_numbers(texts: Sequence[str], scores: Scores) -> None:
    """Raise ``ModelError`` where a likelihood is no finite number."""
    broken = np.flatnonzero(~np.isfinite(scores.nll))
    if len(broken):
        raise ModelError(
            f"the model gives no finite likelihood for {len(broken):,} of {len(texts):,} sentences, "
            f"{texts[broken[0]]!r} for one: its weights or its precision are broken"
        )
