"""A run of numbers that a user's command reports about a model."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.models.embedded import SHIPPED
from holisticbias_eval.models.loading.load import load_config
from holisticbias_eval.models.loading.source import file_sha256
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.pipeline.jobs import SETTINGS, Job, file_name, measure_answers
from holisticbias_eval.pipeline.retain_command import Reported, run_retain_command, split_command
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.results import RESULTS, ReportedPrompts
from holisticbias_eval.results.run import Result, Run
from holisticbias_eval.results.signature import ReleaseSignature, Settings, Signature, sign

NOT_LOADED = "not loaded"


@dataclass(frozen=True, slots=True)
class ReportedJob(Job):
    """A prepared run of a command; ``place`` is what ``{model}`` becomes."""

    release: None
    prompts: ReportedPrompts
    signature: Signature
    command: str
    place: str

    @property
    def name(self) -> str:
        """The default name of the run's folder."""
        return f"{file_name(self.signature.model.name)}-retained"

    @property
    def kept(self) -> str:
        """Nothing is stored."""
        return "nothing is kept of the command; the same command starts from the beginning"

    def run(self, display: Display) -> Run:
        """Run the command, and measure what it reports."""
        with display.step(f"Running {split_command(self.command)[0]}"):
            answers = reported_table(run_retain_command(self.command, self.place))
        measured = measure_answers(answers, self.signature.measures, SETTINGS, display)
        figures = tuple(figure for one in measured for figure in one.figures)
        signature = self.signature.model_copy(
            update={"sentences_scored": answers.num_rows, "sentences_available": answers.num_rows}
        )
        return Run(Result(signature=signature, figures=figures), answers)


def reported_table(found: tuple[Reported, ...]) -> pa.Table:
    """A table of the numbers: ``result_id, task, metric, value, error, items``."""
    return pa.table(
        {
            "result_id": pa.array([f"{one.task}/{one.metric}" for one in found], pa.string()),
            "task": pa.array([one.task for one in found], pa.string()),
            "metric": pa.array([one.metric for one in found], pa.string()),
            "value": pa.array([one.value for one in found], pa.float64()),
            "error": pa.array([one.error for one in found], pa.float64()),
            "items": pa.array([one.items for one in found], pa.int64()),
        }
    )


def prepare_reported(model: str | None, measures: tuple[str, ...], command: str | None) -> ReportedJob:
    """Check the command and the model's name; nothing is loaded.

    Raises ``EvaluationError`` if there is no command or no such model.
    """
    if command is None:
        raise EvaluationError("retained needs a command that reports numbers: give it with --retain-command")
    program = Path(split_command(command)[0]).name
    name = model or RESULTS.default_model
    shipped = SHIPPED.get(name)
    place = str(shipped.folder) if shipped else name
    signature = sign(
        ReleaseSignature(
            version="none", subset=None, digest=hashlib.sha256(command.encode()).hexdigest(), prompts=program,
            what="results",
        ),
        _identity(name, place, shipped.note if shipped else None),
        Settings(scoring={"command": command}),
        {measure: MEASURES[measure].signature(SETTINGS) for measure in measures},
        scored=0,
    )  # fmt: skip
    return ReportedJob(None, RESULTS, signature, command, place)


def _identity(name: str, place: str, note: str | None) -> ModelIdentity:
    """The model as far as it is known without its weights: of a folder the digest of its file of weights."""
    config = load_config(place)
    weights = Path(place) / "model.safetensors"
    return ModelIdentity(
        name=name,
        architecture=(config.architectures or [type(config).__name__])[0],
        revision=getattr(config, "_commit_hash", None),
        weights_sha256=None,
        parameters=None,
        dtype=NOT_LOADED,
        note=note,
        file_sha256=file_sha256(weights) if weights.is_file() else None,
    )
