"""The settings of a training, and what its validations find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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


@dataclass(frozen=True, slots=True)
class Validation:
    """The validation texts after ``step`` optimizer steps: their perplexity, and means of the auxiliary and whole loss.

    Step 0 is the model before training.
    """

    step: int
    perplexity: float
    auxiliary: float
    loss: float
