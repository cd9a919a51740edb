"""Ask one model of an OpenAI-compatible server, without the settings that the server refuses, and read its answers."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holisticbias.inputs import whole_text
from holisticbias_eval.models.generation.decoding import cut_at, split_reasoning
from holisticbias_eval.models.generation.requests import Finish
from holisticbias_eval.models.server.http import RequestError, ServerClient, WithheldError, named_settings
from holisticbias_eval.models.settings import ModelSettings

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

    @property
    def written(self) -> str:
        """The text of the answer."""
        content = self.message.content if self.message else self.text
        return "".join(part.text for part in content) if isinstance(content, list) else content or ""


class _Usage(Received):
    completion_tokens: Any = None


class Completion(Received):
    """An answer to a request for a chat or a completion, of which the first choice counts."""

    choices: tuple[ChatChoice, ...] = Field(min_length=1)
    usage: _Usage | None = None
    system_fingerprint: Any = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.choice.message is None and self.choice.text is None:
            raise ValueError("a choice has neither a message nor a text")
        return self

    @property
    def choice(self) -> ChatChoice:
        """The first choice."""
        return self.choices[0]


C = TypeVar("C", bound=Completion)


class Answer(NamedTuple):
    """One response; ``fingerprint`` is what the server calls its configuration, None if it does not say."""

    text: str
    finish: Finish
    tokens: int
    reasoning: str
    fingerprint: str | None = None


WITHHELD = Answer("", "filtered", 0, "")


def read_answer(completion: Completion, stops: Sequence[str], *, keeps_blank: bool) -> Answer:
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
    return Answer(whole_text(text), finish, _count(completion.usage), whole_text(reasoning), named)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: _Usage | None) -> int:
    count = usage.completion_tokens if usage else None
    return count if isinstance(count, int) and 0 <= count < 2**31 else 0


Endpoint = Literal["chat", "completions"]
_PATHS = {"chat": "chat/completions", "completions": "completions"}


class OpenAI:
    """Asks one model for answers.

    ``sends`` are the settings of each request; the value of ``seed`` is each request's own. ``limits`` are the names
    under which servers know the longest answer, of which the first is sent. A name that a server refuses is left out
    if it is ``optional``, as by default all are, and stands in ``left_out``. May be used from several threads.
    """

    def __init__(
        self,
        model: str,
        base: str,
        settings: ModelSettings,
        sends: Mapping[str, Any],
        limits: Sequence[str] = ("max_tokens", "max_completion_tokens"),
    ) -> None:
        self.server = ServerClient(base, settings)
        self._model = model
        self.sends, self.left_out = dict(sends), dict[str, Any]()
        self.limits = list(limits)
        self.optional = frozenset({*sends, *limits})
        self._lock = threading.Lock()

    def ask(
        self, kind: type[C], content: Mapping[str, Any], longest: int, seed: int = 0, *, endpoint: Endpoint = "chat"
    ) -> C:
        """The answer to a request, of this kind, at most ``longest`` tokens.

        If a refusal names settings that are ``optional``, the server is asked without them from now on. Raises
        ``WithheldError`` or ``RequestError`` if the server does not answer this request, and ``ModelError`` if it gives
        no usable answer.
        """
        while True:
            limit = self.limits[0]
            sent = {name: seed if name == "seed" else value for name, value in self.sends.items()}
            try:
                body = {"model": self._model, **content, **sent, limit: longest}
                return self.server.ask(kind, _PATHS[endpoint], body)
            except WithheldError:
                raise
            except RequestError as refusal:
                named = named_settings(refusal.content, [*sent, *([limit] if limit != self.limits[-1] else [])])
                if not self.leave_out(name for name in named if name in self.optional):
                    raise

    def leave_out(self, names: Iterable[str]) -> bool:
        """Leave settings, or the first name of the limit, out from now on; returns whether any are named."""
        leaving = list(names)
        with self._lock:
            for name in leaving:
                if name in self.sends:
                    self.left_out[name] = self.sends.pop(name)
                elif name == self.limits[0] and len(self.limits) > 1:
                    del self.limits[0]
        return bool(leaving)


def user_turn(text: str, system: str | None = None) -> Mapping[str, Any]:
    """The content of a request for an answer to one turn of a user."""
    first = [] if system is None else [{"role": "system", "content": system}]
    return {"messages": [*first, {"role": "user", "content": text}]}
