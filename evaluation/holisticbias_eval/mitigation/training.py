"""Train a causal model on texts with a method's auxiliary loss, from the newest checkpoint on."""

import errno
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from holisticbias.errors import in_one_line
from holisticbias.inputs import file_sha256
from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.encoding import Collator, EncodedTexts, Encoder
from holisticbias_eval.mitigation.method import COMPARED, AuxiliaryLoss, Method
from holisticbias_eval.mitigation.record import Point, SpecificationSignature
from holisticbias_eval.mitigation.settings import TrainingSettings
from holisticbias_eval.models.likelihood.opening import AUTO
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import is_out_of_memory, seeded
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.progress import Display

_DIGESTS = "digests.json"
_NAME = re.compile(r"checkpoint-(\d+)")
_FULL = (
    "No space left", "os error 28", "disk quota", "os error 122", "File too large", "os error 27",
    "PytorchStreamWriter", "inline_container",
)  # fmt: skip


@dataclass(frozen=True)
class Lesson:
    """Texts that a method trains a model on.

    ``texts`` and ``validation`` have the columns ``text`` and ``context``, which may be absent. ``by_group`` are
    validation texts with their ``group``, each sentence once for each group; null if F is not measured. ``auxiliary``
    makes the loss to add. ``name``, ``counts`` and ``given`` describe it in the record. ``opening`` is what precedes
    each text, see ``Encoder``.
    """

    method: Method
    name: str
    texts: pa.Table
    validation: pa.Table
    by_group: pa.Table | None = None
    auxiliary: Callable[[], AuxiliaryLoss | None] = lambda: None
    specification: SpecificationSignature | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict)
    opening: str | Sequence[int] = AUTO


@dataclass(frozen=True, slots=True)
class Trained:
    """A trained model in evaluation mode, with any adapters merged, and its point of the record."""

    model: Any
    point: Point


def train(loaded: LoadedModel, lesson: Lesson, settings: TrainingSettings, folder: Path, display: Display) -> Trained:
    """Train a model in place on the texts of a lesson.

    ``folder`` keeps checkpoints: a training that was interrupted continues from the newest one, and ends with the
    same weights as if it had not been. Equal seeds give equal weights on the same machine and number of threads.
    Raises ``MitigationError``, and ``OSError`` if a checkpoint cannot be written.
    """
    with seeded(settings.seed):
        with _quiet(), display.step("Preparing the texts"):
            from holisticbias_eval.mitigation.loop import Loop

            window = context_length(loaded.model)
            encoder = Encoder(loaded.tokenizer, window, lesson.opening)
            learned, validated = encoder.encode(lesson.texts), encoder.encode(lesson.validation)
            _check(learned, validated, settings, display)
            model = _with_adapters(loaded.model, settings.lora_rank)
            folder.mkdir(parents=True, exist_ok=True)
            start = newest_checkpoint(folder)
            collator = Collator(loaded.tokenizer, lesson.auxiliary(), window)
            counts = _count(collator, learned, settings, display)
            loop = Loop(model, learned.texts, validated.texts, collator, settings, folder)
        with _training():
            first = loop.validate(0)
            with display.progress("Training", loop.args.max_steps, "steps", lambda: loop.latest) as loop.advance:
                loop.train(resume_from_checkpoint=str(start) if start else False)
        point = loop.point(first).model_copy(update={"cut": learned.cut, "counts": dict(counts)})
        model = loop.accelerator.unwrap_model(loop.model)
        model = model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
        return Trained(model.eval(), point)


def _check(learned: EncodedTexts, validated: EncodedTexts, settings: TrainingSettings, display: Display) -> None:
    if not learned.texts:
        raise MitigationError("there is no text to train on")
    if not validated.texts:
        raise MitigationError("there is no text to validate on: the corpus needs a validation part")
    if learned.cut:
        display.notice(f"{learned.cut:,} texts are longer than the model reads and are cut")
    if learned.empty:
        display.notice(f"{learned.empty:,} texts have no token to learn and are left out")
    steps = settings.total_steps(len(learned.texts))
    if settings.warmup >= steps:
        reached = settings.learning_rate * (steps - 1) / settings.warmup
        display.notice(
            f"The learning rate rises for {settings.warmup:,} steps, and the training has {steps:,}: it reaches "
            f"{reached:.2g} of {settings.learning_rate:g}; set --warmup lower"
        )


