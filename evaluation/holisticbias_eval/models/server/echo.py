"""A client of OpenAI-compatible servers: the tokens and log-probabilities of echoed prompts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.arrays import Floats, Int32s
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.server.alignment import align, find_leading
from holisticbias_eval.models.server.answers import Received
from holisticbias_eval.models.server.http import ServerClient
from holisticbias_eval.models.settings import ModelSettings

_MAX_TOKENS = 1  # some servers refuse 0, and others take 0 as no limit


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


class _Logprobs(Received):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None = None


class _Echo(Received):
    text: str = ""
    index: int = 0
    logprobs: _Logprobs | None = None


class _Completion(Received):
    choices: list[_Echo]


class EchoClient:
    """Sends prompts to one server for one model.

    ``leading`` are the tokens that the server puts before every prompt, such as ``<s>``; null before the first answer.
    """

    def __init__(self, model: str, base: str, settings: ModelSettings) -> None:
        self._server = ServerClient(base, settings)
        self.base = self._server.base
        self._model = model
        self.leading: tuple[str, ...] | None = None

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
        content = self._server.post("completions", body)
        try:
            choices = sorted(_Completion.model_validate_json(content).choices, key=lambda c: c.index)
        except ValidationError as error:
            raise self.refused(f"its answer is not a completion: {schema_message(error.errors()[0])}") from error
        if len(choices) != len(prompts):
            raise self.refused(f"it answers {len(prompts)} prompts with {len(choices)} completions")
        return [self._read(prompt, choice) for prompt, choice in zip(prompts, choices, strict=True)]

    def each(self, batches: Sequence[Sequence[str]]) -> Iterator[list[PromptTokens]]:
        """The tokens of each prompt of each batch, in order, with several requests at once."""
        return self._server.each(self.ask, batches)

    def refused(self, reason: str) -> ModelError:
        """The error that says why this server cannot be used."""
        return self._server.refused(reason)

    def _read(self, prompt: str, choice: _Echo) -> PromptTokens:
        """The tokens of a prompt, without the tokens that the server puts before every prompt."""
        logprobs = choice.logprobs
        if not _echoes(prompt, choice):
            raise self.refused("it does not echo the prompt (it ignores echo=true)")
        if logprobs is None or not logprobs.token_logprobs or len(logprobs.tokens) != len(logprobs.token_logprobs):
            raise self.refused("it gives no log-probabilities (it ignores logprobs)")
        begin = self._align(prompt, logprobs.tokens)
        inside = slice(len(self.leading or ()), len(self.leading or ()) + len(begin))
        nll = np.array([np.nan if p is None else -p for p in logprobs.token_logprobs[inside]], np.float64)
        if np.isnan(nll[1:]).any() or np.any(nll < -1e-6):
            raise self.refused("it gives tokens of the prompt no log-probability, or one above 0")
        likeliest = [max(top.values(), default=np.nan) if top else np.nan for top in logprobs.top_logprobs or []]
        least = -np.array([*likeliest, *[np.nan] * len(logprobs.tokens)][inside], np.float64)
        return PromptTokens(begin, nll, least)

    def _align(self, prompt: str, tokens: Sequence[str]) -> Int32s:
        """The character at which each token of the prompt begins; the first prompt shows which tokens precede it."""
        if self.leading is None:
            leading = find_leading(prompt, tokens, _MAX_TOKENS)
            leading = find_leading(prompt, tokens, len(tokens)) if leading is None else leading
            self.leading = tuple(tokens[: leading or 0])
        rest = tokens[len(self.leading) :]
        if tuple(tokens[: len(self.leading)]) == self.leading:
            begin = align(prompt, rest, _MAX_TOKENS)
            if begin is not None:
                return begin
            if align(prompt, rest, len(rest)) is not None:
                raise self.refused(f"it generates more text after the prompt (it ignores max_tokens={_MAX_TOKENS})")
        raise self.refused("its tokens do not make up the prompt")


def _echoes(prompt: str, choice: _Echo) -> bool:
    """Whether the answer begins with the prompt, or with tokens that are not in it, such as ``<s>``, and the prompt."""
    before, echoed, _ = choice.text.partition(prompt)
    tokens = "".join(choice.logprobs.tokens) if choice.logprobs else ""
    return bool(echoed) and tokens.strip().startswith(before.strip())
