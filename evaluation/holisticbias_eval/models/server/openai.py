"""A client of OpenAI-compatible servers: it asks one model, without the settings that its server refuses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.models.server.answers import Completion, read_completion
from holisticbias_eval.models.server.http import RequestError, ServerClient, WithheldError, one_line
from holisticbias_eval.models.server.refusals import named_settings
from holisticbias_eval.models.settings import ModelSettings

Endpoint = Literal["chat", "completions"]
_PATHS = {"chat": "chat/completions", "completions": "completions"}
_TIMES = 3  # an unusable answer may come from something between here and the server


class OpenAI:
    """Asks one model for answers.

    ``sends`` are the settings of each request; the value of ``seed`` is each request's own. ``limits`` are the names
    under which servers know the longest answer, of which the first is sent. What a server has refused is in
    ``left_out``. May be used from several threads.
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
        self._lock = threading.Lock()

    def ask(
        self,
        content: Mapping[str, Any],
        longest: int,
        seed: int = 0,
        *,
        endpoint: Endpoint = "chat",
        may_lack: Callable[[str], bool] = lambda _: True,
    ) -> Completion:
        """The answer to a request, at most ``longest`` tokens.

        If a refusal names settings that answers ``may_lack``, the server is asked without them from now on. Raises
        ``WithheldError`` or ``RequestError`` if the server does not answer this request, and ``ModelError`` if it gives
        no usable answer.
        """
        while True:
            limit = self.limits[0]
            sent = {name: seed if name == "seed" else value for name, value in self.sends.items()}
            try:
                body = {"model": self._model, **content, **sent, limit: longest}
                return self._completion(_PATHS[endpoint], body)
            except WithheldError:
                raise
            except RequestError as refusal:
                named = named_settings(refusal.content, [*sent, *([limit] if limit != self.limits[-1] else [])])
                if not self.leave_out(name for name in named if may_lack(name)):
                    raise

    def leave_out(self, names: Iterable[str]) -> bool:
        """Leave settings, or the first name of the limit, out from now on; returns whether any are named."""
        some = False
        with self._lock:
            for name in names:
                some = True
                if name in self.sends:
                    self.left_out[name] = self.sends.pop(name)
                elif name == self.limits[0] and len(self.limits) > 1:
                    del self.limits[0]
        return some

    def _completion(self, path: str, body: Mapping[str, Any]) -> Completion:
        reason = ""
        for _ in range(_TIMES):
            try:
                return read_completion(self.server.post(path, body))
            except ValidationError as error:
                reason = schema_message(error.errors()[0])
            except (ValueError, RecursionError) as error:
                reason = str(error)
        raise self.server.refused(f"its answer is not a completion: {one_line(reason)}")


def user_turn(text: str, system: str | None = None) -> Mapping[str, Any]:
    """The content of a request for an answer to one turn of a user."""
    first = [] if system is None else [{"role": "system", "content": system}]
    return {"messages": [*first, {"role": "user", "content": text}]}
