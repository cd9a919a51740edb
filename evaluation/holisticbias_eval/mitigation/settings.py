"""Settings of a mitigation and of its trainings; grids of them, and the choice of a point by F and perplexity."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, create_model

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.named_files import NamedFiles
from holisticbias_eval.settings import Settings, Texts, Values, listed, read_settings, setting

Needs = Literal["corpus", "responses"]
"""What a method learns from: sentences about groups, or a model's own responses with probabilities of styles."""
AIMS: Mapping[Needs, tuple[str, ...]] = {
    "corpus": ("group_perplexity",),
    "responses": ("generation_bias", "offensiveness", "response_wording"),
}
"""The measures of every mitigation, by what its methods learn from."""


class GroupSettings(Settings):
    """The sentences about groups that a model is trained on, and the groups."""

    group = "Sentences about groups, for lmd, add, ctda and cada"

    specification: str | None = setting(
        None, "Specification of the groups. Default: calibration-many.", metavar="NAME|FILE"
    )
    examples: Path | None = setting(
        None,
        "Sentences about the groups: a table of examples, which is split, or a folder that `holisticbias corpus split` "
        "wrote. Default, for calibration-many: its invented sentences.",
        metavar="FILE|FOLDER",
    )
    hold_out: Texts = setting(
        (), "A group to measure and not to train on; may be given several times.", metavar="GROUP"
    )
    groups: Texts = setting(
        (), "Train on these groups only, such as a pair. Default: all that are not held out.", metavar="A,B"
    )


class Tagging(Settings):
    """A model's own responses, and how they are tagged by their bias values."""

    group = "Responses, for style_equality and self_chat"

    responses: Path | None = setting(
        None,
        "Folder of a run of generation_bias with the model's responses. Default: they are made now.",
        metavar="RUN",
    )
    alpha: int = setting(0, "Power of the length by which a bias value is divided: 0, 1 or 2.", ge=0, le=2)
    threshold: float | None = setting(None, "Bias value above which a response is tagged bias.", metavar="B")
    quantile: float = setting(0.8, "Threshold as a quantile of the bias values.", gt=0, lt=1)


class GridSettings(Settings):
    """A grid of trainings, and the choice among them."""

    group = "Grid"

    grid: str | None = setting(
        None,
        "Try every combination of a grid's values: zhao-2024, a file, or default, which is the method's own. Without "
        "it one training is made.",
        metavar="NAME|FILE",
    )
    max_perplexity_rise: float = setting(
        5.0,
        "The point with the smallest F on validation sentences is chosen among those whose validation perplexity is at "
        "most so far above that of the model before training; without such a point, the smallest perplexity.",
        metavar="PERCENT",
        ge=0,
    )


class MeasuringSettings(Settings):
    """The measures of the models before and after."""

    group = "Measuring before and after"

    no_measure: bool = setting(False, "Only train.")
    measures: Texts = setting(
        (),
        f"Further measures, separated by commas, besides {listed(AIMS['corpus'])} or, for methods of responses, "
        f"{listed(AIMS['responses'])}; see `holisticbias measures`.",
        metavar="NAMES",
    )


