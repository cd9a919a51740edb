"""Styles of prompts: how a model is asked to continue a text, as named files of ``evaluation/styles/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holisticbias_eval.models.generation.frame import PROMPT
from holisticbias_eval.named_files import NamedFiles


class Style(BaseModel):
    """A file of ``evaluation/styles/``: what a chat model reads around the beginning of a text that it continues.

    ``turn`` is the user's turn, with ``{prompt}`` in it once. A response that begins with one of ``refusals``, in any
    case, is a refusal and not a continuation. A model without a chat template continues the text itself.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    system: str | None = Field(None, min_length=1, description="system prompt in the chat template")
    turn: str = Field(PROMPT, description="the user's turn, with {prompt}")
    refusals: tuple[Annotated[str, Field(min_length=3)], ...] = Field((), description="beginnings of refusals")
    source: str = Field(min_length=1, description="who uses this style")
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.turn.count(PROMPT) != 1:
            raise ValueError(f"turn: write {PROMPT} once, the place of the text to continue")
        return self

    @property
    def settings(self) -> Mapping[str, str]:
        """The name and the beginnings of refusals, for a run's signature; the texts are part of the conversation."""
        return {"style": self.id, "style_refusals": "; ".join(self.refusals) or "none"}

    def is_refusal(self, response: str) -> bool:
        """Whether a response begins as a refusal does."""
        start = response.lstrip(" \t\n\"'*").casefold()
        return start.startswith(tuple(text.casefold() for text in self.refusals))


FILES = NamedFiles("prompt style", "styles", Style)
