"""Models behind an OpenAI-compatible server: the log-probabilities of echoed prompts."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import urllib3
from pydantic import BaseModel, ConfigDict, ValidationError

from holisticbias_eval.arrays import Floats, Int32s
from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.batches import in_rows
from holisticbias_eval.likelihood.scorer import Notice, Progress, Scores, Spans
from holisticbias_eval.likelihood.span_sums import span_scores
from holisticbias_eval.likelihood.tokens import encode_offsets
from holisticbias_eval.models.identity import ModelIdentity

KEY_VARIABLE = "HOLISTICBIAS_API_KEY"
_PROBE = "The sky over the harbour was blue, and the sea was calm."
_PROBE_START = "The sky over the harbour"
_PROBE_OTHERS = tuple(f"The sky over the harbour was {end}." for end in ("grey", "full of gulls", "blue"))
_SAME = 0.05  # nats: servers round, and batch differently from one request to the next
_MAX_TOKENS = 1  # none at all is refused by some servers, and no limit to others
_RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class ApiOptions:
    """How a server is asked.

    ``batch`` is prompts a request, ``concurrency`` requests at once,
    ``per_minute`` and ``budget`` the most requests a minute and in all (0: no limit).
    """

    batch: int = 16
    concurrency: int = 8
    per_minute: int = 0
    budget: int = 0
    retries: int = 5
    timeout: float = 120.0


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


@dataclass(frozen=True, slots=True)
class _Prompt:
    """Where the tokens of a prompt begin, their negative log-likelihoods, and the least any token has there.

    Shape ``[tokens]`` each, NaN for none.
    """

    begin: Int32s
    nll: Floats
    least: Floats


class ApiScorer:
    """Scores texts by asking a server for the log-probabilities of a prompt that it echoes.

    Many servers leave out what they do not know without a word. So the server is
    probed first, and refused with a reason unless it echoes the prompt, gives
    every token after the first a log-probability, gives the beginning of a text
    the same ones as the text, judges a token by what stands before it alone, and
    stops where it is told to.
    """

    def __init__(self, name: str, base: str, notice: Notice, options: ApiOptions | None = None) -> None:
        if not base.startswith(("http://", "https://")):
            raise ModelError(f"{base!r} is no address of a server: it starts with http:// or https://")
        self._options = options or ApiOptions()
        self._name, self._base, self._notice = name, base.rstrip("/"), notice
        retry = urllib3.Retry(
            total=self._options.retries,
            backoff_factor=0.2,
            backoff_max=60,
            status_forcelist=_RETRIED,
            allowed_methods=None,
            raise_on_status=False,
        )
        self._pool = urllib3.PoolManager(
            maxsize=self._options.concurrency, retries=retry, timeout=self._options.timeout
        )
        self._lock = threading.Lock()
        self._asked, self._next = 0, 0.0
        self._batch = self._options.batch
        self._first_scored = self._probe()
        self.identity = ModelIdentity(name, "behind a server", None, None, None, "unknown", f"asked at {self._base}")

    @property
    def settings(self) -> Mapping[str, str]:
        """Which server was asked, and whether it gives the first token a likelihood."""
        first = "as the server gives it" if self._first_scored else "not counted: the server gives it no likelihood"
        return {"scorer": "api", "server": self._base, "first_token": first}

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        texts = [c + t for c, t in zip(spans.context, spans.text, strict=True)]
        distinct = list(dict.fromkeys(text for text in texts if text))
        batches = [distinct[i : i + self._batch] for i in range(0, len(distinct), self._batch)]
        tell = in_rows(progress, len(spans), len(distinct))
        answers: dict[str, _Prompt] = {"": _Prompt(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))}
        with ThreadPoolExecutor(self._options.concurrency) as threads:
            jobs = [threads.submit(self._ask, batch) for batch in batches]
            try:
                for batch, job in zip(batches, jobs, strict=True):
                    answers.update(zip(batch, job.result(), strict=True))
                    tell(len(batch))
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise
        found = [answers[text] for text in texts]
        encoded = encode_offsets(spans, [p.begin for p in found], first_is_scored=self._first_scored)
        return span_scores(encoded, np.nan_to_num(np.concatenate([*(p.nll for p in found), np.zeros(0)])))

    def _probe(self) -> bool:
        """Whether the first token gets a likelihood; ``ModelError`` for a server that cannot be relied upon."""
        (alone,) = self._ask([_PROBE])
        try:
            start, again = self._ask([_PROBE_START, _PROBE])
        except ModelError:
            self._batch = 1
            self._notice(f"{self._base} does not take lists of prompts: they are sent one by one")
            (start,), (again,) = self._ask([_PROBE_START]), self._ask([_PROBE])
        shared = len(start.nll) - 1
        if len(again.nll) != len(alone.nll) or not _close(alone.nll, again.nll):
            raise self._refused("it gives the same prompt different log-probabilities each time")
        if shared < 2 or not _close(start.nll[:shared], alone.nll[:shared]):
            raise self._refused(
                "it gives the beginning of a prompt other log-probabilities than the whole: they are not the prompt's"
            )
        if np.nanstd(alone.nll) < 1e-6:
            raise self._refused("it gives all tokens the same log-probability")
        self._refuse_shifted(alone)
        return not np.isnan(alone.nll[0])

    def _refuse_shifted(self, alone: _Prompt) -> None:
        """Raise where what is likeliest after some words changes with the word that follows them.

        A server may give each token its log-probability after it has read that token.
        """
        others = [_PROBE_OTHERS[i : i + self._batch] for i in range(0, len(_PROBE_OTHERS), self._batch)]
        answers = [answer for batch in others for answer in self._ask(batch)]
        for text, other in zip(_PROBE_OTHERS, answers, strict=True):
            shared = next(i for i, (a, b) in enumerate(zip(_PROBE, text, strict=False)) if a != b)
            ends = zip([*alone.begin[1:], len(_PROBE)], [*other.begin[1:], len(text)], strict=False)
            here = next(i for i, (one, two) in enumerate(ends) if one != two or one > shared)
            if np.isnan(alone.least[here]) or np.isnan(other.least[here]):
                raise self._refused("it does not say which token is the likeliest (it ignores logprobs=1)")
            if not _close(alone.least[[here]], other.least[[here]]):
                raise self._refused(
                    "its log-probabilities stand at the wrong tokens: they are those after a token was read, not before"
                )

    def _refused(self, reason: str) -> ModelError:
        return ModelError(f"the server {self._base} cannot be used: {reason}")

    def _ask(self, prompts: Sequence[str]) -> list[_Prompt]:
        """The prompts' tokens and log-probabilities, out of one request."""
        body = {
            "model": self._name,
            "prompt": list(prompts) if len(prompts) > 1 else prompts[0],
            "max_tokens": _MAX_TOKENS,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }
        try:
            choices = sorted(_Completion.model_validate_json(self._post(body)).choices, key=lambda c: c.index)
        except ValidationError as error:
            raise self._refused(f"its answer is no completion: {error.errors()[0]['msg']}") from error
        if len(choices) != len(prompts):
            raise self._refused(f"it answers {len(prompts)} prompts with {len(choices)} completions")
        return [self._read(prompt, choice) for prompt, choice in zip(prompts, choices, strict=True)]

    def _read(self, prompt: str, choice: _Choice) -> _Prompt:
        if not choice.text.startswith(prompt):
            raise self._refused("it does not echo the prompt (it ignores echo=true)")
        found = choice.logprobs
        if found is None or not found.token_logprobs or len(found.tokens) != len(found.token_logprobs):
            raise self._refused("it gives no log-probabilities (it ignores logprobs)")
        begin = np.array(found.text_offset or np.cumsum([0, *map(len, found.tokens)])[:-1], np.int32)
        inside = int(np.searchsorted(begin, len(prompt)))
        if len(begin) != len(found.tokens) or begin[0] != 0 or np.any(np.diff(begin) < 0):
            raise self._refused("its tokens do not make up the prompt that it was given")
        if len(begin) - inside > _MAX_TOKENS:
            raise self._refused(f"it wrote on after the prompt (it ignores max_tokens={_MAX_TOKENS})")
        values = [np.nan if p is None else -p for p in found.token_logprobs[:inside]]
        nll = np.array(values, np.float64)
        if np.isnan(nll[1:]).any() or np.any(nll < -1e-6):
            raise self._refused("it gives tokens of the prompt no log-probability, or one above 0")
        likeliest = [max(top.values(), default=np.nan) if top else np.nan for top in found.top_logprobs or []]
        least = -np.array([*likeliest, *[np.nan] * len(begin)][:inside], np.float64)
        return _Prompt(begin[:inside], nll, least)

    def _post(self, body: Mapping[str, Any]) -> bytes:
        self._take_turn()
        key = os.environ.get(KEY_VARIABLE)
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
        try:
            reply = self._pool.request("POST", f"{self._base}/completions", body=json.dumps(body), headers=headers)
        except urllib3.exceptions.HTTPError as error:
            reason = getattr(error, "reason", None) or error
            raise ModelError(f"the server {self._base} does not answer: {str(reason)[:200]}") from error
        if reply.status in {401, 403}:
            raise ModelError(f"the server {self._base} asks for a key: put it into ${KEY_VARIABLE}")
        if reply.status != 200:
            raise ModelError(f"the server {self._base} answers with {reply.status}: {_message(reply.data)}")
        return bytes(reply.data)

    def _take_turn(self) -> None:
        """Keep to the budget and to the rate."""
        with self._lock:
            if self._options.budget and self._asked >= self._options.budget:
                raise ModelError(
                    f"the budget of {self._options.budget:,} requests is spent; what was scored is kept: run it again"
                )
            self._asked += 1
            if not self._options.per_minute:
                return
            now = time.monotonic()
            self._next = max(now, self._next) + 60 / self._options.per_minute
            pause = self._next - 60 / self._options.per_minute - now
        time.sleep(max(0.0, pause))


def _close(one: Floats, other: Floats) -> bool:
    return bool(np.all(np.abs(np.nan_to_num(one) - np.nan_to_num(other)) < _SAME))


def _message(data: bytes) -> str:
    return " ".join(data.decode(errors="replace").split())[:200]
