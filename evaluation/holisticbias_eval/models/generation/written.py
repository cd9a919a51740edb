"""Responses as the text that a model writes after its context, for training on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.conversation import Conversation


@dataclass(frozen=True, slots=True)
class WrittenForm:
    """The blank before a response, and the text that ends it.

    ``control_tokens`` are the texts of the tokenizer's special and added tokens: a tokenizer reads them as such tokens
    wherever they stand, so a prompt or a response with one of them cannot be given as text.
    """

    lead: str
    end: str
    control_tokens: Sequence[str]

    @classmethod
    def of(cls, conversation: Conversation, tokenizer: Any) -> Self:
        """The form of a conversation; raises ``ModelError`` if the model reasons before it responds."""
        if conversation.thinking == "opened":
            raise ModelError("the chat template opens reasoning before a response: responses alone cannot be learned")
        added = {token.content for token in tokenizer.added_tokens_decoder.values() if token.content.strip()}
        marks = sorted(added | set(tokenizer.all_special_tokens))
        close = conversation.frame.close
        follows_text = not close or not (close[-1].isspace() or close.endswith(tuple(marks)))
        lead = " " if follows_text and not conversation.keeps_blank else ""
        return cls(lead, _end(conversation, tokenizer), marks)

    def write(self, response: str, finish: str) -> str:
        """The text of a response, with its end unless it was cut off."""
        return f"{self.lead}{response}{'' if finish == 'length' else self.end}"

    def is_text(self, *texts: str) -> bool:
        """Whether texts spell no control token."""
        return not any(mark in text for text in texts for mark in self.control_tokens)


def _end(conversation: Conversation, tokenizer: Any) -> str:
    """The text of the token that ends a response, or the text that does."""
    if conversation.ends:
        return str(tokenizer.convert_ids_to_tokens(conversation.ends[0]))
    return conversation.stops[0] if conversation.stops else str(tokenizer.eos_token or "")
