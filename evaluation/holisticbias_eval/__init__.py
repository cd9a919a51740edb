"""HolisticBias, the measurements: language models against a release, with honest statistics."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holisticbias.errors import HolisticBiasError
    from holisticbias_eval.api import classify, compare, evaluate, generate, measure, mitigate, open_run
    from holisticbias_eval.errors import EvaluationError, ModelError, RunError, SelectionError, TableError

__all__ = [
    "EvaluationError",
    "HolisticBiasError",
    "ModelError",
    "RunError",
    "SelectionError",
    "TableError",
    "classify",
    "compare",
    "evaluate",
    "generate",
    "measure",
    "mitigate",
    "open_run",
]


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used: commands import this package for each ``--help``."""
    if name in __all__:
        return getattr(import_module("holisticbias_eval." + ("errors" if name.endswith("Error") else "api")), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion in a notebook."""
    return sorted(__all__)
