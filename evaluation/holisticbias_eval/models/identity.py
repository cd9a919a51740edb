"""Which model was run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """Which model was scored: enough to know it again.

    A model behind a server shows neither its weights nor their number: both are then missing.
    ``quantization`` and ``file_sha256`` are of the file of quantized weights, if they were read from one.
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
