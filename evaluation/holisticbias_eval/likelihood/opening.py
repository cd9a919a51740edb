"""The opening that a causal model reads before each text: a first token, or the start of a turn in a chat."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.first_token import AUTO, choose_first_token, rendered_turns
from holisticbias_eval.likelihood.spans import Spans

FIRST_TOKEN = "first_token"  # noqa: S105 - not a password
"""The name of the setting that says what precedes a text, and why."""
_CONTENT = "Content of this turn"


@dataclass(frozen=True, slots=True)
class Opening:
    """Token ids or text to put before each text; neither is scored.

    ``settings`` is the opening's entry in a run's signature.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def precedes(self) -> bool:
        """Whether there is anything before a text, so that its first token can be scored."""
        return bool(self.tokens or self.text)

    def before(self, spans: Spans) -> Spans:
        """Put the opening text at the start of the spans' contexts."""
        return replace(spans, context=[self.text + context for context in spans.context]) if self.text else spans


def find_opening(tokenizer: Any, first_token: str = AUTO, chat: str | None = None) -> Opening:
    """Find the opening for a tokenizer.

    ``first_token`` is ``auto``, ``published``, ``none`` or a token, see ``first_token.choose_first_token``. Without a
    token the first token of a text is not scored. ``chat`` is a role: the text
    is then the beginning of that role's turn in the model's chat template.
    Raises ``ModelError`` for an unknown token and a tokenizer without a template.
    """
    if chat is not None:
        if first_token != AUTO:
            raise ModelError("--chat opens the text with the chat template: leave --first-token out")
        return _turn(tokenizer, chat)
    tokens, reason = choose_first_token(tokenizer, first_token)
    if not tokens:
        return Opening(settings={FIRST_TOKEN: f"not counted: {reason}"})
    named = "".join(tokenizer.convert_ids_to_tokens(tokens))
    many = "s" * (len(tokens) > 1)
    return Opening(tuple(tokens), settings={FIRST_TOKEN: f"counted, given the token{many} {named!r}, {reason}"})


def _turn(tokenizer: Any, role: str) -> Opening:
    """The opening of a role's turn: the chat template up to the content."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError("--chat: the tokenizer has no chat template")
    opening = _before_content(tokenizer, [{"role": role, "content": _CONTENT}])
    if opening is None and role == "assistant":  # some templates need the user's turn first
        opening = _before_content(tokenizer, [{"role": "user", "content": ""}, {"role": role, "content": _CONTENT}])
    if not opening:
        raise ModelError(f"--chat: the model's chat template has no turn for the {role}")
    digest = hashlib.sha256(opening.encode()).hexdigest()
    settings = {
        FIRST_TOKEN: "counted, given the chat template",
        "chat": f"the text begins the {role}'s turn, after {opening!r} (SHA-256 {digest[:16]})",
    }
    return Opening(text=opening, settings=settings)


def _before_content(tokenizer: Any, messages: list[dict[str, str]]) -> str | None:
    """The text of the template before the last message's content; None if the template refuses the messages."""
    before, content, _ = (rendered_turns(tokenizer, messages) or "").rpartition(_CONTENT)
    return before if content else None
