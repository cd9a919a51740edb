"""Candidates of dialogues, which a fine-tuned model classifies."""

from __future__ import annotations

from dataclasses import dataclass

from holisticbias_eval.prompts.prompts import Prompts


@dataclass(frozen=True, slots=True)
class ClassifiedPrompts(Prompts):
    """Texts that a model classifies after it was fine-tuned on others."""


DIALOGUES = ClassifiedPrompts("dialogues", "candidates of dialogues")
