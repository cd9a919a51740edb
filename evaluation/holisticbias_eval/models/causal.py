"""Causal language models: log-likelihoods of any part of a text, through the prefix tree of all texts."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from holisticbias_eval.models.batched import token_likelihoods
from holisticbias_eval.models.batches import in_rows
from holisticbias_eval.models.likelihoods import context_length, refuse_long, span_scores
from holisticbias_eval.models.loading import LoadedModel
from holisticbias_eval.models.packed import HEADS, PackSize, node_likelihoods
from holisticbias_eval.models.probe import agrees, in_float32, plain_likelihoods, spread
from holisticbias_eval.models.tokens import Encoded, TextEncoder, leading_tokens, pick
from holisticbias_eval.models.tree import build_tree
from holisticbias_eval.scoring import Floats, ModelIdentity, Notice, Progress, Rounding, Scores, Spans, Work

PLAIN = "batches of one length"
_PROBED = 8
_GPU_BATCH = 16_384
_CPU_WIDTHS = 800_000  # slots times width: what stays in the caches of a few cores, and in little memory


class CausalScorer:
    """Scores texts with one forward pass for every distinct prefix.

    A text's first token has a likelihood only where the tokenizer puts tokens
    before a text or has a beginning-of-sequence token, to condition on; otherwise
    it is not counted. What the tokenizer puts after a text is left out.
    Before the first texts are scored, a few of them are scored one at a time as
    well. A model that reads the tree otherwise than the plain text (state-space
    models, a sliding window shorter than the text, positions taken from the
    mask) is noticed in this way, and scored in batches of whole texts; one that
    looks ahead is refused. ``rounding`` is what another precision than float32
    cost those few, once they have been scored.
    """

    def __init__(
        self, loaded: LoadedModel, notice: Notice, size: PackSize | None = None, dtype: str = "float32"
    ) -> None:
        self._model = loaded.model
        self._load = loaded.load
        self._encoder = TextEncoder(loaded.tokenizer)
        self._lead = leading_tokens(loaded.tokenizer)
        self._lead_text = "".join(loaded.tokenizer.convert_ids_to_tokens(self._lead))
        self._notice = notice
        self._size = size or _default_size(loaded.model)
        self.method = ""
        self.rounding: Rounding | None = None
        self._probed = (0, 0)
        self.identity: ModelIdentity = replace(loaded.identity, dtype=dtype)

    @property
    def settings(self) -> Mapping[str, str]:
        """How the first token was treated, and with which tokenizer."""
        first = "not counted: the tokenizer has no beginning-of-sequence token"
        if self._lead:
            first = f"counted, given the token{'s' * (len(self._lead) > 1)} {self._lead_text!r}"
        return {"scorer": "causal", "first_token": first, "tokenizer_sha256": self._encoder.digest}

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        encoded = self._encode(spans)
        return span_scores(encoded, self._likelihoods(encoded, self.method, progress))

    def work(self, spans: Spans) -> Work:
        """The tokens of the texts, and the inner nodes of their tree."""
        encoded = self._encode(spans)
        tokens = len(encoded.ids)
        return Work(tokens, tokens if self.method == PLAIN else build_tree(encoded.ids, encoded.starts).inner)

    def probe(self, spans: Spans) -> Rounding | None:
        """What the precision costs, found on some of the spans; None in float32."""
        if self.rounding is None and self.identity.dtype != "float32":
            self._encode(spans)
        return self.rounding

    def _encode(self, spans: Spans) -> Encoded:
        encoded = self._encoder.encode(spans, self._lead)
        refuse_long(self._model, encoded, spans)
        self._choose(encoded)
        return encoded

    def _likelihoods(self, encoded: Encoded, method: str, progress: Progress = lambda _: None) -> Floats:
        """The negative log-likelihood of every token, shape ``[tokens]``."""
        rows = len(encoded.first)
        if method == PLAIN:
            tell = in_rows(progress, rows, rows)
            return token_likelihoods(self._model, encoded.ids, encoded.starts, tell, self._notice)
        tree = build_tree(encoded.ids, encoded.starts)
        tell = in_rows(progress, rows, tree.inner)
        return node_likelihoods(self._model, tree, self._size, method, tell, self._notice)[tree.node]

    def _choose(self, encoded: Encoded) -> None:
        """Find the quickest exact way, once for all texts of this length; always in float32.

        The few stand among as many texts as fill whole packs: what an
        architecture does by slots, and not by positions, shows in those alone.
        """
        filling, longest = spread(encoded, self._size.slots), int(encoded.lengths.max(initial=0))
        known = self._probed[0] >= len(filling) and self._probed[1] >= longest
        if self.method == PLAIN or (self.method and known):
            return
        rows = spread(encoded, _PROBED)
        few, many = pick(encoded, rows), pick(encoded, [*rows, *filling])
        with nullcontext() if self.rounding is None else in_float32(self._model):
            values = plain_likelihoods(few, partial(self._likelihoods, method=PLAIN), self._name)
            expected = span_scores(few, values).nll
            ways = [name for name in HEADS if not self.method or name == self.method]
            exact = (way for way in ways if agrees(many, expected, partial(self._likelihoods, method=way)))
            self.method = next(exact, PLAIN)
        self._probed = (max(self._probed[0], len(filling)), max(self._probed[1], longest))
        if self.method == PLAIN:
            self._notice(
                f"{self._name} does not read a prefix tree as it reads a plain text: "
                "its sentences are scored one by one, exactly and more slowly"
            )
        if self.identity.dtype != "float32" and self.rounding is None:
            self._round(few, expected)

    @property
    def _name(self) -> str:
        return f"{self.identity.name} ({self.identity.architecture})"

    def _round(self, few: Encoded, expected: Floats) -> None:
        """Go on in the precision that was asked for, and say what it costs."""
        dtype, device = self.identity.dtype, self._model.device
        self._model = self._load(dtype).to(device)
        off = np.abs(span_scores(few, self._likelihoods(few, self.method)).nll - expected)
        self.rounding = Rounding(dtype=dtype, texts=len(off), largest=float(off.max()), mean=float(off.mean()))
        self._notice(str(self.rounding))


def _default_size(model: Any) -> PackSize:
    slots = min(PackSize().slots, context_length(model))  # some architectures have no mask for more
    if model.device.type != "cpu":
        return PackSize(slots, _GPU_BATCH)
    return PackSize(slots, min(4096, max(256, _CPU_WIDTHS // model.get_input_embeddings().embedding_dim)))
