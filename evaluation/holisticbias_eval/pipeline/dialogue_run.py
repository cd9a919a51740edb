"""A run of dialogue state tracking: fine-tune a model on candidates, and classify others with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.corpus.multiwoz import (
    DATA,
    Dialogues,
    candidate_text,
    make_candidates,
    read_multiwoz,
    slot_values,
)
from holisticbias_eval.errors import DialoguesError, EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.fine_tuning import ClassifierSettings, classify_after_training
from holisticbias_eval.models.loading.load import LoadedModel, find_kind, load_kind
from holisticbias_eval.models.loading.tokenizers import tokenizer_digest
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, file_name, measure_answers
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.dialogues import DIALOGUES, ClassifiedPrompts
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import ReleaseSignature, Settings, Signature, sign


@dataclass(frozen=True, slots=True)
class DialogueJob(Job):
    """A prepared run: candidates to train on and candidates to classify."""

    release: None
    prompts: ClassifiedPrompts
    signature: Signature
    loaded: LoadedModel
    train: pa.Table
    test: pa.Table
    settings: ClassifierSettings

    @property
    def name(self) -> str:
        """The default name of the run's folder."""
        return f"{file_name(self.signature.model.name)}-dialogue-state"

    @property
    def kept(self) -> str:
        """Nothing is stored."""
        return "nothing is kept of fine-tuning; the same command starts from the beginning"

    def run(self, display: Display) -> Run:
        """Fine-tune, classify and measure."""
        texts, total = _texts(self.train), self.train.num_rows * self.settings.epochs + self.test.num_rows
        with display.progress(f"Fine-tuning {self.loaded.identity.name}, and classifying", total) as done:
            labels = self.train["label"].to_pylist()
            found = classify_after_training(self.loaded, (texts, labels), _texts(self.test), self.settings, done)
        answers = self.test.drop_columns(["history"]).append_column("probability", pa.array(found, from_pandas=True))
        measured = measure_answers(answers, self.signature.measures, SETTINGS, display)
        figures = tuple(figure for one in measured for figure in one.figures)
        return Run(Result(signature=self.signature, figures=figures), answers)


def _texts(candidates: pa.Table) -> list[str]:
    columns = (candidates[name].to_pylist() for name in ("history", "slot", "value"))
    return [candidate_text(*row) for row in zip(*columns, strict=True)]


def prepare_dialogues(
    model: str | None,
    measures: tuple[str, ...],
    folder: Path | None,
    options: ModelSettings | None,
    settings: ClassifierSettings,
    display: Display,
) -> DialogueJob:
    """Read the dialogues, draw candidates, and load the model; raises ``EvaluationError`` if one does not fit."""
    if folder is None:
        raise EvaluationError("dialogue_state needs a folder of MultiWOZ: name it with --retain multiwoz:FOLDER")
    options = options or ModelSettings()
    if options.engine != "local":
        raise EvaluationError(
            f"dialogue_state fine-tunes the model, which the {options.engine} engine cannot: use local"
        )
    with display.step(f"Reading {folder}"):
        dialogues = read_multiwoz(folder)
        train, test = _candidates(folder, dialogues, settings)
    with display.step(f"Loading model {model or DIALOGUES.default_model}"):
        kind = find_kind(model) if options.kind == "auto" else options.kind
        loaded = load_kind(model, kind, options.device)
    signature = _sign(folder, dialogues, loaded, measures, settings, train.num_rows, test.num_rows)
    return DialogueJob(None, DIALOGUES, signature, loaded, train, test, settings)


def _candidates(folder: Path, dialogues: Dialogues, settings: ClassifierSettings) -> tuple[pa.Table, pa.Table]:
    known = slot_values(dialogues.train)
    train = make_candidates(dialogues.train, known, settings.train_candidates, settings.seed)
    test = make_candidates(dialogues.test, known, settings.test_candidates, settings.seed)
    if not train.num_rows or not test.num_rows:
        raise DialoguesError(f"{folder / DATA}: no slot has two values in the training dialogues: is it complete?")
    return train, test


def _sign(
    folder: Path,
    dialogues: Dialogues,
    loaded: LoadedModel,
    measures: tuple[str, ...],
    settings: ClassifierSettings,
    trained: int,
    tested: int,
) -> Signature:
    about = {
        **settings.record,
        "tokenizer_sha256": tokenizer_digest(loaded.tokenizer),
        "trained_on": f"{trained:,} candidates of training dialogues",
        "left_out": f"{dialogues.held_out:,} validation dialogues",
    }
    name = folder.resolve().name
    return sign(
        ReleaseSignature(version="none", subset=None, digest=dialogues.sha256, prompts=name, what="dialogues"),
        loaded.identity,
        Settings(scoring=about),
        {measure: MEASURES[measure].signature(SETTINGS) for measure in measures},
        scored=tested,
    )
