"""The opening that a causal model reads before each text: a first token, or the start of a turn in a chat."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.spans import Spans
from holisticbias_eval.models.loading.tokenizers import CONTENT, rendered_chat, special_tokens

AUTO, LEFT_OUT, PUBLISHED = "auto", "none", "published"
FIRST_TOKEN = "first_token"  # noqa: S105 - not a password
"""The name of the setting that says what precedes a text, and why."""

_SEPARATORS = ("<|endoftext|>", "<|end_of_text|>")
"""Names of tokens that separate documents in pretraining, and nothing else."""
_DOCUMENTS = {
    *("s", "bos", "eos", "bostoken", "eostoken", "gmask", "sop", "beginoftext", "startoftext", "endoftext"),
    *("beginofsentence", "endofsentence", "beginofdocument", "endofdocument"),
}
_TURNS = {
    *("imstart", "imend", "eot", "eotid", "eom", "eomid", "startofturn", "endofturn", "startofturntoken"),
    *("endofturntoken", "start", "end", "message", "channel", "call", "return", "user", "assistant", "system", "inst"),
}


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

    ``first_token`` is ``auto``, ``published``, ``none`` or a token, see ``choose_first_token``. Without a
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
    opening = _before_content(tokenizer, [{"role": role, "content": CONTENT}])
    if opening is None and role == "assistant":  # some templates need the user's turn first
        opening = _before_content(tokenizer, [{"role": "user", "content": ""}, {"role": role, "content": CONTENT}])
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
    before, content, _ = (_rendered_turns(tokenizer, messages) or "").rpartition(CONTENT)
    return before if content else None


def choose_first_token(tokenizer: Any, wanted: str) -> tuple[list[int], str]:
    """The ids of the tokens to put before each text, and the reason for them or for having none.

    ``wanted`` is a token, or one of the following. In no case is a token of chat turns chosen by itself.

    - ``auto``: what the tokenizer prepends; else the bos token if it is also the eos token or is called
      ``<|endoftext|>``; else ``<|endoftext|>`` or ``<|end_of_text|>``, if the vocabulary has it; else the eos token.
    - ``published``: what the tokenizer prepends, and nothing else: the perplexities published for GPT-2 are of the
      tokens after a text's first.
    - ``none``: nothing.

    Raises ``ModelError`` for a token that the tokenizer does not have.
    """
    if wanted == LEFT_OUT:
        return [], "left out with --first-token"
    if wanted not in (AUTO, PUBLISHED):
        if wanted not in tokenizer.get_vocab():
            special = ", ".join(sorted(tokenizer.all_special_tokens)) or "none"
            raise ModelError(f"--first-token: the tokenizer has no token {wanted!r}; its special tokens: {special}")
        return [tokenizer.convert_tokens_to_ids(wanted)], "chosen with --first-token"
    before, _ = special_tokens(tokenizer)
    if before and not any(_opens_turns(tokenizer, token) for token in tokenizer.convert_ids_to_tokens(before)):
        return before, "which the tokenizer prepends"
    if wanted == PUBLISHED:
        return [], "as in the perplexities published for GPT-2, because the tokenizer prepends no token"
    token, reason = _separator(tokenizer)
    return ([] if token is None else [tokenizer.convert_tokens_to_ids(token)]), reason


def _separator(tokenizer: Any) -> tuple[str | None, str]:
    """The token that separated documents in pretraining, and the reason for it or for having none."""
    start, end = tokenizer.bos_token, tokenizer.eos_token
    refused = [token for token in dict.fromkeys((start, end)) if token and _opens_turns(tokenizer, token)]
    if start is not None and start not in refused and start in {end, _SEPARATORS[0]}:
        return start, "which marks the start of documents in training"
    vocabulary = tokenizer.get_vocab()
    for token in _SEPARATORS:
        if token in vocabulary:
            return token, "which separates documents in training"
    if end is not None and end not in refused:
        return end, "which ends documents in training"
    if refused:
        return None, f"the tokenizer has no token that separates documents; chat turns have {' and '.join(refused)}"
    return None, "the tokenizer has no token that separates documents"


def _opens_turns(tokenizer: Any, token: str) -> bool:
    """Whether a token opens or closes turns of a chat: by its name, or because each turn of the template repeats it.

    Some templates close turns with the token that also ends documents, such as ``</s>``.
    """
    name = "".join(character for character in token.lower() if character.isalnum())
    if name in _TURNS or name in _DOCUMENTS:
        return name in _TURNS
    template = getattr(tokenizer, "chat_template", None)
    if not template:
        return False
    turns = [{"role": role, "content": CONTENT} for role in ("user", "assistant", "user")]
    one, several = (_rendered_turns(tokenizer, part) for part in (turns[:1], turns))
    return token in str(template) if several is None else several.count(token) > (one or "").count(token)


def _rendered_turns(tokenizer: Any, messages: Sequence[Mapping[str, str]]) -> str | None:
    """The text of the chat template with these messages; None if the template refuses them."""
    try:
        return rendered_chat(tokenizer, messages)
    except Exception:  # noqa: BLE001 - a template may refuse roles with any error
        return None