def _count(
    collator: Collator, learned: EncodedTexts, settings: TrainingSettings, display: Display
) -> Mapping[str, int]:
    """Count what the auxiliary loss compares in the texts; raises ``MitigationError`` if that is nothing."""
    if collator.auxiliary is None or not settings.weight:
        return {}
    for start in range(0, len(learned.texts), settings.batch):
        collator(learned.texts[start : start + settings.batch])
    counts = dict(collator.auxiliary.counts)
    skipped = ", ".join(f"{reason} ({count:,})" for reason, count in counts.items() if reason != COMPARED and count)
    if not counts.get(COMPARED, 1):
        raise MitigationError(
            f"the method's loss has nothing to compare in the {len(learned.texts):,} texts: "
            f"{skipped or 'no text has what it needs'}"
        )
    if skipped:
        display.notice(f"The method's loss compares {counts[COMPARED]:,} mentions; left out: {skipped}")
    return counts


def _with_adapters(model: Any, rank: int | None) -> Any:
    """Add LoRA adapters of this rank to all linear layers, which alone are trained; null leaves the model as it is.

    The scale is 2: ``alpha`` is twice the rank. Raises ``MitigationError`` if peft is missing or knows no layer of it.
    """
    if rank is None:
        return model
    try:
        import peft
    except ImportError as error:
        raise MitigationError("--lora-rank needs one more package: pip install 'holisticbias[mitigation]'") from error
    config = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it notices itself how Conv1D keeps its weights
            return peft.get_peft_model(model, config)
    except ValueError as error:
        raise MitigationError(f"the model cannot have adapters: {in_one_line(error)}; leave --lora-rank out") from error


def record_checkpoint(folder: Path) -> None:
    """Write the digests of a checkpoint's files, when all of them are written."""
    digests = {path.name: file_sha256(path) for path in sorted(folder.iterdir()) if path.is_file()}
    (folder / _DIGESTS).write_text(json.dumps(digests), "utf-8")


def newest_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint of a folder; removes incomplete or changed ones.

    An optimizer's state is a pickled file: it is read with torch's ``weights_only``, and only if its digest is the
    one recorded when it was written.
    """
    paths = [path for path in folder.glob("checkpoint-*") if _NAME.fullmatch(path.name) and path.is_dir()]
    whole = []
    for path in paths:
        if _is_whole(path):
            whole.append(path)
        else:
            shutil.rmtree(path)
    return max(whole, key=lambda path: int(path.name.rpartition("-")[2]), default=None)


def _is_whole(checkpoint: Path) -> bool:
    try:
        digests = json.loads((checkpoint / _DIGESTS).read_text("utf-8"))
        return all(file_sha256(checkpoint / name) == digest for name, digest in digests.items())
    except (OSError, ValueError, AttributeError):
        return False


@contextmanager
def full_disk_is_an_os_error(unfinished: Path) -> Iterator[None]:
    """Remove the unfinished folder after an error of writing, and raise it as ``OSError``.

    safetensors and torch do not raise ``OSError`` when a disk is full; torch fails again while it closes the file.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and not any(sign in str(error) for sign in _FULL):
            raise
        shutil.rmtree(unfinished, ignore_errors=True)
        if isinstance(error, OSError):
            raise
        first = error.__context__ if isinstance(error.__context__, OSError) else None
        raise OSError(errno.ENOSPC, (first and first.strerror) or "No space left on device") from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of accelerate and torch: the display says what is done."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _training() -> Iterator[None]:
    """Quietly, with torch's deterministic algorithms where there is one; running out of memory is one line."""
    import torch

    before, warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        with _quiet():
            yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise MitigationError(
            "out of memory: use a smaller --batch with more --accumulation, or train few weights with --lora-rank"
        ) from error
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warned)
