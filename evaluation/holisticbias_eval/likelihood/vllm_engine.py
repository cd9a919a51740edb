"""Score spans with a causal model in vLLM, from the log-probabilities of prompts."""

from __future__ import annotations

from typing import Any

import numpy as np

from holisticbias_eval.errors import EvaluationError, ModelError
from holisticbias_eval.likelihood.local import ScoringOptions
from holisticbias_eval.likelihood.opening import find_opening
from holisticbias_eval.likelihood.scorer import Scorer
from holisticbias_eval.likelihood.scores import Scores
from holisticbias_eval.likelihood.span_sums import span_scores
from holisticbias_eval.likelihood.spans import Spans
from holisticbias_eval.likelihood.tokens import TextEncoder
from holisticbias_eval.models.identity import ModelIdentity
from holisticbias_eval.progress import Progress, in_rows

INSTALL = "the vLLM engine is not installed: pip install vllm, on a machine with a GPU"
_AT_ONCE = 4096


class VllmScorer(Scorer):
    """Scores texts as prompts; the one token that vLLM must generate after each is discarded.

    ``prompt_logprobs=0`` gives the log-probability of each prompt token except
    the first. vLLM does not share common prefixes when it computes prompt
    log-probabilities, so the model reads every text as a whole.
    """

    def __init__(self, name: str, options: ScoringOptions) -> None:
        dtype = options.dtype
        try:
            import vllm
        except ImportError as error:
            raise EvaluationError(INSTALL) from error
        try:
            self._llm = vllm.LLM(model=name, dtype=dtype, trust_remote_code=False, enable_prefix_caching=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(f"{name}: vLLM cannot load it: {str(error).splitlines()[0]}") from error
        self._parameters = vllm.SamplingParams(max_tokens=1, temperature=0.0, prompt_logprobs=0)
        tokenizer = self._llm.get_tokenizer()
        self._opening = find_opening(tokenizer, options.first_token, options.chat)
        self._encoder = TextEncoder(tokenizer)
        identity = ModelIdentity(name, "loaded by vLLM", None, None, None, dtype, f"vLLM {vllm.__version__}")
        settings = {"scorer": "vllm", **self._opening.settings, "tokenizer_sha256": self._encoder.digest}
        super().__init__(identity, "causal", settings, first_token_scored=self._opening.precedes)

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        encoded = self._encoder.encode(self._opening.before(spans), self._opening.tokens)
        nll = np.zeros(len(encoded.ids))
        advance = in_rows(progress, len(spans), len(spans))
        rows = np.flatnonzero(encoded.lengths > 1)
        for start in range(0, len(rows), _AT_ONCE):
            batch = rows[start : start + _AT_ONCE]
            prompts = [{"prompt_token_ids": encoded.row(i).tolist()} for i in batch]
            for i, output in zip(batch, self._llm.generate(prompts, self._parameters, use_tqdm=False), strict=True):
                nll[encoded.starts[i] + 1 : encoded.starts[i + 1]] = _values(output)
            advance(len(batch))
        advance(len(spans) - len(rows))
        return span_scores(encoded, nll)


def _values(output: Any) -> list[float]:
    """Negative log-likelihoods of the prompt's tokens after the first."""
    pairs = zip(output.prompt_token_ids[1:], output.prompt_logprobs[1:], strict=True)
    return [-float(found[token].logprob) for token, found in pairs]
