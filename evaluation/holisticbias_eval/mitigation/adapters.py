"""LoRA adapters, for models whose weights are too many to train."""

from __future__ import annotations

import warnings
from typing import Any

from holisticbias_eval.errors import MitigationError


def add_adapters(model: Any, rank: int | None) -> Any:
    """A model with adapters of this rank on all linear layers, which alone are trained; null leaves it as it is.

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
        reason = " ".join(str(error).split())[:200]
        raise MitigationError(f"the model cannot have adapters: {reason}; leave --lora-rank out") from error


def merge_adapters(model: Any) -> Any:
    """The model itself, with its adapters added to its weights."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
