"""The base class of mitigation methods: what a model is trained on, and what is added to its loss."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from holisticbias.terms.specification_entries import Specification
from holisticbias_eval.arrays import Tensor
from holisticbias_eval.mitigation.settings import (
    GridSettings,
    GroupSettings,
    MeasuringSettings,
    Needs,
    TrainingSettings,
)
from holisticbias_eval.models.settings import ModelSettings
from holisticbias_eval.settings import Condition, ReleaseName, Use, is_one_of
from holisticbias_eval.tasks.lines import RetainSettings
from holisticbias_eval.tasks.results import CommandSettings

COMPARED = "compared"
"""The count of what an auxiliary loss compares; its other counts are reasons to leave something out."""

MEASURED = Condition("without --no-measure", is_one_of("no_measure", False, default=False))
_FURTHER = Condition("with --measures", lambda values: bool(values.get("measures")))
_SCORED = Condition("with --measures or --retain", lambda values: bool(values.get("measures") or values.get("retain")))
_PASSES = Condition("without --steps", is_one_of("steps", None))
_GRID = Condition("with --grid", lambda values: values.get("grid") is not None)
_SOMETIMES = ("epochs", "weight")
TRAINED: tuple[Use, ...] = (
    Use(TrainingSettings, fields=tuple(name for name in TrainingSettings.model_fields if name not in _SOMETIMES)),
    Use(TrainingSettings, (_PASSES,), ("epochs",)),
    Use(GridSettings, fields=("grid",)),
    Use(GridSettings, (_GRID,), ("max_perplexity_rise",)),
    Use(MeasuringSettings, fields=("no_measure",)),
    Use(MeasuringSettings, (MEASURED,), ("measures",)),
    Use(RetainSettings, (MEASURED,)),
    Use(CommandSettings, (MEASURED,)),
    Use(ReleaseName, (_FURTHER, MEASURED)),
    Use(ModelSettings, fields=("device",)),
    Use(ModelSettings, (_SCORED, MEASURED), ("first_token",)),
)
"""The settings of every method."""
FROM_SENTENCES = (Use(GroupSettings), Use(ModelSettings, fields=("first_token",)), *TRAINED)
"""The settings of methods that train on sentences about groups."""


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """The name of a method, its title on the page, the paper it is from, and what it learns from."""

    name: str
    title: str
    source: str
    needs: Needs = "corpus"


@dataclass(frozen=True, slots=True)
class GroupTask:
    """A specification to mitigate, and the names of its groups that take part in the training."""

    specification: Specification
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """A batch of texts as tokens, padded at the end.

    ``texts`` are whole: the context and the text to learn. ``input_ids`` and ``attention_mask``: ``[texts, tokens]``;
    ``offsets``: ``[texts, tokens, 2]``, the characters of each token, empty for padding and special tokens. The model
    can read ``window`` tokens.
    """

    texts: Sequence[str]
    input_ids: Tensor
    attention_mask: Tensor
    offsets: Tensor
    window: int


class AuxiliaryLoss(ABC):
    """A loss that is added to the language model's own."""

    @abstractmethod
    def prepare(self, batch: TokenBatch) -> Mapping[str, Tensor]:
        """The index tensors that ``loss`` needs besides the logits: on the processor, the first axis of any length."""

    @abstractmethod
    def loss(self, model: Any, logits: Tensor, prepared: Mapping[str, Tensor]) -> Tensor:
        """A scalar; 0, with a gradient, if the batch has nothing to compare.

        ``logits``, ``[texts, tokens, words]``, and ``prepared`` are on one device.
        """

    @property
    def counts(self) -> Mapping[str, int]:
        """How many mentions the batches prepared so far had: ``COMPARED``, and left out by reason; empty if unknown."""
        return {}


class Method(ABC):
    """A mitigation method: a subclass in one file of ``methods/``, and one line in ``METHODS``."""

    info: ClassVar[MethodInfo]
    control: ClassVar[str] = ""
    """The text at the end of the context when the trained model generates; empty if there is none."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """The values of ``TrainingSettings`` that differ for this method unless the user gives them."""
    uses: ClassVar[tuple[Use, ...]] = FROM_SENTENCES
    """The settings that have an effect with this method."""

    def auxiliary_loss(self, task: GroupTask, tokenizer: Any) -> AuxiliaryLoss | None:
        """The loss to add for a tokenizer; None if the texts alone change the model."""
        return None


class CorpusMethod(Method):
    """A method that trains on sentences of a corpus."""

    @abstractmethod
    def training_texts(self, examples: pa.Table, task: GroupTask) -> tuple[pa.Table, Mapping[str, int]]:
        """The texts to train on, and their counts: ``text``, and ``context``, what is read before it and not learned.

        ``examples`` are the rows of a corpus's training part.
        """


class LossMethod(CorpusMethod):
    """A method of sentences that adds a loss, whose weight is a setting."""

    uses = (*FROM_SENTENCES, Use(TrainingSettings, fields=("weight",)))

    @abstractmethod
    def auxiliary_loss(self, task: GroupTask, tokenizer: Any) -> AuxiliaryLoss:
        """The loss to add for a tokenizer."""
