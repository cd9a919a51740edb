"""Lists of prompts not to show to annotators, as named files of ``evaluation/inflammatory/``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.named_files import NamedFiles

Phrase = Annotated[str, StringConstraints(pattern=r"\w", max_length=200)]


class Inflammatory(Part):
    """A file of ``evaluation/inflammatory/``: templates and descriptors that annotators do not see.

    A prompt has a phrase if it has its words one after the other, in upper or lower case.
    """

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who chose the entries, and how")
    preferences: tuple[str, ...] = Field((), description="community preferences of descriptors to leave out")
    templates: tuple[str, ...] = Field((), description="ids of templates")
    descriptors: tuple[str, ...] = Field((), description="ids of descriptors")
    phrases: tuple[Phrase, ...] = Field((), description="phrases in prompts")

    def reason(self, row: Mapping[str, Any]) -> str | None:
        """The reason to leave out a row's prompt, null if there is none. Columns that the row lacks are not read."""
        if row.get("template_id") in self.templates:
            return "inflammatory template"
        if row.get("descriptor_id") in self.descriptors or row.get("descriptor_preference") in self.preferences:
            return "inflammatory descriptor"
        words = f" {_words(row['prompt'])} "
        return "inflammatory phrase" if any(f" {_words(phrase)} " in words for phrase in self.phrases) else None


def _words(text: str) -> str:
    return " ".join(re.findall(r"[\w']+", text.casefold().replace("\u2019", "'")))


FILES = NamedFiles("list of inflammatory prompts", "inflammatory", Inflammatory, JudgementsError)
