"""Numbers that another program reports about a model."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.prompts.prompts import Prompts


@dataclass(frozen=True, slots=True)
class ReportedPrompts(Prompts):
    """The unknown prompts of another program, of which only the numbers are known."""


RESULTS = ReportedPrompts("results", "numbers of another program")
