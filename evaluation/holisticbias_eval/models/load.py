"""The scorer of a model by its name and the options of a run."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from holisticbias_eval.embedded import EMBEDDED_MODEL, NOTE, embedded_model_path
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.causal import CausalScorer
from holisticbias_eval.models.loading import LoadedModel, load_model
from holisticbias_eval.scoring import Notice, Scorer

DTYPES = ("float32", "bfloat16")


def default_store() -> Path:
    """``$HOLISTICBIAS_CACHE`` or ``~/.cache/holisticbias``, and in it ``scores``."""
    return Path(os.environ.get("HOLISTICBIAS_CACHE") or "~/.cache/holisticbias").expanduser() / "scores"


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """How a model is scored; what does not change the values may differ between runs that share a store."""

    dtype: str = "float32"
    device: str = "auto"


def load_scorer(name: str | None, notice: Notice, options: ScoringOptions | None = None) -> Scorer:
    """The scorer of a language model: a folder, a Hub repository, or the embedded model if none is named.

    Raises ``ModelError`` for a model that cannot be loaded.
    """
    options = options or ScoringOptions()
    loaded = _load(name, "AutoModelForCausalLM")
    return CausalScorer(_on_device(loaded, options.device), notice, dtype=options.dtype)


def _load(name: str | None, auto_class: str) -> LoadedModel:
    if name is None or name == EMBEDDED_MODEL:
        loaded = load_model(str(embedded_model_path()), auto_class, NOTE)
        return replace(loaded, identity=replace(loaded.identity, name=EMBEDDED_MODEL))
    return load_model(name, auto_class)


def _on_device(loaded: LoadedModel, device: str) -> LoadedModel:
    import torch

    chosen = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        return replace(loaded, model=loaded.model.to(chosen))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"the model cannot go to the device {chosen!r}: {str(error).splitlines()[0]}") from error
