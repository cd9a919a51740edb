"""The training loop: transformers' Trainer with the loss of a method, our validation and our checkpoints."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR

from holisticbias_eval.errors import BrokenTrainingError, MitigationError
from holisticbias_eval.mitigation.encoding import Collator, EncodedText
from holisticbias_eval.mitigation.record import Point, ValidationRecord
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.mitigation.training import full_disk_is_an_os_error, newest_checkpoint, record_checkpoint
from holisticbias_eval.mitigation.validation import measure_likelihoods, read, sum_labels
from holisticbias_eval.progress import Progress

_OPTIMIZERS = {"adamw": "adamw_torch", "sgd": "sgd"}
_MEASURED = ("perplexity", "auxiliary", "loss")


class Loop(transformers.Trainer):  # type: ignore[misc] # transformers has no types
    """Trains on ``lm_weight`` times the loss of the labels, plus ``weight`` times the auxiliary loss.

    Validation measures both. Raises ``BrokenTrainingError`` when a loss is not a finite number.
    """

    loss_is_scaled_for_ga = False  # a batch's loss is its mean: batches of a step count alike

    def __init__(
        self,
        model: Any,
        texts: Sequence[EncodedText],
        validation: Sequence[EncodedText],
        collator: Collator,
        settings: TrainingSettings,
        folder: Path,
    ) -> None:
        self.advance: Progress = lambda _: None
        self.settings, self._validation, self._collator = settings, validation, collator
        super().__init__(
            model=model,
            args=_arguments(settings, len(texts), folder, model),
            data_collator=collator,
            train_dataset=list(texts),
            eval_dataset=list(validation),
            callbacks=[_Steps(self)],
        )
        if settings.patience is not None:
            self.add_callback(transformers.EarlyStoppingCallback(settings.patience))
        self.remove_callback(transformers.PrinterCallback)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> torch.Tensor:
        """The loss of a batch, with a gradient."""
        logits = read(model, inputs)
        sums, counts = sum_labels(logits, inputs["labels"])
        loss = self.settings.lm_weight * sums.sum() / counts.sum()
        if self._collator.auxiliary is not None and self.settings.weight:
            added = self._collator.auxiliary.loss(self.unwrapped, logits, inputs["prepared"])
            if not added.requires_grad:
                raise MitigationError(
                    "the method's loss does not depend on the weights that are trained: leave --lora-rank out"
                )
            loss = loss + self.settings.weight * added
        if not torch.isfinite(loss):
            raise self._not_a_number("the loss", self.state.global_step + 1)
        return loss

    @property
    def unwrapped(self) -> Any:
        """The language model itself, also if adapters are around it."""
        model = self.accelerator.unwrap_model(self.model)
        return model.get_base_model() if hasattr(model, "get_base_model") else model

    def validate(self, step: int) -> ValidationRecord:
        """Measure the validation texts after a step."""
        batch = self.args.per_device_eval_batch_size
        found = measure_likelihoods(self.unwrapped, self._validation, self._collator, batch)
        loss = self.settings.lm_weight * found.mean + self.settings.weight * found.auxiliary
        return ValidationRecord(step=step, perplexity=found.perplexity, auxiliary=found.auxiliary, loss=loss)

    @property
    def validations(self) -> Sequence[ValidationRecord]:
        """The validations after a step, in order; those before an interruption included."""
        return [
            ValidationRecord(step=logged["step"], **{name: logged[f"eval_{name}"] for name in _MEASURED})
            for logged in self.state.log_history
            if "eval_loss" in logged
        ]

    def _run_epoch(self, *args: Any, **options: Any) -> None:
        """Train an epoch, unless the checkpoint is the end of the training: transformers would make one more step."""
        if self.state.global_step < self.state.max_steps:
            super()._run_epoch(*args, **options)

    def point(self, before: ValidationRecord) -> Point:
        """The training so far as a point of the record; ``before`` is the validation of the model before training."""
        validations = (before, *self.validations)
        kept = validations[-1].step if self.settings.patience is None else self.state.best_global_step
        return Point(
            settings=self.settings,
            perplexity=next(found.perplexity for found in validations if found.step == kept),
            kept=kept,
            steps=self.state.global_step,
            planned=self.state.max_steps,
            validations=validations,
        )

    @property
    def latest(self) -> str:
        """The perplexity of the last validation, in words."""
        found = self.validations
        return f"validation perplexity {found[-1].perplexity:.4g}" if found else "not validated yet"

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Validate at the end of a step, record the figures, and let the callbacks see them."""
        found = self.validate(self.state.global_step)
        if not math.isfinite(found.perplexity) or not math.isfinite(found.loss):
            raise self._not_a_number("the validation loss", self.state.global_step)
        metrics = {f"eval_{name}": getattr(found, name) for name in _MEASURED}
        self.log(metrics)
        self.control: Any = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        folder = Path(self.args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{self.state.global_step}"
        with full_disk_is_an_os_error(folder):
            super()._save_checkpoint(model, trial)
            record_checkpoint(folder)

    def _not_a_number(self, what: str, step: int) -> BrokenTrainingError:
        kept = newest_checkpoint(Path(self.args.output_dir))
        where = f"; the last good state is kept in {kept}" if kept else ""
        return BrokenTrainingError(
            f"{what} is not a finite number at step {step}: lower the learning rate "
            f"({self.settings.learning_rate:g}) or the weight ({self.settings.weight:g}){where}"
        )


class _Steps(transformers.TrainerCallback):  # type: ignore[misc] # transformers has no types
    """Counts steps, and validates and saves after the last one."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._loop.advance(state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._loop.advance(1)
        if state.global_step >= state.max_steps:
            control.should_evaluate = control.should_save = True


def _arguments(settings: TrainingSettings, texts: int, folder: Path, model: Any) -> Any:
    every = settings.steps_between_evaluations(texts)
    arguments = transformers.TrainingArguments(
        output_dir=str(folder),
        per_device_train_batch_size=settings.batch,
        per_device_eval_batch_size=max(8, settings.batch),
        gradient_accumulation_steps=settings.accumulation,
        max_steps=settings.total_steps(texts),
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,
        optim=_OPTIMIZERS[settings.optimizer],
        weight_decay=0.0,
        seed=settings.seed,
        data_seed=settings.seed,
        use_cpu=next(model.parameters()).device.type == "cpu",
        use_cache=bool(getattr(model.config, "use_cache", False)),  # otherwise the saved model generates without one
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=1,
        logging_strategy="no",
        metric_for_best_model=f"eval_{settings.criterion}",
        greater_is_better=False,
        load_best_model_at_end=settings.patience is not None,
        restore_callback_states_from_checkpoint=True,
        remove_unused_columns=False,
        disable_tqdm=True,
        report_to=[],
        dataloader_pin_memory=False,
    )
    arguments._n_gpu = min(arguments.n_gpu, 1)  # one process, one device
    return arguments
