"""Settings of a mitigation and of its trainings; grids of them, and the choice of a point by F and perplexity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.named_files import NamedFiles


class MitigationSettings(BaseModel):
    """The model, sentences and settings of a mitigation; those of the calibration where null.

    ``training`` are the values of ``TrainingSettings`` that the user gives; a method has its own defaults for others.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = Field(None, description="causal model: a folder or a Hub repository")
    specification: str | None = Field(None, description="specification of the groups, by name or as a file")
    corpus: Path | None = Field(None, description="sentences about the groups: a table of examples, or a split folder")
    training: Mapping[str, Any] = Field(default_factory=dict, description="settings of the training")
    grid: str | None = Field(None, description="grid of settings to try: a name, a file, or default, the method's own")
    max_perplexity_rise: float = Field(
        5.0, ge=0, description="the largest rise of the validation perplexity that F may cost, in percent"
    )
    hold_out: tuple[str, ...] = Field((), description="groups to measure and not to train on")
    groups: tuple[str, ...] = Field((), description="groups to train on; by default all that are not held out")
    device: str = Field("auto", description="torch device, such as cpu or cuda:1")
    first_token: str = Field(AUTO, description="what precedes each text, see choose_first_token; not for responses")


class TrainingSettings(BaseModel):
    """Settings of a training; the defaults come from Zhao et al. 2024, section 5.1, if the paper states one.

    The loss of a batch is ``lm_weight`` times the mean negative log-likelihood of its tokens, in nats, plus ``weight``
    times the method's auxiliary loss. The learning rate rises for ``warmup`` steps and then falls linearly to 0;
    gradients are clipped to a norm of 1; there is no weight decay. ``criterion`` is what validation watches: the
    ``perplexity``, or the whole ``loss``. With ``patience`` the training stops after so many validations without a
    smaller value, and keeps the state with the smallest; with null it keeps the last state.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    epochs: int = Field(6, ge=1, description="passes over the texts")
    steps: int | None = Field(None, ge=1, description="optimizer steps, in place of epochs")
    batch: int = Field(8, ge=1, description="texts per batch")
    accumulation: int = Field(1, ge=1, description="batches per optimizer step")
    learning_rate: float = Field(5e-5, gt=0)
    warmup: int = Field(0, ge=0, description="steps until the full learning rate")
    optimizer: Literal["adamw", "sgd"] = "adamw"
    weight: float = Field(1.0, ge=0, description="weight of the auxiliary loss")
    lm_weight: float = Field(1.0, ge=0, description="weight of the language model's loss")
    patience: int | None = Field(3, ge=1, description="validations without improvement before stopping")
    criterion: Literal["perplexity", "loss"] = "perplexity"
    evaluations: int = Field(10, ge=1, description="validations, spread evenly over the training")
    seed: int = Field(0, ge=0, lt=2**32)
    lora_rank: int | None = Field(None, ge=1, description="rank of LoRA adapters; null trains all weights")

    def total_steps(self, texts: int) -> int:
        """The number of optimizer steps for so many texts."""
        per_epoch = -(-texts // self.batch)
        return self.steps or self.epochs * -(-per_epoch // self.accumulation)

    def steps_between_evaluations(self, texts: int) -> int:
        """The number of optimizer steps between two validations; the last step is always validated."""
        return -(-self.total_steps(texts) // self.evaluations)


_ABOUT = {"id", "source", "note"}
Count = Annotated[int, Field(ge=1)]
Weight = Annotated[float, Field(ge=0)]


class Grid(BaseModel):
    """A file of ``evaluation/grids/``: the values to try of each setting, in every combination."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    id: str = Field(min_length=1)
    epochs: tuple[Count, ...] = ()
    steps: tuple[Count, ...] = ()
    batch: tuple[Count, ...] = ()
    accumulation: tuple[Count, ...] = ()
    learning_rate: tuple[Annotated[float, Field(gt=0)], ...] = ()
    warmup: tuple[Annotated[int, Field(ge=0)], ...] = ()
    optimizer: tuple[Literal["adamw", "sgd"], ...] = ()
    weight: tuple[Weight, ...] = ()
    lm_weight: tuple[Weight, ...] = ()
    patience: tuple[Annotated[int, Field(ge=0)], ...] = Field((), description="0 makes all steps")
    criterion: tuple[Literal["perplexity", "loss"], ...] = ()
    evaluations: tuple[Count, ...] = ()
    seed: tuple[Annotated[int, Field(ge=0, lt=2**32)], ...] = ()
    source: str = Field(min_length=1, description="who uses these values, or how they were found")
    note: str | None = None

    @property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """The settings that have values, with these."""
        found = {name: tuple(values) for name, values in self if name not in _ABOUT and values}
        if "patience" in found:
            found["patience"] = tuple(patience or None for patience in found["patience"])
        return found


FILES = NamedFiles("grid", "grids", Grid, MitigationError)


def grid_points(grid: Grid | None, given: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[TrainingSettings]:
    """The settings of every point of a grid, in order; one point without a grid.

    ``given`` are the user's values, and ``defaults`` those of the method; the grid's come before the defaults. Raises
    ``MitigationError`` for a value that is not valid, and for a setting that is both given and in the grid.
    """
    values = {} if grid is None else grid.values
    twice = sorted(set(values) & set(given))
    if grid is not None and twice:
        raise MitigationError(f"--{twice[0].replace('_', '-')} is also in the grid {grid.id}: leave one of them out")
    for combination in product(*values.values()):
        settings = {**defaults, **given, **dict(zip(values, combination, strict=True))}
        if settings.get("steps") is None:
            settings.pop("steps", None)
        yield make_settings(settings)


def varied(points: Sequence[TrainingSettings]) -> list[str]:
    """The settings that differ between points."""
    return [name for name in TrainingSettings.model_fields if len({getattr(point, name) for point in points}) > 1]


def make_settings(values: Mapping[str, Any]) -> TrainingSettings:
    """Settings with these values; raises ``MitigationError`` that names a value that is not valid."""
    try:
        return TrainingSettings(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise MitigationError(f"{'.'.join(map(str, first['loc']))}: {schema_message(first)}") from error


Rank = tuple[int, float, float]


def rank(f: float | None, perplexity: float | None, base: float, most_rise: float) -> Rank:
    """The rank of a point of a grid: the smallest is chosen.

    Points whose validation perplexity is at most ``(1 + most_rise)`` times that of the model before training come
    first, by F of their validation log-perplexities over groups; then the others by perplexity; then points that have
    no perplexity, because their training broke off. A missing F comes after every F. The p-value of F is not used: it
    would prefer points whose F is small by chance.
    """
    if perplexity is None:
        return (2, math.inf, math.inf)
    if perplexity <= (1 + most_rise) * base:
        return (0, math.inf if f is None else f, perplexity)
    return (1, perplexity, math.inf if f is None else f)
