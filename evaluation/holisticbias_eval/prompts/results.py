"""Numbers that another program reports about a model."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.prompts.prompts import Prompts


@dataclass(frozen=True, slots=True)
class ReportedPrompts(Prompts):
    """What another program asks; only its numbers are known."""


RESULTS = ReportedPrompts("results", "numbers of another program")
