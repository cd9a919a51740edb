"""Loading a model and its tokenizer through transformers: safetensors only, never a repository's own code."""

from __future__ import annotations

import hashlib
import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from holisticbias_eval.errors import ModelError
from holisticbias_eval.scoring import ModelIdentity

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in evaluation mode, its tokenizer, which model it is, and how to load it in another precision."""

    model: Any
    tokenizer: Any
    identity: ModelIdentity
    load: Callable[[str], Any]


def load_config(name: str) -> Any:
    """The configuration of a folder or a Hub repository; ``ModelError`` for whatever cannot be loaded."""
    _refuse_missing_folder(name)
    import transformers

    where = _where(name)
    return _load(name, "configuration", lambda: transformers.AutoConfig.from_pretrained(name, **where))


def load_model(name: str, auto_class: str, note: str | None = None) -> LoadedModel:
    """Load a folder or a Hub repository with one of transformers' auto classes, in float32.

    Raises ``ModelError`` for whatever cannot be loaded, with its reason.
    """
    _refuse_missing_folder(name)
    import transformers

    where = _where(name)
    load = partial(_load_weights, name, auto_class, where)
    model = load("float32")
    tokenizer = _load(name, "tokenizer", lambda: transformers.AutoTokenizer.from_pretrained(name, **where))
    vocabulary = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > vocabulary:
        raise ModelError(
            f"{name}: the tokenizer has {len(tokenizer):,} tokens, the model only {vocabulary:,}: they do not match"
        )
    _refuse_broken(name, model)
    return LoadedModel(model, tokenizer, _identity(name, model, note), load)


def _load_weights(name: str, auto_class: str, where: dict[str, bool], dtype: str) -> Any:
    import transformers
    from transformers.utils import logging as transformers_logging

    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    auto, wanted = getattr(transformers, auto_class), {"use_safetensors": True, "dtype": dtype, **where}
    model, info = _load(name, "model", lambda: auto.from_pretrained(name, output_loading_info=True, **wanted))
    if info["missing_keys"]:
        lacking = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelError(
            f"{name}: its weights lack {lacking}, which would be random: it is not whole, or no {auto_class[9:]}"
        )
    return model.eval()


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


def _where(name: str) -> dict[str, bool]:
    """What every ``from_pretrained`` is told: no code of the repository's own, and no Hub that has no address.

    The Hub's client asks a host without an address again and again, for most of a minute.
    """
    return {"trust_remote_code": False, "local_files_only": Path(name).is_dir() or not hub_has_address()}


@cache
def hub_has_address() -> bool:
    """Whether the Hub's host is known here, or to a proxy; a name server that is busy is asked twice."""
    from huggingface_hub.constants import ENDPOINT

    for pause in (0.0, 1.0):
        time.sleep(pause)
        with suppress(OSError):
            return bool(getproxies() or socket.getaddrinfo(urlsplit(ENDPOINT).hostname, None))
    return False


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
    if "401 Unauthorized" in text:
        return "the Hub does not accept your token: log in anew with: hf auth login"
    if "Unrecognized configuration class" in text:
        return "it is another kind of model: leave --kind out"
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
