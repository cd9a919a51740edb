"""Encode texts as token ids, find the tokens of each span, and cut texts that are longer than a model can read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from holisticbias_eval.arrays import Bools, Floats, Int32s, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.scorer import Scores
from holisticbias_eval.models.likelihood.spans import Spans, TextWindow, uncut, whole
from holisticbias_eval.models.loading.tokenizers import context_length, tokenizer_errors
from holisticbias_eval.models.sequences import bounds

_BATCH = 8192
_LEAST = 4
"""The fewest tokens of a window: below it a text is not cut further."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """Token ids of texts, one after the other, and the scored tokens of each.

    ``ids`` has shape ``[tokens]`` and includes a leading beginning-of-sequence
    token; ``starts`` has shape ``[rows + 1]``. ``first`` and ``stop``, shape
    ``[rows]``, are the scored tokens of each row as positions in ``ids``;
    ``bytes``, shape ``[rows]``, is how many bytes of UTF-8 they cover. ``word``,
    shape ``[tokens]``, numbers the words of each text; None if not asked for.
    """

    ids: Int32s
    starts: Ints
    first: Ints
    stop: Ints
    bytes: Int32s
    word: Int32s | None = None

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each row."""
        return np.diff(self.starts)

    @property
    def scored(self) -> Int32s:
        """The number of scored tokens of each row."""
        return (self.stop - self.first).astype(np.int32)

    def row(self, i: int) -> Int32s:
        """The token ids of a row."""
        return self.ids[self.starts[i] : self.starts[i + 1]]

    def pick(self, rows: Ints) -> "Encoded":
        """Select rows by position, each with all of its tokens after the first as its span."""
        tokens = [self.row(i) for i in rows]
        starts = bounds(np.array([len(t) for t in tokens], np.int64))
        first = np.minimum(starts[:-1] + 1, starts[1:])
        ids = np.concatenate([*tokens, np.zeros(0, np.int32)])
        return Encoded(ids, starts, first, starts[1:], (starts[1:] - first).astype(np.int32))

    def scores(self, nll: Floats) -> Scores:
        """Sum the negative log-likelihoods of the tokens of each row's span."""
        edges = np.stack((self.first, self.stop), axis=1).ravel()
        sums = np.add.reduceat(np.append(nll, 0.0), edges)[::2] if len(edges) else np.zeros(0)
        scored = self.scored
        return Scores(np.where(scored > 0, sums, 0.0), scored, np.where(scored > 0, self.bytes, 0).astype(np.int32))

    def refuse_long(self, model: Any, spans: Spans, added: int = 0) -> None:
        """Raise ``ModelError`` if a text, with ``added`` tokens, has more tokens than the model can read."""
        limit = context_length(model)
        long = np.flatnonzero(self.lengths + added > limit)
        if len(long):
            named = ", ".join(repr(spans.text[i][:80]) for i in long[:3]) + (" and others" if len(long) > 3 else "")
            raise ModelError(
                f"the model reads at most {limit:,} tokens, and these texts have more: {named}; leave them out"
            )


class _Tokens(NamedTuple):
    """Token ids, where each token's characters begin and end, and the number of its word; None if not known."""

    ids: Int32s
    lengths: Ints
    begin: Int32s | None
    end: Int32s | None
    word: Int32s | None = None


_PUT_SPACES = (b'"Prepend"', b'"prepend_scheme":"always"', b'"prepend_scheme":"first"', b'"add_prefix_space":true')
"""What tokenizers that put a space before a text have in their JSON."""


def _written(component: Any) -> bytes:
    """A part of a tokenizer as JSON; empty without it."""
    return b"" if component is None else bytes(component.__getstate__())


