"""The questions of a study, and its key: models, pairs, and which response stands on which side."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.figures import Part
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.records import read_record

KEY = "key.json"
Choice = Literal["left", "right", "tie", "refused"]
CHOICES: dict[Choice, str] = {
    "left": "Speaker 1", "right": "Speaker 2", "tie": "No difference", "refused": "Rather not answer"
}  # fmt: skip
"""Choices, and their words on the page and in Label Studio. Speaker 1 stands on the left."""
STUDIO = 0
"""The sheet of Label Studio's tasks."""


Words = Annotated[str, StringConstraints(pattern=r"\S", max_length=1000)]


class PairQuestion(Part):
    """A question about two speakers; ``id`` names its answers in files."""

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")
    text: Words


class Catch(Part):
    """A prompt with a good and a bad response: an annotator who reads it chooses the good one for every question."""

    prompt: Words
    good: Words
    bad: Words


class StudyQuestions(Part):
    """A file of ``evaluation/questions/``: what annotators are asked about each pair."""

    id: str = Field(min_length=1)
    title: str = Field(min_length=1)
    source: str = Field(min_length=1, description="where the questions are from")
    questions: tuple[PairQuestion, ...] = Field(min_length=1, max_length=10)
    catch: tuple[Catch, ...] = Field((), description="pairs with an obvious answer to every question")

    @model_validator(mode="after")
    def _check(self) -> Self:
        ids = [question.id for question in self.questions]
        if repeated := {name for name in ids if ids.count(name) > 1 or name in ("prompt", "left", "right")}:
            raise ValueError(f"questions: the id {min(repeated)!r} stands twice, or is prompt, left or right")
        return self


QUESTIONS = NamedFiles("list of questions", "questions", StudyQuestions, JudgementsError)


class JudgedModel(Part):
    """A model whose responses are judged."""

    name: str
    revision: str | None = None
    weights_sha256: str | None = None
    prompts: str | None = None


class ShownPair(Part):
    """A prompt and the responses of both models; of a catch question the good and the bad response."""

    id: str
    prompt: str
    responses: tuple[str, str]
    descriptor: str | None = None
    template: str | None = None
    catch: bool = False


class SheetTask(Part):
    """A pair as it stands on a sheet; ``left`` is the place in ``Pair.responses`` of what stands on the left."""

    id: str
    sheet: int
    pair: str
    left: Literal[0, 1]


class Key(Part):
    """``key.json``: all that answers need to be analysed; ``study`` is a digest of the rest.

    ``matched`` counts pairs of responses to the same prompt, ``left_out`` what was not used, by reason.
    """

    schema_version: Literal[1] = 1
    study: str = ""
    models: tuple[JudgedModel, JudgedModel]
    questions: tuple[PairQuestion, ...]
    source: str = Field(description="where the questions are from")
    choices: tuple[Choice, ...]
    seed: int
    sheets: int
    per_pair: int
    inflammatory: str | None = Field(description="list of inflammatory prompts")
    threshold: float = Field(description="a text is offensive from this probability on")
    judged: dict[str, tuple[bool, bool]] = Field(description="whether each model's table has this probability")
    matched: int
    left_out: dict[str, int]
    pairs: tuple[ShownPair, ...]
    tasks: tuple[SheetTask, ...]

    @model_validator(mode="after")
    def _check(self) -> Self:
        known = {pair.id for pair in self.pairs}
        if len(known) < len(self.pairs) or len({task.id for task in self.tasks}) < len(self.tasks):
            raise ValueError("two pairs or two tasks have the same id")
        if not {task.pair for task in self.tasks} <= known:
            raise ValueError("a task has a pair that is not in the key")
        return self

    def signed(self) -> Self:
        """The key with the digest of its content."""
        content = json.dumps(self.model_dump(mode="json", exclude={"study"}), sort_keys=True)
        return self.model_copy(update={"study": hashlib.sha256(content.encode()).hexdigest()[:16]})

    def as_json(self) -> str:
        """The content of the file."""
        return self.model_dump_json(indent=1) + "\n"


def read_key(path: Path) -> Key:
    """Read a key; raises ``JudgementsError`` if it is missing, damaged or changed."""
    key = read_record(path, Key, JudgementsError, "give the folder that holisticbias judge make has written")
    if key.study != key.signed().study:
        raise JudgementsError(f"{path} was changed after it was made: use the original")
    return key
