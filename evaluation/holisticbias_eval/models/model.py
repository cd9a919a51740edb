"""The identity and the kind of a model, and what all models have."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self

import pyarrow as pa
from pydantic import Field

from holisticbias_eval.arrays import Floats
from holisticbias_eval.figures import Part
from holisticbias_eval.progress import Progress

Kind = Literal["causal", "masked", "seq2seq"]


class ModelSignature(Part):
    """The model that was scored."""

    name: str
    architecture: str
    revision: str | None
    weights_sha256: str | None
    parameters: int | None
    dtype: str
    note: str | None = None
    quantization: str | None = Field(
        default=None, description="the types of a GGUF file's tensors, the commonest first"
    )
    file_sha256: str | None = Field(
        default=None, description="digest of that file, or of the file of weights of a model that is not loaded"
    )

    @property
    def content(self) -> object:
        """The digest of the weights, or else the name and the revision: what says that a model is the same."""
        return self.weights_sha256 or (self.name, self.revision)

    @classmethod
    def unknown(cls, name: str, architecture: str, note: str | None = None) -> Self:
        """A model whose weights this process cannot read, such as that of a server."""
        return cls(
            name=name,
            architecture=architecture,
            revision=None,
            weights_sha256=None,
            parameters=None,
            dtype="unknown",
            note=note,
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.architecture})"


def server_identity(name: str, base: str) -> ModelSignature:
    """The identity of a model behind a server, of which only the name and the address are known."""
    return ModelSignature.unknown(name, "behind a server", f"asked at {base}")


@dataclass(frozen=True, slots=True)
class GivenModel:
    """A model that is not an engine: a task asks it in its own way, or its answers are given in a file.

    ``content`` is what the task asks, such as weights to train or a folder; None if only answers are known.
    """

    identity: ModelSignature
    settings: Mapping[str, str] = field(default_factory=dict)
    kind: str = ""
    content: Any = None
    kept: None = None


class Model:
    """A model that answers: what it can do is which methods it has.

    ``identity`` is the model, ``kind`` its kind, and ``settings`` everything else that its answers depend on: they are
    recorded in the run and are part of the store's key.
    """

    kept: str | None = None
    """The number of answers that its store holds, in words; empty if there are none, and null without a store."""

    def __init__(self, identity: ModelSignature, kind: Kind, settings: Mapping[str, str]) -> None:
        self.identity = identity
        self.kind = kind
        self.settings = settings


class PairScorer(Model, ABC):
    """Gives two scores to each of some rows of texts, which are stored by these texts.

    ``keys`` are the columns of the texts, and ``block`` is the number of rows that are stored together.
    """

    keys: ClassVar[tuple[str, ...]]
    block: ClassVar[int]

    @abstractmethod
    def score(self, texts: pa.Table, progress: Progress) -> Floats:
        """Score rows of texts: shape ``[rows, 2]``."""
