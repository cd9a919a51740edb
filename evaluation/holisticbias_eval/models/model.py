"""The identity and the kind of a model, and what all models have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["causal", "masked", "seq2seq"]


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Everything that identifies a model.

    ``weights_sha256`` and ``parameters`` are missing for a model behind a server.
    ``quantization`` and ``file_sha256`` describe a file of quantized weights; missing for other weights.
    """

    name: str
    architecture: str
    revision: str | None
    weights_sha256: str | None
    parameters: int | None
    dtype: str
    note: str | None = None
    quantization: str | None = None
    file_sha256: str | None = None

    def __str__(self) -> str:
        return f"{self.name} ({self.architecture})"


def server_identity(name: str, base: str) -> ModelIdentity:
    """The identity of a model behind a server, of which only the name and the address are known."""
    return ModelIdentity(name, "behind a server", None, None, None, "unknown", f"asked at {base}")


class Model(Protocol):
    """A model that answers; what it can do is which methods it has.

    With ``score`` it is a ``Scorer``, with ``generate`` a ``Generator``. ``settings`` is everything that its answers
    depend on besides ``identity``: they are recorded in the run and are part of the store's key. ``kept`` says how
    many answers its store holds, in words; null without a store.
    """

    identity: ModelIdentity
    kind: Kind
    settings: Mapping[str, str]
    kept: str | None
