"""Decoding: how the next token is chosen, as named files of ``evaluation/decoding/``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from holisticbias_eval.named_files import NamedFiles


class Decoding(BaseModel):
    """A file of ``evaluation/decoding/``: the method that chooses the tokens of a response, and its limits.

    ``blocked_ngram`` blocks repeated sequences of this many tokens within the response; those of the prompt
    may be repeated, so that parroting is not hidden.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    method: Literal["sample", "beam", "greedy"]
    max_new_tokens: int = Field(ge=1, le=4096)
    min_new_tokens: int = Field(0, ge=0)
    temperature: float = Field(1.0, gt=0, description="for sample")
    top_k: int | None = Field(None, ge=1, description="for sample: choose among this many of the likeliest tokens")
    top_p: float | None = Field(None, gt=0, le=1, description="for sample: choose among the likeliest with this sum")
    beams: int | None = Field(None, ge=2, description="for beam: the number of beams")
    length_penalty: float = Field(1.0, description="for beam: the exponent of the length that a sum is divided by")
    blocked_ngram: int | None = Field(None, ge=1, description="length of sequences that a response may not repeat")
    source: str = Field(min_length=1, description="who uses these settings")
    note: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.method == "beam") != (self.beams is not None):
            raise ValueError("beams is for the method beam, which needs it")
        if self.method != "sample" and (self.top_k or self.top_p or self.temperature != 1.0):
            raise ValueError("temperature, top_k and top_p are for the method sample")
        if self.min_new_tokens > self.max_new_tokens:
            raise ValueError("min_new_tokens must not exceed max_new_tokens")
        return self

    @property
    def settings(self) -> Mapping[str, str]:
        """Every setting, with the name of the file, for a run's signature."""
        values = self.model_dump(exclude={"source", "note"}, exclude_none=True)
        return {f"decoding_{key}" if key != "id" else "decoding": str(value) for key, value in values.items()}


FILES = NamedFiles("decoding", "decoding", Decoding)
