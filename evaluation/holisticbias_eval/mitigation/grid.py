"""Grids of settings, as named files of ``evaluation/grids/``, and the choice of a point by F and perplexity."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holisticbias.source.schema_messages import schema_message
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.named_files import NamedFiles

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