class TextEncoder:
    """Encodes texts with a tokenizer, without padding, truncation and special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._slow = tokenizer
        self._fast: Any = None
        if getattr(tokenizer, "is_fast", False):
            from tokenizers import Tokenizer

            with tokenizer_errors():
                self._fast = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
            self._fast.no_padding()
            self._fast.no_truncation()
            self._trims = b'"trim_offsets":true' in _written(self._fast.post_processor)
            self._fast.post_processor = None  # some take spaces out of the places of tokens
            # a space as a token, in vocabularies of bytes and of SentencePiece
            self._spaces = [i for i in map(self._fast.token_to_id, ("\u0120", "\u2581")) if i is not None]

    def settings(self, *, first_is_scored: bool = True) -> Mapping[str, str]:
        """The rule of spaces, for a signature; empty if the places of tokens that the tokenizer gives say the same.

        In stores, scores by those places have no such setting, so that they are not taken for these.
        """
        if self._fast is None:
            return {}
        before = _written(self._fast.normalizer) + _written(self._fast.pre_tokenizer)
        moved = self._trims or (not first_is_scored and any(put in before for put in _PUT_SPACES))
        return {"spaces": "apart from the text beside them"} if moved else {}

    def encode(
        self, spans: Spans, lead: Sequence[int] = (), *, first_is_scored: bool = False, words: bool = False
    ) -> Encoded:
        """Encode context and text, after the tokens ``lead``, which are not scored.

        Without ``lead`` the first token has nothing to be conditioned on and is
        not scored, unless ``first_is_scored``.
        """
        places = _placed(spans)
        drops_first = not lead and not first_is_scored
        tokens = self._tokenize(places.texts, offsets=words or drops_first or not bool(places.all_of_it.all()))
        first, last, covered = _covered(places, tokens, drops_first=drops_first)
        starts = bounds(tokens.lengths)
        if not lead:
            return Encoded(tokens.ids, starts, first, last, covered, tokens.word)
        added = len(lead) * np.arange(1, len(spans) + 1)
        at, led = np.repeat(starts[:-1], len(lead)), np.tile(np.array(lead, np.int32), len(spans))
        ids = np.insert(tokens.ids, at, led).astype(np.int32)
        return Encoded(ids, bounds(tokens.lengths + len(lead)), first + added, last + added, covered)

    def windows(self, texts: Sequence[str], room: int) -> list[tuple[TextWindow, ...]]:
        """The windows of each text in which at most ``room`` tokens are read; one window if the text fits.

        Every character counts in one window. Later windows begin half a window earlier, so that what they count has
        context. A text is not cut if the tokenizer does not say where tokens begin.
        """
        lengths = self.encode(whole(texts), first_is_scored=True).lengths
        return [
            uncut(text) if length <= room else self._cut(text, room)
            for text, length in zip(texts, lengths.tolist(), strict=True)
        ]

    def _cut(self, text: str, room: int) -> tuple[TextWindow, ...]:
        """Cut a text at its tokens; a part can have more tokens than it had in the text, and is then cut smaller."""
        begins = self._tokenize([text], offsets=True).begin
        if begins is None:
            return uncut(text)
        size = room
        while True:
            windows = tuple(_windows(text, begins, size))
            parts = whole([text[w.begin : w.stop] for w in windows])
            longest = int(self.encode(parts, first_is_scored=True).lengths.max())
            if longest <= room or size <= _LEAST:
                return windows
            size = max(_LEAST, size - max(1, longest - room))

    def _tokenize(self, texts: Sequence[str], *, offsets: bool) -> _Tokens:
        pieces = [self._tokenize_batch(texts[i : i + _BATCH], offsets) for i in range(0, len(texts), _BATCH)]
        if not pieces:
            return _Tokens(np.zeros(0, np.int32), np.zeros(0, np.int64), None, None)
        columns: list[Any] = [
            None if column[0] is None else np.concatenate(column) for column in zip(*pieces, strict=True)
        ]
        return _Tokens(*columns)

    def _tokenize_batch(self, texts: Sequence[str], offsets: bool) -> _Tokens:
        if self._fast is None:
            with tokenizer_errors():
                return _tokens(self._slow(list(texts), add_special_tokens=False)["input_ids"])
        encode = self._fast.encode_batch if offsets else self._fast.encode_batch_fast
        with tokenizer_errors():
            encodings = encode(list(texts), add_special_tokens=False)
        tokens = _tokens([e.ids for e in encodings])
        if not offsets:
            return tokens
        pairs = chain.from_iterable(chain.from_iterable(e.offsets for e in encodings))
        places = np.fromiter(pairs, np.int32, 2 * len(tokens.ids)).reshape(-1, 2)
        first = bounds(tokens.lengths)[:-1][tokens.lengths > 1]
        added = first[np.isin(tokens.ids[first], self._spaces) & (places[first + 1, 0] == 0)]
        places[added, 1] = 0  # a space that the tokenizer puts before a text covers no character
        word = np.fromiter(chain.from_iterable(e.word_ids for e in encodings), np.int32, len(tokens.ids))
        return tokens._replace(begin=places[:, 0], end=places[:, 1], word=word)


def encode_offsets(spans: Spans, begins: Sequence[Int32s], *, first_is_scored: bool) -> Encoded:
    """Encode spans of texts if only the beginning of each token is known; all ids are 0."""
    places = _placed(spans)
    lengths = np.fromiter(map(len, begins), np.int64, len(begins))
    flat = np.concatenate([*begins, np.zeros(0, np.int32)]).astype(np.int32)
    ends = [np.append(begin, len(text))[1:] for begin, text in zip(begins, places.texts, strict=True)]
    end = np.concatenate([*ends, np.zeros(0, np.int32)]).astype(np.int32)
    tokens = _Tokens(np.zeros(len(flat), np.int32), lengths, flat, end)
    first, last, covered = _covered(places, tokens, drops_first=not first_is_scored)
    return Encoded(tokens.ids, bounds(lengths), first, last, covered)


@dataclass(frozen=True, slots=True)
class _Places:
    """The texts that a model reads, context included, and the places of the spans in them."""

    texts: list[str]
    start: Int32s
    stop: Int32s
    all_of_it: Bools


def _placed(spans: Spans) -> _Places:
    texts = [c + t if c else t for c, t in zip(spans.context, spans.text, strict=True)]
    shift = np.fromiter(map(len, spans.context), np.int32, len(texts))
    start, stop = spans.start + shift, spans.stop + shift
    sizes = np.fromiter(map(len, texts), np.int32, len(texts))
    return _Places(texts, start, stop, (start <= 0) & (stop >= sizes))


def _covered(places: _Places, tokens: _Tokens, *, drops_first: bool) -> tuple[Ints, Ints, Int32s]:
    """The first scored token of each span, the position after the last, and the bytes that they cover."""
    start = places.start
    first, last = _scored_tokens(tokens, start, places.stop, places.all_of_it)
    if drops_first:
        begins, some = bounds(tokens.lengths)[:-1], tokens.lengths > 0
        first = np.where(some & (first == begins), np.minimum(first + 1, last), first)
        if tokens.end is not None and len(tokens.end):
            unscored = np.minimum(tokens.end[np.minimum(begins, len(tokens.end) - 1)], places.stop)
            start = np.where(some, np.maximum(start, unscored), start)
    return first, last, _utf8_lengths(places.texts, start, places.stop)


def _tokens(ids: Sequence[Sequence[int]]) -> _Tokens:
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    return _Tokens(np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum())), lengths, None, None)


def _scored_tokens(tokens: _Tokens, start: Int32s, stop: Int32s, all_of_it: Bools) -> tuple[Ints, Ints]:
    """The first token of each row in its span, and the position after the last, as positions in the ids."""
    edges = bounds(tokens.lengths)
    if all_of_it.all():
        return edges[:-1], edges[1:]
    if tokens.begin is None or tokens.end is None:
        raise ModelError(
            "the tokenizer does not say which characters a token covers, so only whole texts can be scored: save a "
            "fast tokenizer with the model, or leave a --context out"
        )
    row = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    begin, end = tokens.begin, np.maximum(tokens.end, tokens.begin + 1)  # an empty token counts at its beginning
    inside = np.flatnonzero(all_of_it[row] | ((begin < stop[row]) & (end > start[row])))
    low, high = (np.searchsorted(row[inside], np.arange(len(tokens.lengths)), side) for side in ("left", "right"))
    none = low == high
    padded = np.append(inside, 0)
    first = np.where(none, edges[:-1], padded[low])
    return first, np.where(none, edges[:-1], padded[np.maximum(high, 1) - 1] + 1)


def _utf8_lengths(texts: Sequence[str], start: npt.NDArray[Any], stop: npt.NDArray[Any]) -> Int32s:
    lengths: Int32s = np.maximum(stop - start, 0).astype(np.int32)
    for i, text in enumerate(texts):
        if not text.isascii():
            lengths[i] = len(text[start[i] : stop[i]].encode())
    return lengths


def _windows(text: str, begins: Int32s, size: int) -> Iterator[TextWindow]:
    step = size - size // 2
    stop = 0
    for first in range(0, len(begins), step):
        start, after = stop, first + size
        stop = _before_space(text, int(begins[after])) if after < len(begins) else len(text)
        if stop > start:
            yield TextWindow(_before_space(text, int(begins[first])) if first else 0, start, stop)
        if after >= len(begins):
            return


def _before_space(text: str, place: int) -> int:
    """The place before the spaces that end there: in most vocabularies a word's token has the space before it."""
    while place and text[place - 1].isspace():
        place -= 1
    return place
