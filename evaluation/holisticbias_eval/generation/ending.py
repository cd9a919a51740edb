"""What ends a response, what it may not contain, and how its tokens become a text."""

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

    def written(self, tokens: Sequence[int]) -> Written:
        """The response of these new tokens; those after its end are left out."""
        count = next((i for i, token in enumerate(tokens) if token in self.tokens), len(tokens))
        text, finish = self._decode(tokens[:count]), "stop" if count < len(tokens) else "length"
        if self._stop(text) is not None:
            count = next(i for i in range(1, count + 1) if self._stop(self._decode(tokens[:i])) is not None)
            text, finish = self._decode(tokens[:count]), "stop"
        return Written(text[: self._stop(text)].strip(), finish, count)

    def _decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _stop(self, text: str) -> int | None:
        """Where the first stop begins in a text, None without one."""
        places = [text.find(stop) for stop in self._stops]
        return min((place for place in places if place >= 0), default=None)


def _ids(value: int | Sequence[int] | None) -> list[int]:
    if value is None:
        return []
    return [value] if isinstance(value, int) else [int(token) for token in value]
