"""The record of a mitigation, ``mitigation.json`` in the folder of the trained model."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.figures import Part
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.models.generation.frame import MITIGATION
from holisticbias_eval.models.model import ModelSignature
from holisticbias_eval.records import FolderRecord, read_record
from holisticbias_eval.results.run_sets import AFTER, MEASURED
from holisticbias_eval.stereotypes.specifications import specification_digest


class TrainedOn(Part):
    """The training texts: their number and digest, and counts of texts that were left out or added."""

    name: str
    sha256: str = Field(description="of the texts and their contexts, in order")
    texts: int
    validation_texts: int
    counts: dict[str, int] = Field(default_factory=dict)


class SpecificationSignature(Part):
    """The specification of a mitigation."""

    id: str
    title: str
    sha256: str
    groups: tuple[str, ...] = Field(description="groups that the training knows")
    held_out: tuple[str, ...] = Field(description="groups that are measured and not trained on")


class ValidationRecord(Part):
    """A validation after ``step`` optimizer steps; step 0 is the model before training."""

    step: int
    perplexity: float
    auxiliary: float
    loss: float


class Point(Part):
    """A training with some settings: a point of a grid.

    ``f`` is F of the validation log-perplexities over groups, and ``perplexity`` that of all validation texts; both are
    null if the training ``failed``, which then says why. ``kept`` is the step whose state was kept.
    """

    settings: TrainingSettings
    f: float | None = None
    perplexity: float | None = None
    kept: int | None = None
    steps: int | None = None
    planned: int | None = None
    cut: int = Field(0, description="texts that were longer than the model reads")
    counts: dict[str, int] = Field(
        default_factory=dict, description="mentions that the method's loss compared in the texts, and others by reason"
    )
    validations: tuple[ValidationRecord, ...] = ()
    failed: str | None = None


class Mitigation(FolderRecord):
    """``mitigation.json``: what a model was trained with, and what validation found; everything that it depends on.

    ``chosen`` is the index of the point whose weights the folder has. ``f_before`` and ``perplexity_before`` are the
    validation figures of the model before training. ``control`` is the text at the end of the context at generation.
    """

    schema_version: Literal[1] = 1
    method: str
    title: str
    source: str
    base_model: ModelSignature
    specification: SpecificationSignature | None
    trained_on: TrainedOn
    given: dict[str, str] = Field(default_factory=dict, description="options of the method besides the settings")
    grid: str | None = None
    most_rise: float = Field(description="the largest rise of validation perplexity, as a share, that F may cost")
    control: str | None = None
    planned: tuple[TrainingSettings, ...]
    f_before: float | None = None
    perplexity_before: float | None = None
    points: tuple[Point, ...] = ()
    chosen: int | None = None
    versions: dict[str, str]
    machine: str

    @property
    def asked(self) -> dict[str, Any]:
        """Everything that the weights depend on, but for packages and the machine; a model by its weights' digest."""
        named = {
            "trained_on": "training texts",
            "given": "options",
            "most_rise": "perplexity rise",
            "planned": "settings",
        }
        kept = self.model_dump(mode="json", include={"method", "specification", "grid", *named})
        return {
            **{named.get(name, name): value for name, value in kept.items()},
            "model": self.base_model.weights_sha256,
        }

    @property
    def most_perplexity(self) -> float:
        """The largest validation perplexity of a point that is chosen by its F."""
        return (1 + self.most_rise) * (self.perplexity_before or 0.0)

    @property
    def point(self) -> Point:
        """The chosen point."""
        return self.points[self.chosen or 0]


@dataclass(frozen=True, slots=True)
class MitigatedModel:
    """The folder of a trained model, and its record."""

    folder: Path
    record: Mitigation

    @property
    def after(self) -> Path:
        """The folder of the runs of the trained model."""
        return self.folder / MEASURED / AFTER


def sign_specification(specification: Specification, groups: tuple[str, ...]) -> SpecificationSignature:
    """A specification in a record; groups of which none is trained are held out."""
    return SpecificationSignature(
        id=specification.id,
        title=specification.text,
        sha256=specification_digest(specification),
        groups=groups,
        held_out=tuple(group.name for group in specification.groups if group.name not in groups),
    )


def read_mitigation(folder: Path) -> Mitigation:
    """Read the record of a folder with a mitigation; raises ``MitigationError`` if it is damaged."""
    return read_record(folder / MITIGATION, Mitigation, MitigationError)
