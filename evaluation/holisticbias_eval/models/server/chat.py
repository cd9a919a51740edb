"""Requests to a chat or completions server: what is sent, and which settings a server takes."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.models.generation.conversation import ConversationOptions, Form, text_form
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.frame import PROMPT, Frame, check_control, with_control
from holisticbias_eval.models.server.answers import WITHHELD, Answer, read_answer
from holisticbias_eval.models.server.http import ApiOptions, RequestError, ServerClient, WithheldError, one_line
from holisticbias_eval.models.server.refusals import named_settings

Endpoint = Literal["chat", "completions"]
_PATHS = {"chat": "chat/completions", "completions": "completions"}
_LIMITS = {"chat": ("max_completion_tokens", "max_tokens"), "completions": ("max_tokens",)}
_FORMAT = "response_format"
_NEUTRAL = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
"""Values without effect: a server that refuses one is asked without it. The seed, null here, is each request's own."""
_STEPS = (("top_k", "min_p", "repetition_penalty"), ("temperature", "top_p"), ("seed",), (_FORMAT,))
"""What a server that refuses a request without naming a setting is asked without, one after another."""
_TRIAL = "Count from 1 to 100, in words."
_TURN = Frame("", "\n", "", "", "\n")  # the content of the user's turn in a chat
_TIMES = 3  # an unusable answer may come from something between here and the server


