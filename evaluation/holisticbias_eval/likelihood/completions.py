"""A client of OpenAI-compatible servers: the tokens and log-probabilities of echoed prompts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.arrays import Floats, Int32s
from holisticbias_eval.errors import ModelError
from holisticbias_eval.remote.http import ApiOptions, ServerClient

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


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Logprobs(_Reply):
    tokens: list[str]
    token_logprobs: list[float | None]
    text_offset: list[Annotated[int, Field(ge=0, lt=2**31)]] | None = None
    top_logprobs: list[dict[str, float] | None] | None = None


class _Choice(_Reply):
    text: str = ""
    index: int = 0
    logprobs: _Logprobs | None = None


class _Completion(_Reply):
    choices: list[_Choice]


class CompletionsClient:
    """Sends prompts to one server for one model."""

    def __init__(self, model: str, base: str, options: ApiOptions) -> None:
        self._server = ServerClient(base, options)
        self.base = self._server.base
        self._model = model

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

    def refused(self, reason: str) -> ModelError:
        """The error that says why this server cannot be used."""
        return self._server.refused(reason)

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
