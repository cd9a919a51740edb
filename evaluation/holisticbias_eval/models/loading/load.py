"""Load a model and its tokenizer with transformers: safetensors or GGUF only, never a repository's own code."""

import hashlib
import json
import re
from collections.abc import Callable
from contextlib import nullcontext, redirect_stderr
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from operator import itemgetter
from typing import Any, Literal

from holisticbias.errors import in_one_line
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, SHIPPED
from holisticbias_eval.models.loading.calls import errors_alone
from holisticbias_eval.models.loading.running import ALONE
from holisticbias_eval.models.loading.source import ModelFiles, check_config, describe_gguf, find_source
from holisticbias_eval.models.loading.tokenizers import is_failure, tokenizer_digest, tried
from holisticbias_eval.models.model import Kind, ModelSignature
from holisticbias_eval.settings import listed

ModelSource = str | tuple[Any, Any] | None
"""A calibration model by name, a folder, a GGUF file or a Hub repository, or a model of transformers that the caller
has loaded, with its tokenizer; null is the default model."""
_WITHOUT_EFFECT = re.compile(r"version|architectures|name|dtype|cache|init|drop|label|_token_id|output_|return_dict")
"""Entries of a configuration that say how a model was trained, stored or called."""
_LONG = re.compile(r"\d\.\d+(e-?\d+)?")
AUTO_CLASSES: dict[Kind, str] = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in evaluation mode, its tokenizer, its identity, and a function that gives it in another precision."""

    model: Any
    tokenizer: Any
    identity: ModelSignature
    load: Callable[[str], Any]

    @property
    def settings(self) -> dict[str, str]:
        """Digests of the tokenizer and the configuration, for a signature."""
        digests = tokenizer_digest(self.tokenizer), _config_digest(self.model.config)
        return dict(zip(("tokenizer_sha256", "config_sha256"), digests, strict=True))


def load_config(name: str) -> Any:
    """Load the configuration of a folder, a GGUF file or a Hub repository; raises ``ModelError`` if that fails."""
    source = find_source(name)
    import transformers

    _check(name, source)
    return _load(name, "configuration", lambda: transformers.AutoConfig.from_pretrained(source.place, **source.options))


def _check(name: str, source: ModelFiles) -> None:
    """Raise ``ModelError`` if the configuration, before anything is made from it, cannot be right or safe."""
    from transformers import PretrainedConfig

    config, _ = _load(name, "configuration", lambda: PretrainedConfig.get_config_dict(source.place, **source.options))
    check_config(name, config)


def load_model(name: str, auto_class: str, revision: str | None = None) -> LoadedModel:
    """Load a folder, a GGUF file or a Hub repository with one of transformers' auto classes, in float32.

    The quantized weights of a GGUF file are converted to float32. ``revision`` is
    a commit of a Hub repository. Raises ``ModelError`` with the reason if the model
    cannot be loaded.
    """
    source = find_source(name, revision)
    import transformers

    _check(name, source)
    load = partial(_load_weights, name, auto_class, source)
    model = load("float32")
    auto = transformers.AutoTokenizer
    tokenizer = _load(name, "tokenizer", lambda: tried(auto.from_pretrained(source.place, **source.options)))
    # from GGUF, transformers may add special tokens that the model lacks; no text contains them
    _refuse_broken(name, model, tokenizer.vocab_size if source.file else len(tokenizer))
    identity = _identity(name, model)
    if source.file:
        quantization, digest = describe_gguf(source.file)
        identity = identity.model_copy(update={"quantization": quantization, "file_sha256": digest})
    return LoadedModel(model, tokenizer, identity, load)


def _load_weights(name: str, auto_class: str, source: ModelFiles, dtype: str) -> Any:
    import transformers

    only = {} if source.file else {"use_safetensors": True}
    auto, wanted = getattr(transformers, auto_class), {"dtype": dtype, **only, **source.options}
    with (
        redirect_stderr(StringIO()) if source.file else nullcontext()
    ):  # hides a progress bar that no setting turns off
        model, info = _load(
            name, "model", lambda: auto.from_pretrained(source.place, output_loading_info=True, **wanted)
        )
    if info["missing_keys"]:
        lacking = ", ".join(sorted(info["missing_keys"])[:3])
        raise ModelError(
            f"{name}: its weights lack {lacking}: the checkpoint is incomplete, or is not a {auto_class[9:]}"
        )
    return model.eval()


def adopt_model(model: Any, tokenizer: Any, device: str = "auto") -> LoadedModel:
    """A model of transformers that the caller has loaded, as it would be loaded from its folder.

    Weights in another precision than float32, or on another device than the one asked for, are copied: the caller's
    model is not changed. Raises ``ModelError`` if it is in training mode or predicts no tokens, or if its weights
    cannot be copied.
    """
    name = model.name_or_path or type(model).__name__
    if model.training:
        raise ModelError(f"{name} is in training mode, in which its answers differ each time: call model.eval() first")
    if model.get_output_embeddings() is None:
        classes = listed(list(AUTO_CLASSES.values()), "or")
        raise ModelError(f"{name} is a {type(model).__name__}, which predicts no tokens: load it with {classes}")

    def load(dtype: str) -> Any:
        import torch

        wanted, place = getattr(torch, dtype), model.device if device == "auto" else torch.device(device)
        stays = model.device.type == place.type and place.index in (None, model.device.index)
        if stays and {parameter.dtype for parameter in model.parameters()} == {wanted}:
            return model
        return _load(name, "model", lambda: _copied(model, place, wanted))

    weights = load("float32")
    _load(name, "tokenizer", lambda: tried(tokenizer))
    _refuse_broken(name, weights, len(tokenizer))
    return LoadedModel(weights, tokenizer, _identity(name, weights), load)


def _copied(model: Any, place: Any, dtype: Any) -> Any:
    """A copy on a device with its weights in a precision; other numbers, such as frequencies of positions, keep theirs.

    Loading a folder keeps them too.
    """
    copied = deepcopy(model).to(place)
    for weight in copied.state_dict(keep_vars=True).values():
        weight.data = weight.data.to(dtype) if weight.is_floating_point() else weight.data
    return copied


def is_altered(model: Any) -> bool:
    """Whether the caller has added hooks to a loaded model or replaced a ``forward``, which no digest covers."""
    modules = model.modules()
    return any(one._forward_hooks or one._forward_pre_hooks or "forward" in vars(one) for one in modules)


def _refuse_broken(name: str, model: Any, tokens: int) -> None:
    """Raise ``ModelError`` if the tokenizer has more tokens than the model, or a weight is not a finite number."""
    vocabulary = model.get_input_embeddings().num_embeddings
    if tokens > vocabulary:
        raise ModelError(
            f"{name}: the tokenizer has {tokens:,} tokens, the model only {vocabulary:,}: they do not match"
        )
    for key, parameter in model.named_parameters():
        # a sum is finite only if all are; it takes less time than asking each
        if not bool(parameter.sum().isfinite() or parameter.isfinite().all()):
            raise ModelError(f"{name}: its weights {key} hold numbers that are not finite: the file is damaged")


def _load(name: str, what: str, load: Any) -> Any:
    errors_alone()
    try:
        with ALONE:
            return load()
    except BaseException as error:
        if not is_failure(error):
            raise
        raise ModelError(f"{name}: the {what} cannot be loaded: {_reason(error)}") from error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if "trust_remote_code" in text or "custom code" in text:
        return "it needs its own code, which is never run here"
    if "safetensors" in text and "model.safetensors" in text:
        return "it has no safetensors weights, and pickled weights are never loaded"
    if "ignore_mismatched_sizes" in text:
        return "its weights have other sizes than its configuration: the files are of different models, or were changed"
    if "gated repo" in text:
        return "it is gated: ask for access on its Hub page, and log in with: hf auth login"
    if "couldn't connect" in text or "offline" in text.lower() or "Connection" in type(error).__name__:
        return "it is not on this machine and the Hugging Face Hub cannot be reached"
    if "not a valid model identifier" in text or "is not a local folder" in text:
        return "there is no such folder and no such model on the Hub (or it is private: hf auth login)"
    if "401 Unauthorized" in text:
        return "the Hub does not accept your token: log in again with: hf auth login"
    if "Unrecognized configuration class" in text:
        return "it is another kind of model; if --kind is given, leave it out"
    return f"{text[:200]} ({type(error).__name__})"


def _identity(name: str, model: Any) -> ModelSignature:
    return ModelSignature(
        name=name,
        architecture=type(model).__name__,
        revision=getattr(model.config, "_commit_hash", None),
        weights_sha256=_weights_digest(model),
        parameters=sum(p.numel() for p in model.parameters()),
        dtype=str(model.dtype).removeprefix("torch."),
    )


def _weights_digest(model: Any) -> str:
    """SHA-256 of the names, shapes and bytes of all weights, sorted by name; does not depend on the file layout.

    Weights are the parameters, and the saved buffers that are not 0, such as a bias of the logits.
    """
    import torch

    digest, saved = hashlib.sha256(), model.state_dict().keys()
    buffers = ((name, buffer) for name, buffer in model.named_buffers() if name in saved and buffer.any())
    for name, weight in sorted([*model.named_parameters(), *buffers], key=itemgetter(0)):
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}\n".encode())
        digest.update(weight.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def _config_digest(config: Any) -> str:
    """SHA-256 of a configuration's type, and of the values that answers depend on and that are not its default."""
    values = config.to_dict()
    try:
        usual = type(config)().to_dict()
    except (TypeError, ValueError):  # a configuration that is made of others has no default
        usual = dict.fromkeys(values)
    known = {key: _in_text(values.get(key)) for key in usual if not _WITHOUT_EFFECT.search(key)}
    content = sorted((key, text) for key, text in known.items() if text != _in_text(usual[key]))
    return hashlib.sha256(json.dumps([config.model_type, content]).encode()).hexdigest()


