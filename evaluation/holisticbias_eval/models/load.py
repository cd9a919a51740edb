"""The scorer of a model by its name."""

from __future__ import annotations

from dataclasses import replace

from holisticbias_eval.embedded import EMBEDDED_MODEL, NOTE, embedded_model_path
from holisticbias_eval.models.causal import CausalScorer
from holisticbias_eval.models.loading import load_model
from holisticbias_eval.scoring import Notice, Scorer


def load_scorer(name: str | None, notice: Notice) -> Scorer:
    """The scorer of a language model: a folder, a Hub repository, or the embedded model if none is named."""
    if name is None or name == EMBEDDED_MODEL:
        loaded = load_model(str(embedded_model_path()), "AutoModelForCausalLM", NOTE)
        return CausalScorer(replace(loaded, identity=replace(loaded.identity, name=EMBEDDED_MODEL)), notice)
    return CausalScorer(load_model(name, "AutoModelForCausalLM"), notice)
