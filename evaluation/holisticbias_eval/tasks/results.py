"""Numbers that a user's command reports about a model."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from holisticbias.inputs import file_sha256
from holisticbias_eval.errors import EvaluationError, TableError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.loading.load import load_config
from holisticbias_eval.models.model import GivenModel, ModelSignature
from holisticbias_eval.progress import Display
from holisticbias_eval.settings import Settings, Use, setting
from holisticbias_eval.tables.fields import Field
from holisticbias_eval.tables.forms import Form, columns
from holisticbias_eval.tasks.retain_command import Reported, run_retain_command, split_command
from holisticbias_eval.tasks.sources import Answered, TaskRequests, TaskSource, file_source
from holisticbias_eval.tasks.task import Given, Task

NOT_LOADED = "not loaded"


class CommandSettings(Settings):
    """A user's command."""

    group = "Retention"

    retain_command: str | None = setting(
        None,
        "For retained: a command to run, without a shell. {model} in it becomes the model, {out} a path to write to. "
        "It must report a JSON object of numbers: there, or as its last line.",
        metavar="COMMAND",
    )


@dataclass(frozen=True)
class CommandRequests(TaskRequests):
    """A command that reports numbers of the model at ``place``, which ``{model}`` in it becomes."""

    command: str
    place: str

    def answer(self, display: Display) -> Answered:
        """Run the command."""
        with display.step(f"Running {split_command(self.command)[0]}"):
            table = reported_table(run_retain_command(self.command, self.place))
        return Answered(table, {"sentences_scored": table.num_rows, "sentences_available": table.num_rows})


_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("result_id", "task", "metric")]
    + [("value", pa.float64()), ("error", pa.float64()), ("items", pa.int64())]
)


def reported_table(found: Iterable[Reported]) -> pa.Table:
    """A table of the numbers: ``result_id, task, metric, value, error, items``."""
    rows = [{"result_id": f"{one.task}/{one.metric}", **asdict(one)} for one in found]
    return pa.Table.from_pylist(rows, _SCHEMA)


def _refuse_negative(label: str, table: pa.Table) -> None:
    errors = table["error"].to_pylist() if "error" in table.column_names else []
    for row, error in enumerate(errors, 1):
        if error is not None and error < 0:
            raise TableError(f"{label}: row {row}: column error is {error:g}: a standard error is 0 or more")


def _refuse_repeated(label: str, table: pa.Table) -> None:
    first: dict[tuple[str, str], int] = {}
    for row, (task, metric) in enumerate(zip(table["task"].to_pylist(), table["metric"].to_pylist(), strict=True), 1):
        before = first.setdefault((task or "", metric), row)
        if before < row:
            raise TableError(f"{label}: row {row}: task and metric are those of row {before}: give every row its own")


RESULTS = Form(
    "results",
    (
        Field("task", need=True),
        *columns("name", "metric", need=True),
        *columns("number", "value", need=True, filled=True),
        Field("error", "number"),
        Field("items", "count"),
    ),
    (_refuse_negative, _refuse_repeated),
)
"""``task`` may be blank, ``error`` is the standard error of a number, and ``items`` how many it is of."""


def read_results(source: Path) -> pa.Table:
    """Read a user's table of reported numbers; raises ``TableError``."""
    rows = RESULTS.read(source).to_pylist()
    return reported_table(Reported(**{**row, "task": row["task"] or ""}) for row in rows)


class ResultsTask(Task):
    """The numbers of a command."""

    name = "results"
    subject = "numbers of another program"
    ability = "command"
    named_by = (CommandSettings, "retain_command")
    tables: ClassVar = {"results": read_results}
    uses = (Use(CommandSettings),)

    def source(self, given: Given) -> TaskSource:
        """Check the command; nothing is run."""
        command = given.read(CommandSettings).retain_command
        if command is None:
            raise EvaluationError("retained needs a command that reports numbers: give it with --retain-command")
        program = Path(split_command(command)[0]).name
        digest = hashlib.sha256(command.encode()).hexdigest()
        return file_source(command, program, digest, "results", {"command": command}, name="retained")

    def model(self, source: TaskSource, given: Given) -> GivenModel:
        """The model as far as it is known without its weights: the digest of a GGUF file, or of a folder's weights."""
        name = given.model or EMBEDDED_MODEL
        if not isinstance(name, str):
            raise EvaluationError("retained is for a model that a command can open: give its folder or its id")
        shipped = SHIPPED.get(name)
        place = str(shipped.folder) if shipped else name
        config, file = load_config(place), Path(place)
        weights = file / "model.safetensors" if file.is_dir() else file
        identity = ModelSignature(
            name=name,
            architecture=(config.architectures or [type(config).__name__])[0],
            revision=getattr(config, "_commit_hash", None),
            weights_sha256=None,
            parameters=None,
            dtype=NOT_LOADED,
            note=shipped.note if shipped else None,
            file_sha256=file_sha256(weights) if weights.is_file() else None,
        )
        return GivenModel(identity, content=place)

    def ask(self, source: TaskSource, model: GivenModel, given: Given) -> CommandRequests:
        """The command, with the model in its place."""
        return CommandRequests(source.content, model.content)
