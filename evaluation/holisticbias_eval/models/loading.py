"""Loading a model and its tokenizer through transformers: safetensors only, never a repository's own code."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holisticbias_eval.errors import ModelError
from holisticbias_eval.scoring import ModelIdentity

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in evaluation mode, its tokenizer, and which model it is."""

    model: Any
    tokenizer: Any
    identity: ModelIdentity


def load_config(name: str) -> Any:
    """The configuration of a folder or a Hub repository; ``ModelError`` for whatever cannot be loaded."""
    _refuse_missing_folder(name)
    import transformers

    return _load(name, "configuration", lambda: transformers.AutoConfig.from_pretrained(name, trust_remote_code=False))


def load_model(name: str, auto_class: str, note: str | None = None) -> LoadedModel:
    """Load a folder or a Hub repository with one of transformers' auto classes, in float32.

    Raises ``ModelError`` for whatever cannot be loaded, with its reason.
    """
    _refuse_missing_folder(name)
    import transformers
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    model, info = _load(
        name,
        "model",
        lambda: getattr(transformers, auto_class).from_pretrained(
            name, use_safetensors=True, trust_remote_code=False, dtype="float32", output_loading_info=True
        ),
    )
    if info["missing_keys"]:
        lacking = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelError(
            f"{name}: its weights lack {lacking}, which would be random: it is not whole, or no {auto_class[9:]}"
        )
    tokenizer = _load(
        name, "tokenizer", lambda: transformers.AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    )
    vocabulary = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > vocabulary:
        raise ModelError(
            f"{name}: the tokenizer has {len(tokenizer):,} tokens, the model only {vocabulary:,}: they do not match"
        )
    _refuse_broken(name, model)
    return LoadedModel(model.eval(), tokenizer, _identity(name, model, note))


def _refuse_broken(name: str, model: Any) -> None:
    for key, parameter in model.named_parameters():
        if not bool(parameter.isfinite().all()):
            raise ModelError(f"{name}: its weights {key} hold numbers that are not finite: the file is broken")


def _refuse_missing_folder(name: str) -> None:
    if not name.strip():
        raise ModelError("no model is named: give a folder or a Hub repository, or leave --model out")
    path = Path(name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ModelError(f"{name} is no model: the folder has no config.json")
        if not any(path.glob("tokenizer*")) and not any(path.glob("vocab*")):
            raise ModelError(f"{name} has no tokenizer: save it with tokenizer.save_pretrained({name!r})")
    elif path.exists() or name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"{name}: no such model folder")


def _load(name: str, what: str, load: Any) -> Any:
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it tells of every retry; we tell of the outcome
    try:
        return load()
    except Exception as error:
        raise ModelError(f"{name}: the {what} cannot be loaded: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    if "trust_remote_code" in text or "custom code" in text:
        return "it needs code of its own, which is never run here"
    if "safetensors" in text and "model.safetensors" in text:
        return "it has no weights as safetensors, and pickled weights are never loaded"
    if "gated repo" in text:
        return "it is gated: ask for access on its page and log in with: hf auth login"
    if "couldn't connect" in text or "offline" in text.lower() or "Connection" in type(error).__name__:
        return "it is not on this machine and the Hugging Face Hub cannot be reached"
    if "not a valid model identifier" in text or "is not a local folder" in text:
        return "there is no such folder and no such model on the Hub (or it is private: hf auth login)"
    return f"{text[:200]} ({type(error).__name__})"


def _identity(name: str, model: Any, note: str | None) -> ModelIdentity:
    return ModelIdentity(
        name=name,
        architecture=type(model).__name__,
        revision=getattr(model.config, "_commit_hash", None),
        weights_sha256=_weights_digest(model),
        parameters=sum(p.numel() for p in model.parameters()),
        dtype=str(model.dtype).removeprefix("torch."),
        note=note,
    )


def _weights_digest(model: torch.nn.Module) -> str:
    """SHA-256 over names, shapes and bytes of all parameters, sorted by name: the same for any file layout."""
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(f"{name} {tuple(parameter.shape)} {parameter.dtype}\n".encode())
        digest.update(parameter.detach().cpu().contiguous().flatten().numpy().tobytes())
    return digest.hexdigest()
