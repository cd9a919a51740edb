"""The embedded model: a small language model with known, planted biases, to try the measures on."""

from __future__ import annotations

from pathlib import Path

MODEL = Path(__file__).with_name("model")


def embedded_model_path() -> Path:
    """The folder of the shipped model, which ``AutoModelForCausalLM`` and ``AutoTokenizer`` load offline."""
    return MODEL
