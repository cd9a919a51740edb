"""The requests of a task to a model, and the answers."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from holisticbias_eval.errors import EvaluationError
from holisticbias_eval.models.likelihood.scorer import MaskedInputs
from holisticbias_eval.models.trial import Plan
from holisticbias_eval.progress import Display
from holisticbias_eval.prompts.selection import Skipped, Terms


@dataclass(frozen=True, slots=True)
class Answered:
    """The table of answers, and the fields of the signature that only asking finds out.

    ``masked_inputs`` counts the inputs of masked models that this process ran.
    """

    table: pa.Table
    signed: Mapping[str, object] = field(default_factory=dict)
    masked_inputs: MaskedInputs | None = None


@dataclass(frozen=True, kw_only=True)
class TaskRequests(ABC):
    """Requests of one source to one model.

    ``count`` is the number of sentences, pairs or responses that are asked for, ``settings`` what the answers depend
    on besides the model's own settings, and ``skipped`` and ``terms`` say what is not asked. ``answers`` is the name of
    what a store keeps, null if nothing can be kept, and ``folder`` that of the store. ``uncounted`` names the requests
    if they have no plan.
    """

    answers: ClassVar[str | None] = None
    uncounted: ClassVar[str] = "this work"

    count: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    terms: Terms | None = None
    folder: Path | None = None

    @property
    def stored(self) -> str | None:
        """The answers that the store holds, in words; empty if it holds none, and null without a store."""
        if self.folder is None:
            return None
        return f"the {self.answers} so far are kept in {self.folder}" if self.folder.is_dir() else ""

    @property
    def kept(self) -> str:
        """The number of answers in the store and how to continue, in words, for an interruption."""
        if self.stored:
            return f"{self.stored}; run the same command again to continue"
        reason = " with --no-store" if self.stored is None else ""
        nothing = f"no {self.answers} are kept{reason}" if self.answers else "nothing is kept"
        return f"{nothing}; the same command starts from the beginning"

    @abstractmethod
    def answer(self, display: Display) -> Answered:
        """Ask the model."""

    def plan(self, display: Display) -> Plan:
        """Count the work and estimate its time; raises ``EvaluationError`` if that is not possible."""
        raise EvaluationError(f"--dry-run cannot count {self.uncounted}: leave --dry-run out")
