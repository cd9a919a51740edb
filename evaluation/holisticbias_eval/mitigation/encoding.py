"""Encode texts to train on as tokens, with the characters of each token and the tokens to learn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from holisticbias_eval.arrays import Tensor
from holisticbias_eval.mitigation.losses.term_reader import padded
from holisticbias_eval.mitigation.method import AuxiliaryLoss, TokenBatch
from holisticbias_eval.mitigation.texts import contexts_of
from holisticbias_eval.models.likelihood.opening import AUTO, find_opening

IGNORED = -100
"""The label of a token that is read and not learned."""


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text as tokens.

    ``ids`` are its tokens, after the opening tokens, ``offsets`` their characters in ``text``, empty for a special
    token, and ``labels`` the ids to learn or ``IGNORED``.
    """

    text: str
    ids: Sequence[int]
    offsets: Sequence[tuple[int, int]]
    labels: Sequence[int]

    @property
    def learned(self) -> int:
        """The number of tokens to learn."""
        return sum(label != IGNORED for label in self.labels)


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """The texts with a token to learn; ``cut`` were longer than the model reads, ``empty`` had nothing to learn."""

    texts: Sequence[EncodedText]
    cut: int
    empty: int


class Encoder:
    """Encodes texts after the token that opens them in scoring, so that training and measuring read the same.

    ``opening`` names that token, see ``find_opening``, or is the ids of tokens that stand before each text which does
    not begin with them. A text that is longer than ``window`` loses the beginning of its context first, then its own
    end.
    """

    def __init__(self, tokenizer: Any, window: int, opening: str | Sequence[int] = AUTO) -> None:
        self._tokenizer = tokenizer
        self._is_named = isinstance(opening, str)
        self._opening = find_opening(tokenizer, opening).tokens if isinstance(opening, str) else tuple(opening)
        self._window = window

    def encode(self, texts: pa.Table) -> EncodedTexts:
        """Encode the columns ``context``, which may be absent or null, and ``text``."""
        if not texts.num_rows:
            return EncodedTexts((), 0, 0)
        contexts = [context or "" for context in contexts_of(texts)]
        whole = [context + text for context, text in zip(contexts, texts["text"].to_pylist(), strict=True)]
        tokens = self._tokenizer(
            whole, add_special_tokens=False, return_offsets_mapping=True, truncation=False, verbose=False
        )
        made, cut = [], 0
        columns = (contexts, whole, tokens["input_ids"], tokens["offset_mapping"])
        for context, text, ids, offsets in zip(*columns, strict=True):
            is_opened = not self._is_named and tuple(ids[: len(self._opening)]) == self._opening
            opening = () if is_opened else self._opening
            made.append(self._encoded(text, len(context), ids, offsets, opening))
            cut += len(ids) + len(opening) > self._window
        kept = [one for one in made if one.learned]
        return EncodedTexts(kept, cut, len(made) - len(kept))

    def _encoded(
        self, text: str, start: int, ids: Sequence[int], offsets: Sequence[tuple[int, int]], opening: Sequence[int]
    ) -> EncodedText:
        """A text whose characters from ``start`` on are learned."""
        room = self._window - len(opening)
        first = next((i for i, (_, stop) in enumerate(offsets) if stop > start), len(ids))
        stop = min(len(ids), first + room)
        begin = max(0, stop - room) if first else 0
        labels = [IGNORED] * (first - begin) + list(ids[first:stop])
        if not opening and labels:
            labels[0] = IGNORED  # nothing is before it
        return EncodedText(
            text,
            [*opening, *ids[begin:stop]],
            [(0, 0)] * len(opening) + [(int(a), int(b)) for a, b in offsets[begin:stop]],
            [IGNORED] * len(opening) + labels,
        )


class Collator:
    """Makes a batch of encoded texts, padded at the end, and what the ``auxiliary`` loss needs to know of it.

    ``window`` is the number of tokens that the model can read, for that loss.
    The token that fills the padding has no influence: it is not attended to and not learned.
    """

    def __init__(self, tokenizer: Any, auxiliary: AuxiliaryLoss | None = None, window: int = 0) -> None:
        known = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        self._filler = next(token for token in known if token is not None)
        self.auxiliary, self._window = auxiliary, window

    def __call__(self, texts: Sequence[EncodedText]) -> dict[str, Any]:
        """``input_ids``, ``attention_mask`` and ``labels``, ``[texts, tokens]``, and ``prepared`` for the auxiliary."""
        ids = padded([one.ids for one in texts], self._filler)
        mask = padded([[1] * len(one.ids) for one in texts], 0)
        prepared: Mapping[str, Tensor] = {}
        if self.auxiliary is not None:
            offsets = padded([one.offsets for one in texts], (0, 0))
            batch = TokenBatch([one.text for one in texts], ids, mask, offsets, self._window)
            prepared = self.auxiliary.prepare(batch)
        labels = padded([one.labels for one in texts], IGNORED)
        return {"input_ids": ids, "attention_mask": mask, "labels": labels, "prepared": dict(prepared)}
