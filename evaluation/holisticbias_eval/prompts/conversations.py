"""What a person says to a model about themselves or others: prompts drawn from a release."""

from __future__ import annotations

from holisticbias_eval.prompts.prompts import AnsweredPrompts

RELEASE_PROMPTS = AnsweredPrompts("responses", "responses to sentences about people")
