"""Score spans with a model behind an OpenAI-compatible server, from the log-probabilities of echoed prompts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from holisticbias_eval.arrays import Floats, Int32s
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.opening import AUTO, FIRST_TOKEN, LEFT_OUT, PUBLISHED, Opening
from holisticbias_eval.models.likelihood.scorer import Scorer, Scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.likelihood.tokens import encode_offsets
from holisticbias_eval.models.model import server_identity
from holisticbias_eval.models.server.alignment import align, find_leading
from holisticbias_eval.models.server.http import ServerClient
from holisticbias_eval.models.server.openai import Received
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress, in_rows

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


_PROBE = "The sky over the harbour was blue, and the sea was calm."
_PROBE_START = "The sky over the harbour"
_PROBE_OTHERS = tuple(f"The sky over the harbour was {end}." for end in ("grey", "full of gulls", "blue"))
_SAME = 0.05  # nats: servers round, and batch differently from one request to the next


class ApiScorer(Scorer):
    """Scores texts by asking a server for the log-probabilities of a prompt that it echoes.

    Many servers silently ignore parameters that they do not know. The server is
    therefore tested first, and refused with a reason unless it echoes the prompt,
    gives every token after the first a log-probability, gives the beginning of a
    text the same log-probabilities as the whole text, computes a token's
    log-probability only from the tokens before it, and respects ``max_tokens``.

    A token that the server puts before a prompt, such as ``<s>``, precedes each text. ``first_token`` may be a
    token to send before each text, or ``none``.
    """

    block_size = 1024  # servers are slow: a small block loses less when one stops

    def __init__(self, name: str, base: str, notice: Notice, settings: ModelSettings | None = None) -> None:
        settings = settings or ModelSettings()
        self._server, self._model = ServerClient(base, settings), name
        self._leading: tuple[str, ...] | None = None  # the tokens before every prompt; null before the first answer
        self._notice = notice
        self._batch = settings.api_batch
        first_token = settings.first_token
        self._first_scored = self._first_token_is_scored() and first_token != LEFT_OUT
        self._opening = self._find_opening(first_token)
        base = self._server.base
        depends = {"scorer": "api", "server": base, **self._opening.settings}
        scored = self._first_scored or self._opening.precedes
        super().__init__(server_identity(name, base), "causal", depends, first_token_scored=scored)

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        spans = self._opening.before(spans)
        texts = [c + t for c, t in zip(spans.context, spans.text, strict=True)]
        distinct = list(dict.fromkeys(text for text in texts if text))  # spans of one text are one prompt
        batches = [distinct[i : i + self._batch] for i in range(0, len(distinct), self._batch)]
        advance = in_rows(progress, len(spans), len(distinct))
        answers = {"": PromptTokens(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))}
        for batch, tokens_of_batch in zip(batches, self._server.each(self._asked, batches), strict=True):
            answers.update(zip(batch, tokens_of_batch, strict=True))
            advance(len(batch))
        tokens = [answers[text] for text in texts]
        encoded = encode_offsets(spans, [t.begin for t in tokens], first_is_scored=self._first_scored)
        return encoded.scores(np.nan_to_num(np.concatenate([*(t.nll for t in tokens), np.zeros(0)])))

    def _first_token_is_scored(self) -> bool:
        """Test the server and return whether the first token gets a likelihood; may raise ``ModelError``."""
        (alone,) = self._asked([_PROBE])
        try:
            start, again = self._asked([_PROBE_START, _PROBE])
        except ModelError:
            self._batch = 1
            self._notice(f"{self._server.base} does not take lists of prompts: they are sent one by one")
            (start,), (again,) = self._asked([_PROBE_START]), self._asked([_PROBE])
        shared = len(start.nll) - 1
        if len(again.nll) != len(alone.nll) or not _close(alone.nll, again.nll):
            raise self._server.refused("it gives the same prompt different log-probabilities each time")
        if shared < 2 or not _close(start.nll[:shared], alone.nll[:shared]):
            raise self._server.refused(
                "it gives the beginning of a prompt other log-probabilities than the whole: they are not the prompt's"
            )
        if np.nanstd(alone.nll) < 1e-6:
            raise self._server.refused("it gives all tokens the same log-probability")
        self._refuse_shifted(alone)
        return not np.isnan(alone.nll[0])

    def _find_opening(self, first_token: str) -> Opening:
        """The opening before each text; raises ``ModelError`` if the server reads a chosen token as several."""
        if first_token == LEFT_OUT:
            return Opening(settings={FIRST_TOKEN: "not counted: left out with --first-token"})
        if first_token not in (AUTO, PUBLISHED):
            (tokens,) = self._asked([first_token + _PROBE])
            if len(tokens.begin) < 2 or tokens.begin[1] != len(first_token):
                raise self._server.refused(f"it does not read {first_token!r} before a text as one token")
            said = f"counted, given the token {first_token!r}, chosen with --first-token"
            return Opening(text=first_token, settings={FIRST_TOKEN: said})
        if not self._first_scored:
            return Opening(settings={FIRST_TOKEN: "not counted: the server gives it no likelihood"})
        leading = "".join(self._leading or ())
        before = f"given the token{'s' * (len(self._leading or ()) > 1)} {leading!r}, which the server prepends"
        return Opening(settings={FIRST_TOKEN: f"counted, {before if leading else 'as the server gives it'}"})

    def _refuse_shifted(self, alone: PromptTokens) -> None:
        """Raise ``ModelError`` if the likeliest token after some words depends on the word that follows them.

        Some servers compute the log-probability of a token after they have read it.
        """
        others = [_PROBE_OTHERS[i : i + self._batch] for i in range(0, len(_PROBE_OTHERS), self._batch)]
        answers = [answer for batch in others for answer in self._asked(batch)]
        for text, other in zip(_PROBE_OTHERS, answers, strict=True):
            shared = next(i for i, (a, b) in enumerate(zip(_PROBE, text, strict=False)) if a != b)
            ends = zip([*alone.begin[1:], len(_PROBE)], [*other.begin[1:], len(text)], strict=False)
            here = next(i for i, (one, two) in enumerate(ends) if one != two or one > shared)
            if np.isnan(alone.least[here]) or np.isnan(other.least[here]):
                raise self._server.refused("it does not say which token is the likeliest (it ignores logprobs=1)")
            if not _close(alone.least[[here]], other.least[[here]]):
                raise self._server.refused(
                    "its log-probabilities are shifted: each is computed after its token was read, not before"
                )

    def _asked(self, prompts: Sequence[str]) -> list[PromptTokens]:
        """The tokens of each prompt, from one request; raises ``ModelError`` if the server's answer is unusable."""
        body = {
            "model": self._model,
            "prompt": list(prompts) if len(prompts) > 1 else prompts[0],
            "max_tokens": _MAX_TOKENS,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }
        found = self._server.ask(_Completion, "completions", body)
        choices = sorted(found.choices, key=lambda c: c.index)
        if len(choices) != len(prompts):
            raise self._server.refused(f"it answers {len(prompts)} prompts with {len(choices)} completions")
        return [self._read(prompt, choice) for prompt, choice in zip(prompts, choices, strict=True)]

    def _read(self, prompt: str, choice: _Echo) -> PromptTokens:
        """The tokens of a prompt, without the tokens that the server puts before every prompt."""
        logprobs = choice.logprobs
        if not _echoes(prompt, choice):
            raise self._server.refused("it does not echo the prompt (it ignores echo=true)")
        if logprobs is None or not logprobs.token_logprobs or len(logprobs.tokens) != len(logprobs.token_logprobs):
            raise self._server.refused("it gives no log-probabilities (it ignores logprobs)")
        begin = self._align(prompt, logprobs.tokens)
        inside = slice(len(self._leading or ()), len(self._leading or ()) + len(begin))
        nll = np.array([np.nan if p is None else -p for p in logprobs.token_logprobs[inside]], np.float64)
        if np.isnan(nll[1:]).any() or np.any(nll < -1e-6):
            raise self._server.refused("it gives tokens of the prompt no log-probability, or one above 0")
        likeliest = [max(top.values(), default=np.nan) if top else np.nan for top in logprobs.top_logprobs or []]
        least = -np.array([*likeliest, *[np.nan] * len(logprobs.tokens)][inside], np.float64)
        return PromptTokens(begin, nll, least)

    def _align(self, prompt: str, tokens: Sequence[str]) -> Int32s:
        """The character at which each token of the prompt begins; the first prompt shows which tokens precede it."""
        if self._leading is None:
            leading = find_leading(prompt, tokens, _MAX_TOKENS)
            leading = find_leading(prompt, tokens, len(tokens)) if leading is None else leading
            self._leading = tuple(tokens[: leading or 0])
        rest = tokens[len(self._leading) :]
        if tuple(tokens[: len(self._leading)]) == self._leading:
            begin = align(prompt, rest, _MAX_TOKENS)
            if begin is not None:
                return begin
            if align(prompt, rest, len(rest)) is not None:
                raise self._server.refused(
                    f"it generates more text after the prompt (it ignores max_tokens={_MAX_TOKENS})"
                )
        raise self._server.refused("its tokens do not make up the prompt")


def _echoes(prompt: str, choice: _Echo) -> bool:
    """Whether the answer begins with the prompt, or with tokens that are not in it, such as ``<s>``, and the prompt."""
    before, echoed, _ = choice.text.partition(prompt)
    tokens = "".join(choice.logprobs.tokens) if choice.logprobs else ""
    return bool(echoed) and tokens.strip().startswith(before.strip())


def _close(one: Floats, other: Floats) -> bool:
    return bool(np.all(np.abs(np.nan_to_num(one) - np.nan_to_num(other)) < _SAME))
