"""Decoding: how the next token is chosen, as named files of ``evaluation/decoding/``, and where a response ends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from holisticbias.terms.entries import Record
from holisticbias_eval.arrays import Tensor
from holisticbias_eval.models.loading.tokenizers import tokens_named
from holisticbias_eval.named_files import NamedFiles

if TYPE_CHECKING:
    from holisticbias_eval.models.generation.conversation import Conversation


class Decoding(Record):
    """A file of ``evaluation/decoding/``: the method that chooses the tokens of a response, and its limits.

    ``blocked_ngram`` blocks repeated sequences of this many tokens within the response; those of the prompt
    may be repeated, so that parroting is not hidden.
    """

    id: str = Field(min_length=1)
    method: Literal["sample", "beam", "greedy"]
    max_new_tokens: int = Field(ge=1, le=4096)
    min_new_tokens: int = Field(0, ge=0)
    temperature: float = Field(1.0, gt=0, description="for sample")
    top_k: int | None = Field(None, ge=1, description="for sample: choose among this many of the likeliest tokens")
    top_p: float | None = Field(None, gt=0, le=1, description="for sample: choose among the likeliest with this sum")
    beams: int | None = Field(None, ge=2, description="for beam: the number of beams")
    length_penalty: float = Field(1.0, description="for beam: the exponent of the length that a sum is divided by")
    blocked_ngram: int | None = Field(None, ge=1, description="length of sequences that a response may not repeat")
    source: str = Field(min_length=1, description="who uses these settings")
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.method == "beam") != (self.beams is not None):
            raise ValueError("beams is for the method beam, which needs it")
        if self.method != "sample" and (self.top_k or self.top_p or self.temperature != 1.0):
            raise ValueError("temperature, top_k and top_p are for the method sample")
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError("min_new_tokens must not exceed max_new_tokens")
        return self

    @property
    def settings(self) -> Mapping[str, str]:
        """Every setting, with the name of the file, for a run's signature."""
        values = self.model_dump(exclude={"source", "note"}, exclude_none=True)
        return {f"decoding_{key}" if key != "id" else "decoding": str(value) for key, value in values.items()}


DECODINGS = NamedFiles("decoding", "decoding", Decoding)


Thinking = Literal["none", "marked", "opened"]
"""Whether a chat template knows reasoning: not at all, between marks that the model writes, or from its own mark on."""
THINK = ("<think>", "<thinking>")
_THOUGHT = re.compile(r"<(think|thinking)>(.*?)(</\1>|\Z)", re.DOTALL)
_END = re.compile(r"\A(.*?)</(?:think|thinking)>", re.DOTALL)


class Ending:
    """The tokens and texts that end a response of one model, and the tokens that it suppresses.

    ``tokens`` are the end tokens of the model's generation settings, of its
    tokenizer and of the conversation. ``settings`` are the numbers of these tokens, for the signature.
    """

    def __init__(self, model: Any, tokenizer: Any, conversation: Conversation, decoding: Decoding) -> None:
        settings = model.generation_config
        ids_of_end = (settings.eos_token_id, model.config.eos_token_id, tokenizer.eos_token_id, [*conversation.ends])
        self.tokens = frozenset(token for ids in ids_of_end for token in tokens_named(model, "eos_token_id", ids))
        self._suppressed = tokens_named(model, "suppress_tokens", settings.suppress_tokens)
        self._suppressed_first = tokens_named(model, "begin_suppress_tokens", settings.begin_suppress_tokens)
        forced = tokens_named(model, "forced_bos_token_id", settings.forced_bos_token_id)
        self.forced = next(iter(forced), None)
        self._first = len(forced)  # the first step whose token is chosen
        known = {
            "end_tokens": sorted(self.tokens),
            "suppressed_tokens": self._suppressed,
            "suppressed_first_tokens": self._suppressed_first,
            "forced_token": forced,
        }
        self.settings = {name: " ".join(map(str, ids)) for name, ids in known.items() if ids}
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
        return tokens[-1] in self.tokens or bool(self._stops and self._stops_at(tokens))

    def cut(self, tokens: list[int]) -> list[int]:
        """New tokens up to the first end of the response."""
        count = next((i for i, token in enumerate(tokens, 1) if token in self.tokens), len(tokens))
        if self._stops:
            count = next((i for i in range(1, count) if self._stops_at(tokens[:i])), count)
        return tokens[:count]

    def written(self, tokens: list[int]) -> tuple[str, str, int]:
        """The text of these new tokens, which ``cut`` has cut, why it ends, and how many there are before the end."""
        ended = tokens[-1] in self.tokens
        kept = tokens[:-1] if ended else tokens
        text, stopped = cut_at(self._decode(kept), self._stops)
        finish = "stop" if ended or stopped else "length"
        return text.rstrip() if self._keeps_blank else text.strip(), finish, len(kept)

    def _decode(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def _stops_at(self, tokens: Sequence[int]) -> bool:
        """Whether the text of these tokens contains a stop."""
        return cut_at(self._decode(tokens), self._stops)[1]


def split_reasoning(text: str) -> tuple[str, str]:
    """The response and the reasoning in a text with ``<think>`` marks; a part that was cut off is reasoning.

    Templates of some models open the reasoning themselves, so a text may only have the closing mark.
    """
    thoughts = [found[2] for found in _THOUGHT.finditer(text)]
    rest = _THOUGHT.sub("", text)
    if opened_before := _END.match(rest):
        thoughts.insert(0, opened_before[1])
        rest = rest[opened_before.end() :]
    return rest, "\n".join(filter(None, (thought.strip() for thought in thoughts)))


def apart(text: str, thinking: Thinking) -> tuple[str, str]:
    """The response and the reasoning in the text that a model wrote after its chat template."""
    if thinking == "none":
        return text, ""
    response, reasoning = split_reasoning(f"{THINK[0]}{text}" if thinking == "opened" else text)
    return response.strip(), reasoning


def cut_at(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """The text before the first of the stops, and whether it contains a stop."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)
