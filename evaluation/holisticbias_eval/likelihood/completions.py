"""A client of OpenAI-compatible servers: the tokens and log-probabilities of echoed prompts."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import urllib3
from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias_eval.arrays import Floats, Int32s
from holisticbias_eval.errors import ModelError

KEY_VARIABLE = "HOLISTICBIAS_API_KEY"
_MAX_TOKENS = 1  # some servers refuse 0, and others take 0 as no limit
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """Options for requests to a server.

    ``batch`` is prompts per request, ``concurrency`` requests at once,
    ``per_minute`` and ``budget`` the most requests per minute and in all (0: no
    limit), ``timeout`` seconds per request.
    """

    batch: int = 16
    concurrency: int = 8
    per_minute: int = 0
    budget: int = 0
    retries: int = 5
    timeout: float = 120.0


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """The tokens of a prompt; every field has shape ``[tokens]``.

    ``begin`` is where each token begins in the prompt, ``nll`` its negative
    log-likelihood, and ``least`` that of the likeliest token at its position, in
    nats; NaN if the server gives none.
    """

    begin: Int32s
    nll: Floats
    least: Floats


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Logprobs(_Reply):
    tokens: list[str]
    token_logprobs: list[float | None]
    text_offset: list[int] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(_Reply):
    text: str = ""
    index: int = 0
    logprobs: _Logprobs | None = None


class _Completion(_Reply):
    choices: list[_Choice]


class CompletionsClient:
    """Sends prompts to one server for one model, within a rate and a budget of requests."""

    def __init__(self, model: str, base: str, options: ApiOptions) -> None:
        if not base.startswith(("http://", "https://")):
            raise ModelError(f"{base!r} is not the address of a server: it must start with http:// or https://")
        self.base = base.rstrip("/")
        self._model, self._options = model, options
        retry = urllib3.Retry(
            total=options.retries,
            backoff_factor=0.2,
            backoff_max=60,
            status_forcelist=_RETRIED,
            allowed_methods=None,
            raise_on_status=False,
        )
        self._pool = urllib3.PoolManager(maxsize=options.concurrency, retries=retry, timeout=options.timeout)
        self._lock = threading.Lock()
        self._asked, self._next = 0, 0.0

    def ask(self, prompts: Sequence[str]) -> list[PromptTokens]:
        """The tokens of each prompt, from one request; raises ``ModelError`` if the server's answer is unusable."""
        body = {
            "model": self._model,
            "prompt": list(prompts) if len(prompts) > 1 else prompts[0],
            "max_tokens": _MAX_TOKENS,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }
        try:
            choices = sorted(_Completion.model_validate_json(self._post(body)).choices, key=lambda c: c.index)
        except ValidationError as error:
            raise self.refused(f"its answer is not a completion: {error.errors()[0]['msg']}") from error
        if len(choices) != len(prompts):
            raise self.refused(f"it answers {len(prompts)} prompts with {len(choices)} completions")
        return [self._read(prompt, choice) for prompt, choice in zip(prompts, choices, strict=True)]

    def refused(self, reason: str) -> ModelError:
        """The error that says why this server cannot be used."""
        return ModelError(f"the server {self.base} cannot be used: {reason}")

    def _read(self, prompt: str, choice: _Choice) -> PromptTokens:
        if not choice.text.startswith(prompt):
            raise self.refused("it does not echo the prompt (it ignores echo=true)")
        found = choice.logprobs
        if found is None or not found.token_logprobs or len(found.tokens) != len(found.token_logprobs):
            raise self.refused("it gives no log-probabilities (it ignores logprobs)")
        begin = np.array(found.text_offset or np.cumsum([0, *map(len, found.tokens)])[:-1], np.int32)
        inside = int(np.searchsorted(begin, len(prompt)))
        if len(begin) != len(found.tokens) or begin[0] != 0 or np.any(np.diff(begin) < 0):
            raise self.refused("its tokens do not make up the prompt")
        if len(begin) - inside > _MAX_TOKENS:
            raise self.refused(f"it generates more text after the prompt (it ignores max_tokens={_MAX_TOKENS})")
        nll = np.array([np.nan if p is None else -p for p in found.token_logprobs[:inside]], np.float64)
        if np.isnan(nll[1:]).any() or np.any(nll < -1e-6):
            raise self.refused("it gives tokens of the prompt no log-probability, or one above 0")
        likeliest = [max(top.values(), default=np.nan) if top else np.nan for top in found.top_logprobs or []]
        least = -np.array([*likeliest, *[np.nan] * len(begin)][:inside], np.float64)
        return PromptTokens(begin[:inside], nll, least)

    def _post(self, body: Mapping[str, Any]) -> bytes:
        self._take_turn()
        key = os.environ.get(KEY_VARIABLE)
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            reply = self._pool.request("POST", f"{self.base}/completions", body=json.dumps(body), headers=headers)
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise ModelError(f"the server {self.base} does not answer: {str(reason)[:200]}") from error
        if reply.status in {401, 403}:
            raise ModelError(f"the server {self.base} asks for a key: set ${KEY_VARIABLE}")
        if reply.status != 200:
            raise ModelError(f"the server {self.base} answers with {reply.status}: {_message(reply.data)}")
        return bytes(reply.data)

    def _take_turn(self) -> None:
        """Wait until the rate allows a request; raise ``ModelError`` if the budget is spent."""
        with self._lock:
            if self._options.budget and self._asked >= self._options.budget:
                raise ModelError(
                    f"the budget of {self._options.budget:,} requests is spent; "
                    "finished scores are kept: run the command again to continue"
                )
            self._asked += 1
            if not self._options.per_minute:
                return
            now = time.monotonic()
            self._next = max(now, self._next) + 60 / self._options.per_minute
            pause = self._next - 60 / self._options.per_minute - now
        time.sleep(max(0.0, pause))


def _message(data: bytes) -> str:
    return " ".join(data.decode(errors="replace").split())[:200]
