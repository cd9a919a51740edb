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


@dataclass(frozen=True, slots=True)
class Answer:
    """One response; ``fingerprint`` is what the server calls its configuration, None if it does not say."""

    text: str
    finish: Finish
    tokens: int
    reasoning: str
    fingerprint: str | None = None


WITHHELD = Answer("", "filtered", 0, "")


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Part(_Reply):
    text: str = ""


class _Message(_Reply):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: Any = None
    reasoning: Any = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class _Choice(_Reply):
    message: _Message | None = None
    text: str | None = None
    finish_reason: Any = None


class _Usage(_Reply):
    completion_tokens: Any = None


class _Completion(_Reply):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: Any = None


def read_answer(content: bytes, stops: Sequence[str], *, keeps_blank: bool = False) -> Answer:
    """Read the first choice of an answer; raises ``ValueError`` if there is none.

    A refusal in a separate field leaves the response empty and stands in ``reasoning``, after
    reasoning in a separate field or between ``<think>`` marks. The response ends before the
    first of ``stops``, also if the server ignores them; ``keeps_blank`` is whether the blank before it is part of it.
    """
    reply = _Completion.model_validate(json.loads(content))
    choice, message = reply.choices[0], reply.choices[0].message
    if message is None and choice.text is None:
        raise ValueError("a choice has neither a message nor a text")
    text, thoughts = split_reasoning(message.text if message else choice.text or "")
    text, stopped = cut_at(text, stops)
    finish = "stop" if stopped else _FINISH.get(str(choice.finish_reason), "stop")
    said = [_text(message.reasoning_content) or _text(message.reasoning)] if message else []
    refusal = message.refusal if message else None
    if refusal:
        text, finish = "", "refused"
    reasoning = "\n".join(filter(None, [*said, thoughts, refusal]))
    text = text.rstrip() if keeps_blank else text.strip()
    return Answer(storable(text), finish, _count(reply.usage), storable(reasoning), _named(reply))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: _Usage | None) -> int:
    count = usage.completion_tokens if usage else None
    return count if isinstance(count, int) and 0 <= count < 2**31 else 0


def _named(reply: _Completion) -> str | None:
    return _text(reply.system_fingerprint)[:60] or None
