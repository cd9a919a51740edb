"""Causal language models: log-likelihoods of sentences, in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from holisticbias_eval.embedded import EMBEDDED_MODEL, NOTE, embedded_model_path
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.loading import LoadedModel, load_model
from holisticbias_eval.scoring import ModelIdentity, Progress, Scores

MAX_LOGITS = 32_000_000


def load_causal_scorer(name: str | None) -> CausalScorer:
    """The scorer of a causal language model: a folder, a Hub repository, or the embedded model if none is named."""
    if name is None or name == EMBEDDED_MODEL:
        loaded = load_model(str(embedded_model_path()), "AutoModelForCausalLM", NOTE)
        return CausalScorer(loaded, EMBEDDED_MODEL)
    return CausalScorer(load_model(name, "AutoModelForCausalLM"))


class CausalScorer:
    """Scores sentences with one forward pass per batch.

    A sentence's first token has a likelihood only where the tokenizer has a
    beginning-of-sequence token to condition on; otherwise it is not counted.
    """

    def __init__(self, loaded: LoadedModel, name: str | None = None) -> None:
        from dataclasses import replace

        self._model = loaded.model
        self._tokenizer = loaded.tokenizer
        self._bos: int | None = loaded.tokenizer.bos_token_id
        self.identity: ModelIdentity = replace(loaded.identity, name=name) if name else loaded.identity

    @property
    def settings(self) -> Mapping[str, str]:
        """How the first token was treated."""
        if self._bos is None:
            return {"first_token": "not counted: the tokenizer has no beginning-of-sequence token"}
        return {"first_token": f"counted, given the token {self._tokenizer.bos_token!r}"}

    def score(self, texts: Sequence[str], progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens; see ``Scores``."""
        tokens = self._tokens(texts)
        lengths = np.array([len(ids) for ids in tokens])
        nll = np.zeros(len(texts))
        for rows in self._batches(lengths):
            nll[rows] = self._batch_nll([tokens[i] for i in rows])
            progress(len(rows))
        return Scores(nll, np.maximum(lengths - 1, 0).astype(np.int32))

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        encoded = self._tokenizer(list(texts), add_special_tokens=False, return_attention_mask=False)["input_ids"]
        tokens = encoded if self._bos is None else [[self._bos, *ids] for ids in encoded]
        limit = getattr(self._model.config, "max_position_embeddings", None)
        long = [i for i, ids in enumerate(tokens) if limit is not None and len(ids) > limit]
        if long:
            raise ModelError(
                f"{len(long):,} sentences have more than the model's {limit:,} tokens, {texts[long[0]]!r} for one"
            )
        return tokens

    def _batches(self, lengths: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
        """Rows of one length, which need no padding, as many at once as their logits leave room for."""
        order = np.argsort(lengths, kind="stable")
        room = MAX_LOGITS // self._model.get_input_embeddings().num_embeddings
        for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
            size = max(1, room // max(1, int(lengths[rows[0]])))
            yield from (rows[start : start + size] for start in range(0, len(rows), size))

    def _batch_nll(self, tokens: Sequence[Sequence[int]]) -> npt.NDArray[np.float64]:
        """The negative log-likelihoods of sentences of one length."""
        import torch

        if len(tokens[0]) < 2:
            return np.zeros(len(tokens))
        ids = torch.tensor(tokens)
        with torch.inference_mode():
            logits: Any = self._model(input_ids=ids, use_cache=False).logits[:, :-1]
            nll = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), reduction="none")
        totals: npt.NDArray[np.float64] = nll.view(len(tokens), -1).sum(1, dtype=torch.float64).numpy()
        return totals
