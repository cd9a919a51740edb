"""Answers of OpenAI-compatible servers: response, refusal, reasoning and why the response ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from holisticbias_eval.models.generation.ending import cut_at, split_reasoning, storable
from holisticbias_eval.models.generation.requests import Finish

_FINISH: dict[str, Finish] = {"length": "length", "max_tokens": "length", "content_filter": "filtered"}


class Received(BaseModel):
    """A part of an answer, of which only what is used here must have its form."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Content(Received):
    text: str = ""


class _Message(Received):
    content: str | list[_Content] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None


class ChatChoice(Received):
    """One answer: the message of a chat, or the text of a completion."""

    message: _Message | None = None
    text: str | None = None
    finish_reason: Any = None
    logprobs: Any = None

    @property
    def written(self) -> str:
        """The text of the answer."""
        content = self.message.content if self.message else self.text
        return "".join(part.text for part in content) if isinstance(content, list) else content or ""


class _Usage(Received):
    completion_tokens: Any = None


class Completion(Received):
    """An answer to a request for a chat or a completion, of which the first choice counts."""

    choices: list[ChatChoice] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: Any = None

    @property
    def choice(self) -> ChatChoice:
        """The first choice."""
        return self.choices[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """One response; ``fingerprint`` is what the server calls its configuration, None if it does not say."""

    text: str
    finish: Finish
    tokens: int
    reasoning: str
    fingerprint: str | None = None


WITHHELD = Answer("", "filtered", 0, "")


def read_completion(content: bytes) -> Completion:
    """Read an answer; raises ``ValueError`` or ``RecursionError`` if it cannot be read as one."""
    completion = Completion.model_validate(json.loads(content))
    if completion.choice.message is None and completion.choice.text is None:
        raise ValueError("a choice has neither a message nor a text")
    return completion


def read_answer(completion: Completion, stops: Sequence[str] = (), *, keeps_blank: bool = False) -> Answer:
    """The response of an answer.

    A refusal in a separate field leaves the response empty and stands in ``reasoning``, after
    reasoning in a separate field or between ``<think>`` marks. The response ends before the
    first of ``stops``, also if the server ignores them; ``keeps_blank`` is whether the blank before it is part of it.
    """
    choice, message = completion.choice, completion.choice.message
    text, thoughts = split_reasoning(choice.written)
    text, stopped = cut_at(text, stops)
    finish = "stop" if stopped else _FINISH.get(str(choice.finish_reason), "stop")
    said = [_text(message.reasoning_content) or _text(message.reasoning)] if message else []
    refusal = message.refusal if message else None
    if refusal:
        text, finish = "", "refused"
    reasoning = "\n".join(filter(None, [*said, thoughts, refusal]))
    text = text.rstrip() if keeps_blank else text.strip()
    named = _text(completion.system_fingerprint)[:60] or None
    return Answer(storable(text), finish, _count(completion.usage), storable(reasoning), named)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: _Usage | None) -> int:
    count = usage.completion_tokens if usage else None
    return count if isinstance(count, int) and 0 <= count < 2**31 else 0
