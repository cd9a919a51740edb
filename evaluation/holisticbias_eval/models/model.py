"""The identity and the kind of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
