"""Fine-tune a language model with a classification head, and classify with it."""

import copy
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Tensor
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import seeded
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.models.sequences import padded
from holisticbias_eval.progress import Progress

_LONGEST = 512


@dataclass(frozen=True, slots=True)
class ClassifierSettings:
    """Settings of fine-tuning: how many candidates of each part are drawn, and how the model is trained."""

    train_candidates: int = 20_000
    test_candidates: int = 5_000
    epochs: int = 1
    batch: int = 16
    learning_rate: float = 5e-5
    seed: int = 0

    @property
    def record(self) -> Mapping[str, str]:
        """The settings for a signature."""
        return {f"classifier_{name}": str(value) for name, value in asdict(self).items()}


def classify_after_training(
    loaded: LoadedModel,
    train: tuple[Sequence[str], Sequence[int]],
    test: Sequence[str],
    settings: ClassifierSettings,
    progress: Progress,
) -> Floats:
    """Fine-tune a copy of the model on texts with labels 0 and 1, and return the probability of 1 for each test text.

    All weights are trained, with a new head of ``AutoModelForSequenceClassification``; the seed decides the head and
    the order of the texts. ``progress`` counts training texts, then test texts. Raises ``ModelError`` if transformers
    has no such head for the model, or if the loss is not finite.
    """
    import torch

    with seeded(settings.seed):
        model = classification_model(loaded)
        limit = min(_LONGEST, context_length(model))
        read = [_encode(loaded.tokenizer, texts, limit) for texts in (train[0], test)]
        pad = _padding(loaded.tokenizer, model, read)
        model.config.pad_token_id = pad
        device = next(loaded.model.parameters()).device
        rows = [{"input_ids": ids, "labels": label} for ids, label in zip(read[0], train[1], strict=True)]
        _train(model, rows, pad, settings, device, progress)
        with torch.inference_mode():
            return _classify(model.eval().to(device), read[1], pad, settings.batch, progress)


def classification_model(loaded: LoadedModel) -> Any:
    """A copy of the model's body with a new head for two classes."""
    import transformers

    config = copy.deepcopy(loaded.model.config)
    config.num_labels = 2
    try:
        model = transformers.AutoModelForSequenceClassification.from_config(config, dtype=loaded.model.dtype)
    except (ValueError, ImportError) as error:
        raise ModelError(f"{loaded.identity.name}: transformers has no classification head for this model") from error
    missing, _ = model.base_model.load_state_dict(loaded.model.base_model.state_dict(), strict=False)
    lacking = [name for name in missing if "pooler" not in name]
    if lacking:
        raise ModelError(f"{loaded.identity.name}: its body lacks {lacking[0]}, so it cannot be fine-tuned to classify")
    return model


def _encode(tokenizer: Any, texts: Sequence[str], limit: int) -> list[list[int]]:
    """Token ids with the tokenizer's special tokens; the beginning of a long text is left out."""
    tokenizer = copy.deepcopy(tokenizer)
    tokenizer.truncation_side = "left"
    found: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=limit)["input_ids"]
    return found


def _padding(tokenizer: Any, model: Any, read: Sequence[Sequence[Sequence[int]]]) -> int:
    """The tokenizer's token to pad with, or a token of no text: the head reads the last token that is another."""
    if tokenizer.pad_token_id is not None:
        return int(tokenizer.pad_token_id)
    used = {token for texts in read for text in texts for token in text}
    size = model.get_input_embeddings().num_embeddings
    free = next((token for token in range(size - 1, -1, -1) if token not in used), None)
    if free is None:
        raise ModelError("the tokenizer has no padding token, and the texts use every other token: add one to it")
    return free


def _batch(rows: Sequence[Sequence[int]], pad: int) -> dict[str, Tensor]:
    import torch

    ids, mask = padded(rows, pad)
    return {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}


def _train(
    model: Any,
    rows: Sequence[Mapping[str, Any]],
    pad: int,
    settings: ClassifierSettings,
    device: Any,
    progress: Progress,
) -> None:
    import torch
    from transformers import PrinterCallback, Trainer, TrainerCallback, TrainingArguments

    def collate(rows: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        return {
            **_batch([row["input_ids"] for row in rows], pad),
            "labels": torch.tensor([row["labels"] for row in rows]),
        }

    class Counted(TrainerCallback):  # type: ignore[misc] # transformers has no types
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            progress(settings.batch)

        def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:
            if not np.isfinite((given.get("logs") or {}).get("loss", 0.0)):
                raise ModelError("the loss of fine-tuning is not finite: the model's weights are too large or damaged")

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder, num_train_epochs=settings.epochs, per_device_train_batch_size=settings.batch,
            learning_rate=settings.learning_rate, seed=settings.seed, save_strategy="no", logging_steps=50,
            logging_nan_inf_filter=False, report_to=[], disable_tqdm=True, use_cpu=device.type == "cpu",
            remove_unused_columns=False,
        )  # fmt: skip
        trainer = Trainer(model, arguments, data_collator=collate, train_dataset=rows, callbacks=[Counted()])
        trainer.remove_callback(PrinterCallback)
        trainer.train()


def _classify(model: Any, texts: Sequence[list[int]], pad: int, size: int, progress: Progress) -> Floats:
    """The probability of label 1: shape ``[texts]``. Texts of about one length are read together."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    found = np.full(len(texts), np.nan)
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        batch = _batch([texts[i] for i in rows], pad)
        logits = model(**{name: values.to(model.device) for name, values in batch.items()}).logits
        found[rows] = logits.float().softmax(dim=-1)[:, 1].cpu().numpy()
        progress(len(rows))
    return found