class ChatClient:
    """Asks for responses with one model, decoding and conversation.

    Servers have defaults for the settings that a request leaves out, and they are not always neutral: a temperature of
    0.8, a repetition penalty of the model's files. So neutral values are sent too, and left out for a server that
    refuses them; ``left_out`` and the signature say which.
    """

    def __init__(
        self, model: str, base: str, decoding: Decoding, conversation: ConversationOptions, options: ApiOptions,
        endpoint: Endpoint, response_format: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.server = ServerClient(base, options)
        self._model, self._endpoint, self._decoding = model, endpoint, decoding
        self._taken: dict[str, float | None] = {**_sampling(decoding), **_neutral(decoding), "seed": None}
        self._left_out: dict[str, float | None] = {}
        self._format = {} if response_format is None else {_FORMAT: response_format}
        self._system = _system(conversation)
        self._control = check_control(conversation.control or "", "--control")
        form = _conversation(conversation, endpoint)
        self._form = replace(form, frame=with_control(form.frame, self._control))
        self._lock, self._limits = threading.Lock(), list(_LIMITS[endpoint])
        self._find_settings()

    @property
    def leaves_out(self) -> str:
        """The settings that the server does not take, with their values; empty if there are none."""
        return ", ".join(key if value is None else f"{key} {value}" for key, value in self._left_out.items())

    @property
    def keeps_blank(self) -> bool:
        """Whether the blank before a response is a part of it."""
        return self._form.keeps_blank

    @property
    def settings(self) -> Mapping[str, str]:
        """Everything that responses depend on besides decoding and seed, for a run's signature."""
        seed = ["seed"] if "seed" in self._taken else []
        sent: dict[str, object] = {key: value for key, value in self._taken.items() if key != "seed"}
        sent |= dict.fromkeys(self._format, "json_schema")
        return {
            "server": self.server.base,
            "endpoint": self._endpoint,
            "conversation": self._form.named,
            "conversation_text": json.dumps(self._content(self._form.frame.with_persona), ensure_ascii=False),
            "conversation_text_without_persona": json.dumps(
                self._content(self._form.frame.without_persona), ensure_ascii=False
            ),
            "sent": ", ".join([*(f"{key} {value}" for key, value in sorted(sent.items())), *seed]),
            **({"not_sent": self.leaves_out} if self._left_out else {}),
            **({"control": self._control} if self._control else {}),
        }

    def ask(self, persona: str, prompt: str, seed: int) -> Answer:
        """Ask for one response; raises ``ModelError`` if the server does not give a usable answer."""
        return self._answer(self._content("".join(self._form.frame.pieces(persona, prompt))), seed)

    def _find_settings(self) -> None:
        """Ask until the server takes a request, each time without what it has refused.

        A refusal that names settings, of which some are neutral or the seed, is answered by a request without these.
        After a refusal without such a name, the other name of the limit is tried, then a request without the next of
        ``_STEPS``. Raises the last refusal; a refusal that names a setting which the decoding needs ends the search.
        """
        refusal: RequestError | None = None
        limits = list(self._limits)
        for step in ((), *_STEPS):
            if step and not self._leave_out([name for name in step if self._can_leave_out(name)]):
                continue
            for place in range(len(limits)):
                self._limits = limits[place:]
                refusal = self._try()
                if refusal is None:
                    return
        raise refusal or self.server.refused("it takes no request")

    def _try(self) -> RequestError | None:
        """Ask, and again without settings that a refusal names; returns a refusal that names none, or null."""
        while True:
            try:
                self._answer(self._content(_TRIAL), 1)
            except RequestError as refusal:
                sent = [*self._taken, *self._format, *self._limits[:-1][:1]]
                named = named_settings(refusal.content, sent)
                if not self._leave_out([name for name in named if self._can_leave_out(name)]):
                    if named:
                        raise EvaluationError(
                            f"{refusal}; if it does not take {' and '.join(named)}, choose a --decoding without "
                            f"{'it' if len(named) == 1 else 'them'}, as sampled"
                        ) from refusal
                    return refusal
            else:
                return None

    def _leave_out(self, names: Iterable[str]) -> bool:
        """Leave settings out from now on; returns whether there were any."""
        found = False
        for name in names:
            found = True
            if name == self._limits[0]:
                del self._limits[0]
            elif name in self._format:
                self._format = {}
            else:
                self._left_out[name] = self._taken.pop(name)
        return found

    def _can_leave_out(self, name: str) -> bool:
        """Whether a setting is sent, and is neutral, the seed, the format, or a limit that has another name."""
        neutral = name in self._taken and self._taken[name] == _NEUTRAL.get(name)
        return neutral or name in self._format or (name == self._limits[0] and len(self._limits) > 1)

    def _content(self, text: str) -> Mapping[str, Any]:
        """The part of a request that says what to answer."""
        if self._endpoint == "completions":
            return {"prompt": text, **({"stop": list(self._form.stops)} if self._form.stops else {})}
        system = [] if self._system is None else [{"role": "system", "content": self._system}]
        return {"messages": [*system, {"role": "user", "content": text}]}

    def _answer(self, content: Mapping[str, Any], seed: int) -> Answer:
        """Ask, and ask again if the answer is longer than the maximum: a server ignores names that it does not know."""
        longest = self._decoding.max_new_tokens
        while True:
            limit = self._limits[0]
            settings = {key: seed if key == "seed" else value for key, value in self._taken.items()}
            body = {"model": self._model, **content, **settings, **self._format, limit: longest}
            answer = self._read(body)
            if (answer.tokens or len(answer.text.split())) <= longest + 1:  # some servers count the end
                return answer
            with self._lock:
                if len(self._limits) == 1:
                    raise self.server.refused(f"it writes more than {longest} tokens (it ignores {limit})")
                if self._limits[0] == limit:
                    del self._limits[0]

    def _read_one(self, body: Mapping[str, Any]) -> Answer:
        content = self.server.post(_PATHS[self._endpoint], body)
        return read_answer(content, self._form.stops, keeps_blank=self._form.keeps_blank)

    def _read(self, body: Mapping[str, Any]) -> Answer:
        reason = ""
        for _ in range(_TIMES):
            try:
                return self._read_one(body)
            except WithheldError:
                return WITHHELD
            except ValidationError as error:
                reason = schema_message(error.errors()[0])
            except (ValueError, RecursionError) as error:
                reason = str(error)
        raise self.server.refused(f"its answer is not a completion: {one_line(reason)}")


def _system(options: ConversationOptions) -> str | None:
    return options.style.system if options.system is None and options.style else options.system


def _sampling(decoding: Decoding) -> Mapping[str, float]:
    """The common settings of a decoding; raises ``EvaluationError`` if it has settings that servers lack."""
    lacking = [
        name
        for name, used in (
            ("beam search", decoding.method == "beam"),
            ("min_new_tokens", decoding.min_new_tokens > 0),
            ("blocked_ngram", decoding.blocked_ngram is not None),
        )
        if used
    ]
    if lacking:
        raise EvaluationError(
            f"servers have no {', '.join(lacking)}, which the decoding {decoding.id!r} needs: "
            "choose another --decoding, as sampled, or a local model"
        )
    if decoding.method == "greedy":
        return {"temperature": 0.0}
    return {"temperature": decoding.temperature, "top_p": 1.0 if decoding.top_p is None else decoding.top_p}


def _neutral(decoding: Decoding) -> Mapping[str, float]:
    """Settings of many servers, with the decoding's value or one without effect."""
    if decoding.method == "greedy":
        return {"repetition_penalty": 1.0}
    return {"top_k": decoding.top_k or 0, "min_p": 0.0, "repetition_penalty": 1.0}


def _conversation(options: ConversationOptions, endpoint: Endpoint) -> Form:
    if endpoint == "completions":
        if options.chat == "on":
            raise ModelError("--chat on is for the endpoint chat: leave it out, or use --api-endpoint chat")
        return text_form(options)
    if options.chat == "off" or options.separator is not None or options.continuation is not None:
        raise ModelError("--chat off, --separator and --continuation need --api-endpoint completions")
    if options.style is not None and options.style.turn != PROMPT:
        before, _, after = options.style.turn.partition(PROMPT)
        return Form("the server's chat template, a turn around the prompt", Frame(before, "\n", before, after, "\n"))
    return Form("the server's chat template", _TURN)
