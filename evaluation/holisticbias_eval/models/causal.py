"""Causal language models: log-likelihoods of any part of a text, through the prefix tree of all texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from holisticbias_eval.models.batched import token_likelihoods
from holisticbias_eval.models.batches import in_rows
from holisticbias_eval.models.likelihoods import refuse_long, span_scores
from holisticbias_eval.models.loading import LoadedModel
from holisticbias_eval.models.packed import HEADS, PackSize, node_likelihoods
from holisticbias_eval.models.tokens import Encoded, TextEncoder, pick
from holisticbias_eval.models.tree import build_tree
from holisticbias_eval.scoring import Floats, ModelIdentity, Notice, Progress, Scores, Spans, Work

PLAIN = "batches of one length"
_PROBED = 8
_BATCH = {True: 1024, False: 16_384}  # a GPU wants more at once than a few cores do
_PER_TEXT = 1e-4
_PER_TOKEN = 0.1  # rounded weights differ from themselves by this much in another order of sums


class CausalScorer:
    """Scores texts with one forward pass for every distinct prefix.

    A text's first token has a likelihood only where the tokenizer has a
    beginning-of-sequence token to condition on; otherwise it is not counted.
    Before the first texts are scored, a few of them are scored one at a time as
    well. A model that reads the tree otherwise than the plain text (state-space
    models, a sliding window shorter than the text, positions taken from the
    mask) is noticed in this way, and scored in batches of whole texts.
    """

    def __init__(
        self, loaded: LoadedModel, notice: Notice, size: PackSize | None = None, dtype: str = "float32"
    ) -> None:
        self._model = loaded.model
        self._encoder = TextEncoder(loaded.tokenizer)
        self._bos: int | None = loaded.tokenizer.bos_token_id
        self._bos_text = loaded.tokenizer.bos_token
        self._notice = notice
        self._size = size or PackSize(batch=_BATCH[loaded.model.device.type == "cpu"])
        self.method = ""
        self._probed = (0, 0)
        self.identity: ModelIdentity = replace(loaded.identity, dtype=dtype)

    @property
    def settings(self) -> Mapping[str, str]:
        """How the first token was treated, and with which tokenizer."""
        first = "not counted: the tokenizer has no beginning-of-sequence token"
        if self._bos is not None:
            first = f"counted, given the token {self._bos_text!r}"
        return {"scorer": "causal", "first_token": first, "tokenizer_sha256": self._encoder.digest}

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        encoded = self._encoder.encode(spans, self._bos)
        refuse_long(self._model, encoded, spans)
        self._choose(encoded)
        return span_scores(encoded, self._likelihoods(encoded, self.method, self._size, progress))

    def work(self, spans: Spans) -> Work:
        """The tokens of the texts, and the inner nodes of their tree."""
        encoded = self._encoder.encode(spans, self._bos)
        refuse_long(self._model, encoded, spans)
        self._choose(encoded)
        tokens = len(encoded.ids)
        return Work(tokens, tokens if self.method == PLAIN else build_tree(encoded.ids, encoded.starts).inner)

    def _likelihoods(self, encoded: Encoded, method: str, size: PackSize, progress: Progress) -> Floats:
        """The negative log-likelihood of every token, shape ``[tokens]``."""
        rows = len(encoded.first)
        if method == PLAIN:
            tell = in_rows(progress, rows, rows)
            return token_likelihoods(self._model, encoded.ids, encoded.starts, tell, self._notice)
        tree = build_tree(encoded.ids, encoded.starts)
        tell = in_rows(progress, rows, tree.inner)
        return node_likelihoods(self._model, tree, size, method, tell, self._notice)[tree.node]

    def _choose(self, encoded: Encoded) -> None:
        """Find the quickest exact way, once for all texts of this length."""
        rows = _probe_rows(encoded)
        longest = int(encoded.lengths.max(initial=0))
        known = self._probed[0] >= len(rows) and self._probed[1] >= longest
        if self.method == PLAIN or (self.method and known):
            return
        few = pick(encoded, rows)
        expected = self._likelihoods(few, PLAIN, self._size, lambda _: None)
        self._round(few, expected)
        ways = [name for name in HEADS if not self.method or name == self.method]
        self.method = next((way for way in ways if self._agrees(few, expected, way)), PLAIN)
        self._probed = (max(self._probed[0], len(rows)), max(self._probed[1], longest))
        if self.method == PLAIN:
            self._notice(
                f"{self.identity.name} ({self.identity.architecture}) does not read a prefix tree as it reads a "
                "plain text: its sentences are scored one by one, exactly and more slowly"
            )

    def _round(self, few: Encoded, expected: Floats) -> None:
        """Go on in the precision that was asked for, and say what it costs."""
        import torch

        dtype = getattr(torch, self.identity.dtype)
        if self._model.dtype == dtype:
            return
        self._model = self._model.to(dtype)
        rounded = span_scores(few, self._likelihoods(few, PLAIN, self._size, lambda _: None)).nll
        off = np.abs(rounded - span_scores(few, expected).nll).max()
        self._notice(
            f"{self.identity.dtype} instead of float32: {off:.2g} nats off at most, on {len(rounded)} sentences tried"
        )

    def _agrees(self, few: Encoded, expected: Floats, way: str) -> bool:
        size = PackSize(int(few.lengths.max()) + 2, self._size.batch)
        try:
            found = self._likelihoods(few, way, size, lambda _: None)
        except Exception:  # noqa: BLE001 - an architecture may refuse a tree in any way it likes
            return False
        off = np.abs(span_scores(few, found).nll - span_scores(few, expected).nll)
        exact = self.identity.dtype == "float32"
        return bool(np.all(off <= (_PER_TEXT if exact else _PER_TOKEN * np.maximum(few.lengths, 1))))


def _probe_rows(encoded: Encoded) -> list[int]:
    """The longest text, the shortest, and some in between."""
    order = np.argsort(encoded.lengths, kind="stable")
    return sorted({int(order[i]) for i in np.linspace(0, len(order) - 1, _PROBED).astype(int)}) if len(order) else []
