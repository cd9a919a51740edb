"""Dialogue state tracking: a model is fine-tuned on candidates of slots, and classifies others."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.errors import DialoguesError, EvaluationError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL
from holisticbias_eval.models.engines import load_here
from holisticbias_eval.models.fine_tuning import ClassifierSettings, classify_after_training
from holisticbias_eval.models.model import GivenModel
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.progress import Display
from holisticbias_eval.settings import Use
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.lines import RetainSettings
from holisticbias_eval.tasks.multiwoz import DATA, candidate_text, make_candidates, read_multiwoz, slot_values
from holisticbias_eval.tasks.sources import Answered, TaskRequests, TaskSource, file_source
from holisticbias_eval.tasks.task import Given, Task

SETTINGS = ClassifierSettings()


CANDIDATES = Form("candidates", (
    *columns("name", "dialogue", need=True),
    Field("label", "number", need=True, filled=True, choices=(0, 1)),
    Field("probability", "probability", need=True),
))  # fmt: skip


def read_candidates(source: Path) -> pa.Table:
    """Candidates numbered in their order; a label is 1 or 0, a probability that of 1."""
    table = CANDIDATES.read(source)
    ids = pa.array([str(row) for row in range(table.num_rows)])
    table = table.set_column(1, "label", table["label"].cast(pa.int64()))
    return table.add_column(0, "candidate_id", ids)


@dataclass(frozen=True)
class CandidateRequests(TaskRequests):
    """Candidates to train on, and candidates to classify."""

    model: GivenModel
    train: pa.Table
    test: pa.Table

    def answer(self, display: Display) -> Answered:
        """Fine-tune, and classify."""
        total = self.train.num_rows * SETTINGS.epochs + self.test.num_rows
        with display.progress(f"Fine-tuning {self.model.identity.name}, and classifying", total) as done:
            lessons = _texts(self.train), self.train["label"].to_pylist()
            found = classify_after_training(self.model.content, lessons, _texts(self.test), SETTINGS, done)
        probability = pa.array(found, from_pandas=True)
        return Answered(self.test.drop_columns(["history"]).append_column("probability", probability))


def _texts(candidates: pa.Table) -> list[str]:
    columns = (candidates[name].to_pylist() for name in ("history", "slot", "value"))
    return [candidate_text(*row) for row in zip(*columns, strict=True)]


class DialoguesTask(Task):
    """The dialogues of a folder of MultiWOZ."""

    name = "dialogues"
    subject = "candidates of dialogues"
    ability = "train"
    named_by = (RetainSettings, "dialogues")
    tables: ClassVar = {"candidates": read_candidates}
    uses = (Use(RetainSettings), *ModelSettings.uses(fields=("engine", "kind", "device")))

    def source(self, given: Given) -> TaskSource:
        """Read the dialogues, and draw candidates of training and of test."""
        folder = given.read(RetainSettings).dialogues
        if folder is None:
            raise EvaluationError("dialogue_state needs a folder of MultiWOZ: name it with --retain multiwoz:FOLDER")
        if given.running.engine != "local":
            raise EvaluationError(
                f"dialogue_state fine-tunes the model, which the {given.running.engine} engine cannot: use local"
            )
        with given.display.step(f"Reading {folder}"):
            dialogues = read_multiwoz(folder)
            known = slot_values(dialogues.train)
            train = make_candidates(dialogues.train, known, SETTINGS.train_candidates, SETTINGS.seed)
            test = make_candidates(dialogues.test, known, SETTINGS.test_candidates, SETTINGS.seed)
        if not train.num_rows or not test.num_rows:
            raise DialoguesError(f"{folder / DATA}: no slot has two values in the training dialogues: is it complete?")
        about = {
            "trained_on": f"{train.num_rows:,} candidates of training dialogues",
            "left_out": f"{dialogues.held_out:,} validation dialogues",
        }
        file = folder.resolve().name
        return file_source((train, test), file, dialogues.sha256, "dialogues", about, name="dialogue-state")

    def model(self, source: TaskSource, given: Given) -> GivenModel:
        """Load the weights."""
        with given.display.step(f"Loading model {given.model_name or EMBEDDED_MODEL}"):
            kind, loaded = load_here(given.model, given.read(ModelSettings))
        return GivenModel(loaded.identity, {**SETTINGS.record, **loaded.settings}, kind, loaded)

    def ask(self, source: TaskSource, model: GivenModel, given: Given) -> CandidateRequests:
        """The candidates."""
        train, test = source.content
        return CandidateRequests(model, train, test, count=test.num_rows)
