"""The base class of tasks: a task finds its source, and makes requests of it that a model answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import pyarrow as pa

from holisticbias.release.release import Release
from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.figures import Figure
from holisticbias_eval.measures.measure import MeasureSettings
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED, Shipped
from holisticbias_eval.models.engines import M, stored
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.models.loading.load import ModelSource, is_altered
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.models.store.shards import Stage, find_store
from holisticbias_eval.progress import Display
from holisticbias_eval.results.run_sets import read_recorded
from holisticbias_eval.results.signature import Signature
from holisticbias_eval.settings import Keeping, S, Settings, Use, Values, read_settings
from holisticbias_eval.tasks.sources import ReleaseSource, TaskRequests, TaskSource, find_release

LOADED_MODEL = "that is loaded already"
Ability = Literal["score", "generate", "train", "command"]
"""How a model answers: with likelihoods, with responses, after training, or through a user's command."""


@dataclass(frozen=True)
class Given:
    """A user's arguments for the runs of one task: the model, the release, the settings, and the measures.

    ``opened`` are the releases that the tasks of an evaluation have opened. Of a ``trial``, as for a dry run, few of
    many requests are enough.
    """

    model: ModelSource
    release_name: ReleaseSource
    values: Values
    measures: tuple[str, ...]
    display: Display
    opened: dict[tuple[str | None, bool], Release] = field(default_factory=dict)
    trial: bool = False

    def __post_init__(self) -> None:
        """Raise ``EvaluationError`` for an empty name, which a shell gives for a variable that is not set."""
        for option, name in (("--model", self.model), ("--release", self.release_name)):
            if isinstance(name, str) and not name.strip():
                raise EvaluationError(f"{option} is empty: give a name, or leave {option} out")

    def read(self, kind: type[S]) -> S:
        """The settings of one kind."""
        return read_settings(kind, self.values)

    @cached_property
    def running(self) -> ModelSettings:
        """The settings with which a model runs, without the role in a chat that only scores have."""
        return read_settings(ModelSettings, self.values, without=("chat",))

    def shipped(self, default: str = EMBEDDED_MODEL) -> Shipped | None:
        """The calibration model that is asked, by default this one, or from which a mitigation trained the model.

        None for other models, and for those behind a server.
        """
        if self.running.engine == "api":
            return None
        name = self.model_name or default
        return SHIPPED.get(read_recorded(Path(name) / MITIGATION).base_model or name)

    @property
    def own_release(self) -> str | None:
        """The version whose words the model knows; None if there is none."""
        shipped = self.shipped()
        return shipped.release if shipped else None

    def release(self, default: ReleaseSource = None, *, small: bool = False) -> Release:
        """Open the release that was named, else ``default``, else the newest published version, or its small part."""
        name = self.release_name or default
        if isinstance(name, Release):
            return name.small() if small else name
        if small:
            return self.opened.setdefault((name, True), self.release(default).small())
        if (name, False) not in self.opened:
            with self.display.step(f"Opening release {name}" if name else "Opening the newest release"):
                self.opened[name, False] = find_release(name)
        return self.opened[name, False]

    @property
    def model_name(self) -> str | None:
        """The name of the model, as far as it is known before it is loaded."""
        return self.model if self.model is None or isinstance(self.model, str) else LOADED_MODEL

    def named(self, source: TaskSource) -> ModelSource:
        """The model that was named, else that of the source; a server's must be named."""
        return source.default_model if self.model is None and self.running.engine != "api" else self.model

    def store(self, stage: Stage) -> Path | None:
        """The folder that keeps what a stage makes; None if nothing is kept, such as answers of an altered model."""
        if stage != "labels" and isinstance(self.model, tuple) and is_altered(self.model[0]):
            self.display.notice("the loaded model has hooks or another forward, so its answers are not kept")
            return None
        return find_store(self.read(Keeping), stage)

    def stored(self, model: M, stage: Stage) -> M:
        """The model with the store of its answers, if they are kept."""
        return stored(model, self.store(stage), self.display.notice)


@dataclass(frozen=True, kw_only=True)
class TaskReading:
    """Reads answers before they are measured: readers add columns, and figures of the readers stand beside.

    ``signed`` describes each classifier by its id, ``settings`` are further settings of the run, and ``measuring``
    those of its measures. ``signed`` is complete once the reading is started.
    """

    measuring: MeasureSettings
    signed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)

    def start(self, display: Display) -> Self:
        """The reading with its classifiers loaded."""
        return self

    def read(self, table: pa.Table, display: Display) -> pa.Table:
        """Add the columns that measures need."""
        return table

    def beside(
        self, table: pa.Table, figures: tuple[Figure, ...], display: Display
    ) -> tuple[tuple[Figure, ...], Mapping[str, pa.Table]]:
        """Figures and tables beside those of the measures, such as the audit of a classifier."""
        return (), {}


class Task(ABC):
    """A kind of question. A task is one file with one subclass, and one line in ``TASKS``.

    ``subject`` says in a report what was asked; ``uses`` are the settings that it and its engines read. ``tables``
    read a user's table in place of answers, by the kind of answers that a measure needs; they raise ``TableError``.
    ``named_by`` is the setting that names a source of this task.
    """

    name: ClassVar[str]
    subject: ClassVar[str]
    ability: ClassVar[Ability]
    uses: ClassVar[tuple[Use, ...]]
    tables: ClassVar[Mapping[str, Callable[[Path], pa.Table]]] = {}
    named_by: ClassVar[tuple[type[Settings], str] | None] = None

    def is_named(self, values: Values) -> bool:
        """Whether the settings name a source of this task, whose measures are then the default."""
        return (
            self.named_by is not None and getattr(read_settings(self.named_by[0], values), self.named_by[1]) is not None
        )

    @abstractmethod
    def source(self, given: Given) -> TaskSource:
        """Find what is asked about; raises ``EvaluationError`` before a model is loaded."""

    @abstractmethod
    def model(self, source: TaskSource, given: Given) -> Any:
        """Load the model, or start the engine that reaches it; it has an ``identity`` and ``settings``."""

    @abstractmethod
    def ask(self, source: TaskSource, model: Any, given: Given) -> TaskRequests:
        """Make the requests."""

    def reading(self, source: TaskSource, given: Given) -> TaskReading:
        """Find the readers of the measures' answers; raises ``EvaluationError`` before a model is loaded."""
        return TaskReading(measuring=MeasureSettings(values=given.values))

    def beside(self, table: pa.Table, signature: Signature, given: Given) -> tuple[Figure, ...]:
        """Figures that stand beside those of the measures, such as the truth that was planted in a model."""
        return ()