def _in_text(value: object) -> str:
    """A value as JSON; its numbers are rounded, because GGUF files hold them in less precision."""
    return _LONG.sub(lambda number: f"{float(number[0]):.6g}", json.dumps(value, sort_keys=True, default=str))


def find_kind(source: ModelSource, kind: Literal["auto"] | Kind = "auto") -> Kind:
    """The kind of a model: the one asked for, or that of its configuration; causal by default."""
    if kind != "auto":
        return kind
    if source is None or source in SHIPPED:
        return "causal"
    config = source[0].config if isinstance(source, tuple) else load_config(source)
    architecture = type(source[0]).__name__ if isinstance(source, tuple) else (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return "masked"
    return "seq2seq" if getattr(config, "is_encoder_decoder", False) else "causal"


def load_kind(source: ModelSource, kind: Kind, device: str) -> LoadedModel:
    """Load a model as one of a kind on a device; by default the embedded model.

    Raises ``ModelError`` if the model cannot be loaded or there is no such device.
    """
    if isinstance(source, tuple):
        return adopt_model(*source, device)
    shipped = SHIPPED.get(EMBEDDED_MODEL if source is None else source)
    loaded = load_model(str(shipped.folder if shipped else source), AUTO_CLASSES[kind])
    if shipped:
        identity = loaded.identity.model_copy(update={"name": shipped.name, "note": shipped.note})
        loaded = replace(loaded, identity=identity)
    return on_device(loaded, device)


def on_device(loaded: LoadedModel, device: str) -> LoadedModel:
    """Move a loaded model to a device; ``auto`` is a GPU if there is one. Raises ``ModelError``."""
    import torch

    chosen = ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    try:
        return replace(loaded, model=loaded.model.to(chosen))
    except (RuntimeError, AssertionError) as error:
        raise ModelError(f"the model cannot be moved to the device {chosen!r}: {in_one_line(error)}") from error
