"""The opening that a causal model reads before each text: a first token, or the start of a turn in a chat."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.spans import Spans
from holisticbias_eval.models.tokenizers import special_tokens

AUTO, LEFT_OUT = "auto", "none"
_END_OF_TEXT = "<|endoftext|>"
_CONTENT = "Content of this turn"


@dataclass(frozen=True, slots=True)
class Opening:
    """Token ids or text to put before each text; neither is scored.

    ``settings`` is the opening's entry in a run's signature.
    """

    tokens: tuple[int, ...] = ()
    text: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def before(self, spans: Spans) -> Spans:
        """Put the opening text at the start of the spans' contexts."""
        return replace(spans, context=[self.text + context for context in spans.context]) if self.text else spans


def find_opening(tokenizer: Any, first_token: str = AUTO, chat: str | None = None) -> Opening:
    """Find the opening for a tokenizer.

    ``first_token`` is ``auto``, ``none`` or a token. ``auto`` is what the
    tokenizer itself prepends, or else its bos token if that marks the start of
    documents in training, which it does if it also ends them, as in GPT-2.
    Without either the first token of a text is not scored. ``chat`` is a role: the text
    is then the beginning of that role's turn in the model's chat template.
    Raises ``ModelError`` for an unknown token and a tokenizer without a template.
    """
    if chat is not None:
        if first_token != AUTO:
            raise ModelError("--chat opens the text with the chat template: leave --first-token out")
        return _turn(tokenizer, chat)
    tokens, reason = _first_token(tokenizer, first_token)
    if not tokens:
        return Opening(settings={"first_token": f"not counted: {reason}"})
    named = "".join(tokenizer.convert_ids_to_tokens(tokens))
    many = "s" * (len(tokens) > 1)
    return Opening(tuple(tokens), settings={"first_token": f"counted, given the token{many} {named!r}, {reason}"})


def _first_token(tokenizer: Any, wanted: str) -> tuple[list[int], str]:
    """The tokens to put before each text, and the reason for them."""
    if wanted == LEFT_OUT:
        return [], "left out with --first-token"
    if wanted != AUTO:
        if wanted not in tokenizer.get_vocab():
            special = ", ".join(sorted(tokenizer.all_special_tokens)) or "none"
            raise ModelError(f"--first-token: the tokenizer has no token {wanted!r}; its special tokens: {special}")
        return [tokenizer.convert_tokens_to_ids(wanted)], "chosen with --first-token"
    before, _ = special_tokens(tokenizer)
    if before:
        return before, "which the tokenizer prepends"
    start = tokenizer.bos_token
    if start is None:
        return [], "the tokenizer has no beginning-of-sequence token"
    if start in {tokenizer.eos_token, _END_OF_TEXT}:
        return [tokenizer.bos_token_id], "which marks the start of documents in training"
    unused = f"the tokenizer does not prepend its bos token {start!r}"
    return [], f"{unused}, and nothing shows that it marks the start of documents"


def _turn(tokenizer: Any, role: str) -> Opening:
    """The opening of a role's turn: the chat template up to the content."""
    if not getattr(tokenizer, "chat_template", None):
        raise ModelError("--chat: the tokenizer has no chat template")
    opening = _rendered(tokenizer, [{"role": role, "content": _CONTENT}])
    if opening is None and role == "assistant":  # some templates need the user's turn first
        opening = _rendered(tokenizer, [{"role": "user", "content": ""}, {"role": role, "content": _CONTENT}])
    if not opening:
        raise ModelError(f"--chat: the model's chat template has no turn for the {role}")
    digest = hashlib.sha256(opening.encode()).hexdigest()
    settings = {
        "first_token": "counted, given the chat template",
        "chat": f"the text begins the {role}'s turn, after {opening!r} (SHA-256 {digest[:16]})",
    }
    return Opening(text=opening, settings=settings)


def _rendered(tokenizer: Any, messages: list[dict[str, str]]) -> str | None:
    """The text of the template before the last message's content; None if the template refuses the messages."""
    try:
        text = str(tokenizer.apply_chat_template(messages, tokenize=False))
    except Exception:  # noqa: BLE001 - a template may refuse roles with any error
        return None
    before, content, _ = text.rpartition(_CONTENT)
    return before if content else None