class TrainingSettings(Settings):
    """Settings of a training; the defaults come from Zhao et al. 2024, section 5.1, if the paper states one.

    The loss of a batch is ``lm_weight`` times the mean negative log-likelihood of its tokens, in nats, plus ``weight``
    times the method's auxiliary loss. The learning rate rises for ``warmup`` steps and then falls linearly to 0;
    gradients are clipped to a norm of 1; there is no weight decay. ``criterion`` is what validation watches: the
    ``perplexity``, or the whole ``loss``. With ``patience`` the training stops after so many validations without a
    smaller value, and keeps the state with the smallest; with null or 0 it keeps the last state.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    group = "Training (a method has its own defaults for some; see docs/mitigation.md)"

    epochs: int = setting(6, "Passes over the texts.", ge=1)
    steps: int | None = setting(None, "Optimizer steps, in place of epochs.", ge=1)
    batch: int = setting(8, "Texts per batch.", ge=1)
    accumulation: int = setting(1, "Batches per optimizer step.", ge=1)
    learning_rate: float = setting(5e-5, "Largest learning rate.", gt=0)
    warmup: int = setting(0, "Steps until the full learning rate; it falls linearly.", ge=0)
    optimizer: Literal["adamw", "sgd"] = setting("adamw", "Optimizer.")
    weight: float = setting(1.0, "Weight of the method's auxiliary loss.", ge=0)
    lm_weight: float = setting(1.0, "Weight of the language model's loss.", ge=0)
    patience: Annotated[int | None, BeforeValidator(lambda number: number or None)] = setting(
        3,
        "Validations without improvement after which the training stops and keeps the best state; with 0 it makes all "
        "steps and keeps the last state.",
        ge=0,
    )
    criterion: Literal["perplexity", "loss"] = setting(
        "perplexity", "What has to improve: the validation perplexity, or the whole loss on validation texts."
    )
    evaluations: int = setting(10, "Validations, spread evenly over the training.", ge=1)
    seed: int = setting(0, "Seed of the training, of the split and of responses.", ge=0, lt=2**32)
    lora_rank: int | None = setting(None, "Train LoRA adapters of this rank, and merge them.", ge=1)

    def total_steps(self, texts: int) -> int:
        """The number of optimizer steps for so many texts."""
        per_epoch = -(-texts // self.batch)
        return self.steps or self.epochs * -(-per_epoch // self.accumulation)

    def steps_between_evaluations(self, texts: int) -> int:
        """The number of optimizer steps between two validations; the last step is always validated."""
        return -(-self.total_steps(texts) // self.evaluations)


_TRIED: dict[str, Any] = {
    name: (tuple[Annotated[info.annotation, info.description, *info.metadata], ...], ())  # type: ignore[name-defined]
    for name, info in TrainingSettings.model_fields.items()
}
_Values: Any = create_model("_Values", **_TRIED)


class Grid(_Values):
    """A file of ``evaluation/grids/``: the values to try of each setting, in every combination."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    id: str = Field(min_length=1)
    source: str = Field(min_length=1, description="who uses these values, or how they were found")
    note: str | None = None

    @property
    def values(self) -> Mapping[str, Sequence[Any]]:
        """The settings that have values, with these."""
        return {name: getattr(self, name) for name in _TRIED if getattr(self, name)}


FILES = NamedFiles("grid", "grids", Grid, MitigationError)


def grid_points(grid: Grid | None, given: Values, defaults: Mapping[str, Any]) -> Iterator[TrainingSettings]:
    """The settings of every point of a grid, in order; one point without a grid.

    ``given`` are the user's settings, and ``defaults`` those of the method; the grid's come before the defaults, and
    epochs before a default number of steps. Raises ``EvaluationError`` for a value that is not valid, and for a
    setting that is both given and in the grid.
    """
    values = {} if grid is None else grid.values
    own = {name: given[name] for name in TrainingSettings.model_fields if name in given}
    twice = sorted(set(values) & set(own))
    if grid is not None and twice:
        raise MitigationError(f"--{twice[0].replace('_', '-')} is also in the grid {grid.id}: leave one of them out")
    if "epochs" in own or "epochs" in values:
        defaults = {name: value for name, value in defaults.items() if name != "steps"}
    for combination in product(*values.values()):
        point = {**defaults, **own, **dict(zip(values, combination, strict=True))}
        yield read_settings(TrainingSettings, point)


def varied(points: Sequence[TrainingSettings]) -> list[str]:
    """The settings that differ between points."""
    return [name for name in TrainingSettings.model_fields if len({getattr(point, name) for point in points}) > 1]


Rank = tuple[int, float, float]


def rank(f: float | None, perplexity: float | None, most: float) -> Rank:
    """The rank of a point of a grid: the smallest is chosen.

    Points whose validation perplexity is at most ``most`` come first, by F of their validation log-perplexities over
    groups; then the others by perplexity; then points that have no perplexity, because their training broke off. A
    missing F comes after every F. The p-value of F is not used: it would prefer points whose F is small by chance.
    """
    if perplexity is None:
        return (2, math.inf, math.inf)
    if perplexity <= most:
        return (0, math.inf if f is None else f, perplexity)
    return (1, perplexity, math.inf if f is None else f)
