"""The local engine: load a model in this process, and choose the scorer of its kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.causal import CausalScorer
from holisticbias_eval.likelihood.masked import MaskedScorer
from holisticbias_eval.likelihood.opening import AUTO, find_opening
from holisticbias_eval.likelihood.scorer import Kind, Scorer
from holisticbias_eval.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, NOTE, embedded_model_path
from holisticbias_eval.models.loading import LoadedModel, load_config, load_model
from holisticbias_eval.models.source import one_gguf_parse
from holisticbias_eval.progress import Notice

KINDS: dict[Kind, str] = {
    "causal": "AutoModelForCausalLM",
    "masked": "AutoModelForMaskedLM",
    "seq2seq": "AutoModelForSeq2SeqLM",
}


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """Options of scoring: kind of model (``auto`` reads its configuration), precision and device.

    ``pll`` is for masked models; ``first_token`` and ``chat`` are for causal models, see ``opening.find_opening``.
    """

    kind: Kind | Literal["auto"] = "auto"
    dtype: str = "float32"
    device: str = "auto"
    pll: str = "original"
    first_token: str = AUTO
    chat: str | None = None

    @property
    def opens_texts(self) -> bool:
        """Whether the user chose what a causal model reads before each text."""
        return self.first_token != AUTO or self.chat is not None


def load_scorer(name: str | None, notice: Notice, options: ScoringOptions | None = None) -> Scorer:
    """Load a folder, a GGUF file or a Hub repository, by default the embedded model, and make its scorer.

    Raises ``ModelError`` if the model cannot be loaded or the options do not fit its kind.
    """
    with one_gguf_parse(name):
        return _load_scorer(name, notice, options or ScoringOptions())


def _load_scorer(name: str | None, notice: Notice, options: ScoringOptions) -> Scorer:
    kind = _kind(name) if options.kind == "auto" else options.kind
    if kind != "causal" and options.dtype != "float32":
        raise ModelError(f"{options.dtype} is for causal models; score this {kind} model in float32")
    if kind != "causal" and options.opens_texts:
        raise ModelError(f"--first-token and --chat are for causal models; this is a {kind} model")
    loaded = _on_device(_load(name, KINDS[kind]), options.device)
    if kind == "masked":
        return MaskedScorer(loaded, notice, options.pll)
    if kind == "seq2seq":
        return Seq2SeqScorer(loaded, notice)
    opening = find_opening(loaded.tokenizer, options.first_token, options.chat)
    return CausalScorer(loaded, notice, dtype=options.dtype, opening=opening)


def _kind(name: str | None) -> Kind:
    """The kind of a model according to its configuration; causal by default."""
    if name is None or name == EMBEDDED_MODEL:
        return "causal"
    config = load_config(name)
    architecture = (config.architectures or [""])[0]
    if architecture.endswith(("ForMaskedLM", "ForPreTraining")):
        return "masked"
    return "seq2seq" if getattr(config, "is_encoder_decoder", False) else "causal"


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
        raise ModelError(f"the model cannot be moved to the device {chosen!r}: {str(error).splitlines()[0]}") from error
