"""The local engine: load a model in this process, and choose the scorer of its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.causal import CausalScorer
from holisticbias_eval.models.likelihood.masked import MaskedScorer
from holisticbias_eval.models.likelihood.opening import AUTO, find_opening
from holisticbias_eval.models.likelihood.scorer import Scorer
from holisticbias_eval.models.likelihood.seq2seq import Seq2SeqScorer
from holisticbias_eval.models.loading.load import find_kind, load_kind
from holisticbias_eval.models.loading.source import one_gguf_parse
from holisticbias_eval.models.model import Kind
from holisticbias_eval.progress import Notice


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """Options of scoring: kind of model (``auto`` reads its configuration), precision and device.

    ``pll`` is for masked models, by default ``original``; ``first_token`` and ``chat`` are for causal models, see
    ``opening.find_opening``.
    """

    kind: Kind | Literal["auto"] = "auto"
    dtype: str = "float32"
    device: str = "auto"
    pll: str | None = None
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
    kind = find_kind(name) if options.kind == "auto" else options.kind
    if kind != "causal" and options.dtype != "float32":
        raise ModelError(f"--dtype {options.dtype} is for causal models; score this {kind} model in float32")
    if kind != "causal" and options.opens_texts:
        raise ModelError(f"--first-token and --chat are for causal models; this is a {kind} model")
    if kind != "masked" and options.pll is not None:
        raise ModelError(f"--pll is for masked models; this is a {kind} model")
    loaded = load_kind(name, kind, options.device)
    if kind == "masked":
        return MaskedScorer(loaded, notice, options.pll or "original")
    if kind == "seq2seq":
        return Seq2SeqScorer(loaded, notice)
    opening = find_opening(loaded.tokenizer, options.first_token, options.chat)
    return CausalScorer(loaded, notice, dtype=options.dtype, opening=opening)
