"""Train a causal model on texts with a method's auxiliary loss."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.method import COMPARED, AuxiliaryLoss
from holisticbias_eval.mitigation.settings import TrainingSettings, Validation
from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.memory import MEMORY_MESSAGES
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.progress import Display

if TYPE_CHECKING:
    from holisticbias_eval.mitigation.encoding import Collator, EncodedTexts
    from holisticbias_eval.mitigation.loop import Loop
    from holisticbias_eval.mitigation.validation import Likelihoods


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model in evaluation mode, with any adapters merged, and how it came about.

    ``kept`` is the step whose state it is; ``steps`` were made of ``planned``, ``resumed`` of them in an earlier
    process. ``cut`` texts were longer than the model reads and ``empty`` had nothing to learn. ``counts`` are those of
    the auxiliary loss on the texts, each read once.
    """

    model: Any
    validations: Sequence[Validation]
    kept: int
    steps: int
    planned: int
    resumed: int
    texts: int
    cut: int
    empty: int
    counts: Mapping[str, int]

    @property
    def validation(self) -> Validation:
        """The validation of the state that was kept."""
        return next(one for one in self.validations if one.step == self.kept)


def train(
    loaded: LoadedModel,
    texts: pa.Table,
    auxiliary: AuxiliaryLoss | None,
    validation: pa.Table,
    settings: TrainingSettings,
    folder: Path,
    display: Display,
    first_token: str = AUTO,
) -> Trained:
    """Train a model in place; tables have ``text`` to learn and ``context`` before it, which may be absent or null.

    ``folder`` keeps checkpoints: a training that was interrupted continues from the newest one, and ends with the
    same weights as if it had not been. Equal seeds give equal weights on the same machine and number of threads.
    ``first_token`` is what precedes each text. Raises ``MitigationError``, and ``OSError`` if a checkpoint cannot be
    written.
    """
    with _quiet(), display.step("Preparing the texts"):
        from transformers import set_seed

        from holisticbias_eval.mitigation.adapters import add_adapters
        from holisticbias_eval.mitigation.checkpoints import newest_checkpoint
        from holisticbias_eval.mitigation.encoding import Collator, Encoder
        from holisticbias_eval.mitigation.loop import Loop

        encoder = Encoder(loaded.tokenizer, context_length(loaded.model), first_token)
        learned, validated = encoder.encode(texts), encoder.encode(validation)
        _check(learned, validated, display)
        set_seed(settings.seed)
        model = add_adapters(loaded.model, settings.lora_rank)
        folder.mkdir(parents=True, exist_ok=True)
        start = newest_checkpoint(folder)
        collator = Collator(loaded.tokenizer, auxiliary)
        counts = _count(auxiliary, collator, learned, settings, display)
        loop = Loop(model, learned.texts, validated.texts, collator, auxiliary, settings, folder)
    with _quiet(), _one_line_for_memory(), _deterministic():
        first = loop.validate()
        with display.progress("Training", loop.args.max_steps, "steps", lambda: loop.latest) as loop.advance:
            loop.train(resume_from_checkpoint=str(start) if start else False)
    return _trained(loop, first, learned, counts)


def _check(learned: EncodedTexts, validated: EncodedTexts, display: Display) -> None:
    if not learned.texts:
        raise MitigationError("there is no text to train on")
    if not validated.texts:
        raise MitigationError("there is no text to validate on: the corpus needs a validation part")
    if learned.cut:
        display.notice(f"{learned.cut:,} texts are longer than the model reads and are cut")
    if learned.empty:
        display.notice(f"{learned.empty:,} texts have no token to learn and are left out")


def _count(
    auxiliary: AuxiliaryLoss | None,
    collator: Collator,
    learned: EncodedTexts,
    settings: TrainingSettings,
    display: Display,
) -> Mapping[str, int]:
    """Count what the auxiliary loss compares in the texts; raises ``MitigationError`` if that is nothing."""
    if auxiliary is None or not settings.weight:
        return {}
    for start in range(0, len(learned.texts), settings.batch):
        collator(learned.texts[start : start + settings.batch])
    counts = dict(auxiliary.counts)
    skipped = ", ".join(f"{reason} ({count:,})" for reason, count in counts.items() if reason != COMPARED and count)
    if not counts.get(COMPARED, 1):
        raise MitigationError(
            f"the method's loss has nothing to compare in the {len(learned.texts):,} texts: "
            f"{skipped or 'no text has what it needs'}"
        )
    if skipped:
        display.notice(f"The method's loss compares {counts[COMPARED]:,} mentions; left out: {skipped}")
    return counts


def _trained(loop: Loop, first: Likelihoods, learned: EncodedTexts, counts: Mapping[str, int]) -> Trained:
    from holisticbias_eval.mitigation.adapters import merge_adapters

    state = loop.state
    found = [Validation(0, first.perplexity, first.auxiliary, loop.total(first)), *loop.validations]
    return Trained(
        model=merge_adapters(loop.accelerator.unwrap_model(loop.model)).eval(),
        validations=found,
        kept=found[-1].step if loop.settings.patience is None else state.best_global_step,
        steps=state.global_step,
        planned=state.max_steps,
        resumed=loop.resumed,
        texts=len(learned.texts),
        cut=learned.cut,
        empty=learned.empty,
        counts=counts,
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the messages, bars and warnings of transformers, accelerate and torch: the display says what is done."""
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.getLogger("accelerate").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _deterministic() -> Iterator[None]:
    """With torch's deterministic algorithms, where there is one for an operation."""
    import torch

    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warned)


@contextmanager
def _one_line_for_memory() -> Iterator[None]:
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not any(sign in str(error).lower() for sign in MEMORY_MESSAGES):
            raise
        raise MitigationError(
            "out of memory: use a smaller --batch with more --accumulation, or train few weights with --lora-rank"
        ) from error
