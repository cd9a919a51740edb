"""Costs of a mitigation: neutral text, dialogue state tracking, and a user's command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.fine_tuning import ClassifierSettings
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.pipeline.dialogue_run import prepare_dialogues
from holisticbias_eval.pipeline.jobs import Job
from holisticbias_eval.pipeline.line_scoring import prepare_lines
from holisticbias_eval.pipeline.reported_run import prepare_reported
from holisticbias_eval.pipeline.retain_command import split_command
from holisticbias_eval.progress import Display

MULTIWOZ = "multiwoz:"
MEASURED = ("retention", "dialogue_state", "retained")
"""The measures that need these options."""


@dataclass(frozen=True, slots=True)
class RetainOptions:
    """A file of neutral text, a folder of MultiWOZ, and a command; each may be missing."""

    text: Path | None = None
    dialogues: Path | None = None
    command: str | None = None
    classifier: ClassifierSettings = field(default_factory=ClassifierSettings)

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that these options are for."""
        given = (self.text, self.dialogues, self.command)
        return tuple(name for name, value in zip(MEASURED, given, strict=True) if value is not None)


def read_retain(values: Sequence[str], command: str | None) -> RetainOptions:
    """Read ``--retain``, a file or ``multiwoz:FOLDER``, at most one of each, and ``--retain-command``.

    Raises ``EvaluationError`` if two values are of one kind, or the command does not name the model.
    """
    folders = [value.removeprefix(MULTIWOZ) for value in values if value.startswith(MULTIWOZ)]
    files = [value for value in values if not value.startswith(MULTIWOZ)]
    if len(folders) > 1 or len(files) > 1:
        raise EvaluationError(
            "--retain takes one file of neutral text and one multiwoz:FOLDER: join the files into one"
        )
    if command is not None:
        split_command(command)
    return RetainOptions(Path(files[0]) if files else None, Path(folders[0]) if folders else None, command)


def prepare_retention(
    model: str | None,
    measures: Sequence[tuple[str, ...]],
    given: RetainOptions,
    options: ModelSettings | None,
    store: Path | None,
    display: Display,
) -> list[Job]:
    """Prepare the runs of the measures in ``MEASURED``; raises ``EvaluationError`` if an option is missing."""
    made: list[Job] = []
    for names in measures:
        if "retention" in names:
            made += prepare_lines(model, [names], given.text, options, store, display)
        elif "dialogue_state" in names:
            made.append(prepare_dialogues(model, names, given.dialogues, options, given.classifier, display))
        else:
            made.append(prepare_reported(model, names, given.command))
    return made
