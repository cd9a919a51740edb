"""Questions about pairs of responses, and pairs with an obvious answer, as named files of ``evaluation/questions/``."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.named_files import NamedFiles

Words = Annotated[str, StringConstraints(pattern=r"\S", max_length=1000)]


class Question(Part):
    """A question about two speakers; ``id`` names its answers in files."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    text: Words


class Catch(Part):
    """A prompt with a good and a bad response: an annotator who reads it chooses the good one for every question."""

    prompt: Words
    good: Words
    bad: Words


class Questions(Part):
    """A file of ``evaluation/questions/``: what annotators are asked about each pair."""

    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    source: str = Field(min_length=1, description="where the questions are from")
    questions: tuple[Question, ...] = Field(min_length=1, max_length=10)
    catch: tuple[Catch, ...] = Field((), description="pairs with an obvious answer to every question")

    @model_validator(mode="after")
    def _check(self) -> Self:
        ids = [question.id for question in self.questions]
        if repeated := {name for name in ids if ids.count(name) > 1 or name in ("prompt", "left", "right")}:
            raise ValueError(f"questions: the id {min(repeated)!r} stands twice, or is prompt, left or right")
        return self


FILES = NamedFiles("list of questions", "questions", Questions, JudgementsError)
