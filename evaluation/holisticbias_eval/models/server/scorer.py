"""Score spans with a model behind an OpenAI-compatible server, from the log-probabilities of echoed prompts."""

from __future__ import annotations

import numpy as np

from holisticbias_eval.arrays import Floats
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.opening import AUTO, FIRST_TOKEN, LEFT_OUT, PUBLISHED, Opening
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.scores import Scores
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.likelihood.tokens import encode_offsets, span_scores
from holisticbias_eval.models.model import server_identity
from holisticbias_eval.models.server.echo import EchoClient, PromptTokens
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Notice, Progress, in_rows

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
        self._client = EchoClient(name, base, settings)
        self._notice = notice
        self._batch = settings.api_batch
        first_token = settings.first_token
        self._first_scored = self._first_token_is_scored() and first_token != LEFT_OUT
        self._opening = self._find_opening(first_token)
        base = self._client.base
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
        for batch, tokens_of_batch in zip(batches, self._client.each(batches), strict=True):
            answers.update(zip(batch, tokens_of_batch, strict=True))
            advance(len(batch))
        tokens = [answers[text] for text in texts]
        encoded = encode_offsets(spans, [t.begin for t in tokens], first_is_scored=self._first_scored)
        return span_scores(encoded, np.nan_to_num(np.concatenate([*(t.nll for t in tokens), np.zeros(0)])))

    def _first_token_is_scored(self) -> bool:
        """Test the server and return whether the first token gets a likelihood; may raise ``ModelError``."""
        (alone,) = self._client.ask([_PROBE])
        try:
            start, again = self._client.ask([_PROBE_START, _PROBE])
        except ModelError:
            self._batch = 1
            self._notice(f"{self._client.base} does not take lists of prompts: they are sent one by one")
            (start,), (again,) = self._client.ask([_PROBE_START]), self._client.ask([_PROBE])
        shared = len(start.nll) - 1
        if len(again.nll) != len(alone.nll) or not _close(alone.nll, again.nll):
            raise self._client.refused("it gives the same prompt different log-probabilities each time")
        if shared < 2 or not _close(start.nll[:shared], alone.nll[:shared]):
            raise self._client.refused(
                "it gives the beginning of a prompt other log-probabilities than the whole: they are not the prompt's"
            )
        if np.nanstd(alone.nll) < 1e-6:
            raise self._client.refused("it gives all tokens the same log-probability")
        self._refuse_shifted(alone)
        return not np.isnan(alone.nll[0])

    def _find_opening(self, first_token: str) -> Opening:
        """The opening before each text; raises ``ModelError`` if the server reads a chosen token as several."""
        if first_token == LEFT_OUT:
            return Opening(settings={FIRST_TOKEN: "not counted: left out with --first-token"})
        if first_token not in (AUTO, PUBLISHED):
            (tokens,) = self._client.ask([first_token + _PROBE])
            if len(tokens.begin) < 2 or tokens.begin[1] != len(first_token):
                raise self._client.refused(f"it does not read {first_token!r} before a text as one token")
            said = f"counted, given the token {first_token!r}, chosen with --first-token"
            return Opening(text=first_token, settings={FIRST_TOKEN: said})
        if not self._first_scored:
            return Opening(settings={FIRST_TOKEN: "not counted: the server gives it no likelihood"})
        leading = "".join(self._client.leading or ())
        before = f"given the token{'s' * (len(self._client.leading or ()) > 1)} {leading!r}, which the server prepends"
        return Opening(settings={FIRST_TOKEN: f"counted, {before if leading else 'as the server gives it'}"})

    def _refuse_shifted(self, alone: PromptTokens) -> None:
        """Raise ``ModelError`` if the likeliest token after some words depends on the word that follows them.

        Some servers compute the log-probability of a token after they have read it.
        """
        others = [_PROBE_OTHERS[i : i + self._batch] for i in range(0, len(_PROBE_OTHERS), self._batch)]
        answers = [answer for batch in others for answer in self._client.ask(batch)]
        for text, other in zip(_PROBE_OTHERS, answers, strict=True):
            shared = next(i for i, (a, b) in enumerate(zip(_PROBE, text, strict=False)) if a != b)
            ends = zip([*alone.begin[1:], len(_PROBE)], [*other.begin[1:], len(text)], strict=False)
            here = next(i for i, (one, two) in enumerate(ends) if one != two or one > shared)
            if np.isnan(alone.least[here]) or np.isnan(other.least[here]):
                raise self._client.refused("it does not say which token is the likeliest (it ignores logprobs=1)")
            if not _close(alone.least[[here]], other.least[[here]]):
                raise self._client.refused(
                    "its log-probabilities are shifted: each is computed after its token was read, not before"
                )


def _close(one: Floats, other: Floats) -> bool:
    return bool(np.all(np.abs(np.nan_to_num(one) - np.nan_to_num(other)) < _SAME))
