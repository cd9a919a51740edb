"""Find the kind of a model, and load it on a device."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED, Shipped
from holisticbias_eval.models.loading import LoadedModel, load_config, load_model

Kind = Literal["causal", "masked", "seq2seq"]
AUTO_CLASSES: dict[Kind, str] = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}


def find_kind(name: str | None) -> Kind:
    """The kind of a model according to its configuration; causal by default."""
    if name is None or name in SHIPPED:
        return "causal"
    config = load_config(name)
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return "masked"
    return "seq2seq" if getattr(config, "is_encoder_decoder", False) else "causal"


def load_kind(name: str | None, kind: Kind, device: str) -> LoadedModel:
    """Load a calibration model by its name, a folder, a GGUF file or a Hub repository on a device.

    Without a name it is the embedded model.

    Raises ``ModelError`` if the model cannot be loaded or there is no such device.
    """
    shipped = SHIPPED.get(EMBEDDED_MODEL if name is None else name)
    loaded = _load_shipped(shipped, kind) if shipped else load_model(str(name), AUTO_CLASSES[kind])
    return on_device(loaded, device)


def _load_shipped(shipped: Shipped, kind: Kind) -> LoadedModel:
    loaded = load_model(str(shipped.folder), AUTO_CLASSES[kind], shipped.note)
    return replace(loaded, identity=replace(loaded.identity, name=shipped.name))


def on_device(loaded: LoadedModel, device: str) -> LoadedModel:
    """Move a loaded model to a device; ``auto`` is a GPU if there is one. Raises ``ModelError``."""
    import torch

    chosen = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        return replace(loaded, model=loaded.model.to(chosen))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"the model cannot be moved to the device {chosen!r}: {str(error).splitlines()[0]}") from error
