"""The end of a response, the tokens that it may not contain, and the text of its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holisticbias_eval.generation.conversation import Conversation
from holisticbias_eval.generation.decoding import Decoding

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class Written:
    """One response: its text, why it ends, and its number of tokens without the token that ends it."""

    text: str
    finish: str
    tokens: int


class Ending:
    """The tokens and texts that end a response of one model, and the tokens that it suppresses.

    ``tokens`` are the end tokens of the model's generation settings, of its
    tokenizer and of the conversation.
    """

    def __init__(self, model: Any, tokenizer: Any, conversation: Conversation, decoding: Decoding) -> None:
        settings = model.generation_config
        own = (settings.eos_token_id, model.config.eos_token_id, tokenizer.eos_token_id)
        self.tokens = frozenset(token for ids in (*map(_ids, own), conversation.ends) for token in ids)
        self._suppressed = _ids(settings.suppress_tokens)
        self._suppressed_first = _ids(settings.begin_suppress_tokens)
        self._first = int(settings.forced_bos_token_id is not None)  # the first step whose token is chosen
        self._stops = conversation.stops
        self._keeps_blank = conversation.keeps_blank
        self._tokenizer = tokenizer
        self._decoding = decoding

    def mask(self, scores: Tensor, step: int) -> None:
        """Set the scores of tokens that may not come at a step of the response to -inf, in place."""
        if step < self._decoding.min_new_tokens:
            scores[:, sorted(self.tokens)] = float("-inf")
        scores[:, self._suppressed] = float("-inf")
        if step == self._first:
            scores[:, self._suppressed_first] = float("-inf")

    def ends(self, tokens: Sequence[int]) -> bool:
        """Whether the last of these tokens ends the response."""
        return tokens[-1] in self.tokens or bool(self._stops and self._stop(self._decode(tokens)) is not None)

    def cut(self, tokens: list[int]) -> list[int]:
        """New tokens up to the first end of the response."""
        count = next((i for i, token in enumerate(tokens, 1) if token in self.tokens), len(tokens))
        if self._stops:
            count = next((i for i in range(1, count) if self._stop(self._decode(tokens[:i])) is not None), count)
        return tokens[:count]

    def written(self, tokens: list[int]) -> Written:
        """The response of these new tokens, which ``cut`` has cut."""
        ended = tokens[-1] in self.tokens
        kept = tokens[:-1] if ended else tokens
        text = self._decode(kept)
        stop = self._stop(text)
        finish = "stop" if ended or stop is not None else "length"
        text = text[:stop].rstrip() if self._keeps_blank else text[:stop].strip()
        return Written(text, finish, len(kept))

    def _decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _stop(self, text: str) -> int | None:
        """The position of the first stop in a text; None if there is none."""
        places = [text.find(stop) for stop in self._stops]
        return min((place for place in places if place >= 0), default=None)


def _ids(value: int | Sequence[int] | None) -> list[int]:
    if value is None:
        return []
    return [value] if isinstance(value, int) else [int(token) for token in value]
