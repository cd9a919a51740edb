"""Score spans with a causal language model, through the prefix tree of all texts."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.batches import HEADS, PackSize, node_likelihoods, token_likelihoods
from holisticbias_eval.models.likelihood.opening import Opening, find_opening
from holisticbias_eval.models.likelihood.scorer import (
    ExactnessRecord,
    Probe,
    RoundingRecord,
    Scorer,
    Scores,
    Work,
    no_scores,
)
from holisticbias_eval.models.likelihood.spans import Spans, TextWindow, whole
from holisticbias_eval.models.likelihood.tokens import Encoded, TextEncoder
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import (
    allowed_error,
    exactly,
    in_float32,
    largest_difference,
    one_line_for_errors,
)
from holisticbias_eval.models.loading.tokenizers import context_length
from holisticbias_eval.models.sequences import bounds, build_tree, spread
from holisticbias_eval.progress import Notice, Progress, in_rows

PLAIN = "batches of one length"
_HINDSIGHT = 1e-4  # nats per token: rounding differs by less, a look ahead by more
_PROBED = 16
_TEXTS_AT_ONCE = 1 << 17
_GPU_BATCH = 16_384
_CPU_WIDTHS = 800_000  # slots times width: fits the caches of a few cores, and little memory


class CausalScorer(Scorer):
    """Scores texts with one forward pass per distinct prefix.

    The model reads the ``opening`` before each text; the tokens that the tokenizer
    puts after a text are left out. A text's first token is scored only if there
    is an opening to condition it on.

    Before the first texts are scored, a few of them are scored one at a time,
    also in float64. A model that scores the tree differently from single texts
    (state-space models, a sliding window shorter than the text, positions taken
    from the mask) is scored in batches of equal length instead. A model that
    looks ahead is refused.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        notice: Notice,
        size: PackSize | None = None,
        dtype: str = "float32",
        opening: Opening | None = None,
    ) -> None:
        self._model = loaded.model
        self._load = loaded.load
        self._encoder = TextEncoder(loaded.tokenizer)
        self._opening = opening or find_opening(loaded.tokenizer)
        _refuse_unknown(loaded, self._opening)
        spaces = self._encoder.settings(first_is_scored=self._opening.precedes)
        settings = {"scorer": "causal", **self._opening.settings, **loaded.settings, **spaces}
        identity = loaded.identity.model_copy(update={"dtype": dtype})
        super().__init__(identity, "causal", settings, first_token_scored=self._opening.precedes)
        self._notice = notice
        self._size = size or _default_size(loaded.model)
        self._probed = (0, 0)
        self._exactness = ExactnessRecord(method="", texts=0, error=None, plain_error=None)
        self._rounding: RoundingRecord | None = None
        self._refused = ""  # why the tree is not used, until a notice says so

    @property
    def method(self) -> str:
        """The method of scoring; empty until the first texts are scored."""
        return self._exactness.method

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        scores = no_scores(len(spans))
        for rows, part in _parts(spans):
            encoded = self._encode(part)
            self._say_why_slow(encoded)
            scores.put(rows, encoded.scores(self._likelihoods(encoded, self.method, progress)))
        return scores

    def work(self, spans: Spans) -> Work:
        """Count the tokens of the texts, and the inner nodes of their trees."""
        tokens = forward = 0
        for _, part in _parts(spans):
            encoded = self._encode(part)
            self._say_why_slow(encoded)
            tokens += len(encoded.ids)
            plain = self.method == PLAIN
            forward += len(encoded.ids) if plain else build_tree(encoded.ids, encoded.starts).inner
        return Work(tokens, forward)

    def windows(self, texts: Sequence[str]) -> Sequence[tuple[TextWindow, ...]]:
        """Windows as long as the model can read after the opening."""
        lead = self._encoder.encode(self._opening.before(whole(["a"])), self._opening.tokens).lengths[0]
        return self._encoder.windows(texts, context_length(self._model) - int(lead) + 1)

    def probe(self, spans: Spans) -> Probe:
        """Measure the error of the method and of the precision on some of the spans."""
        self._encode(spans)
        return Probe(self._exactness, self._rounding)

    def _encode(self, spans: Spans) -> Encoded:
        encoded = self._encoder.encode(self._opening.before(spans), self._opening.tokens)
        encoded.refuse_long(self._model, spans)
        self._choose(encoded)
        return encoded

    def _likelihoods(self, encoded: Encoded, method: str, progress: Progress = lambda _: None) -> Floats:
        """The negative log-likelihood of every token, shape ``[tokens]``."""
        if method == PLAIN:
            return token_likelihoods(self._model, encoded.ids, encoded.starts, progress, self._notice)
        tree = build_tree(encoded.ids, encoded.starts)
        advance = in_rows(progress, len(encoded.first), tree.inner)
        return node_likelihoods(self._model, tree, self._size, method, advance, self._notice)[tree.node]

    def _choose(self, encoded: Encoded) -> None:
        """Find the fastest exact method, once for all texts of this length; always in float32.

        The few texts are scored among enough others to fill whole packs: some
        architectures fail only at certain slots, which only full packs show.
        """
        filling, longest = spread(encoded.lengths, self._size.slots), int(encoded.lengths.max(initial=0))
        tried = self._probed[0] >= len(filling) and self._probed[1] >= longest
        if self.method == PLAIN or (self.method and (tried or self.roughly)):
            return
        rows = spread(encoded.lengths, _PROBED)
        few, many = encoded.pick(rows), encoded.pick(np.concatenate((rows, filling)))
        with nullcontext() if self._rounding is None else in_float32(self._model):
            plain = self._plain_sums(few)
            self._exactness = self._most_exact(few, many, plain)
        self._probed = (max(self._probed[0], len(filling)), max(self._probed[1], longest))
        if self.identity.dtype != "float32" and self._rounding is None:
            self._round(few, plain)

    def _most_exact(self, few: Encoded, many: Encoded, plain: Floats) -> ExactnessRecord:
        """The first method whose error is at most rounding, with both errors; see ``probe``."""
        reference, float64 = (plain, False) if self.roughly else self._reference_sums(few)
        plain_error = largest_difference(plain, reference)
        allowed = allowed_error(plain, reference, float64=float64)
        errors = {}
        for method in [self.method] if self.method else HEADS:
            errors[method] = self._error(many, reference, method)
            if errors[method] <= allowed:
                break
        else:
            self._refused = _refusal(min(errors.values()), allowed)
            method, errors[PLAIN] = PLAIN, plain_error
        return ExactnessRecord(
            method=method,
            texts=max(len(plain), self._exactness.texts),
            error=max(errors[method], self._exactness.error or 0.0) if float64 else None,
            plain_error=max(plain_error, self._exactness.plain_error or 0.0) if float64 else None,
        )

    def _plain_sums(self, few: Encoded) -> Floats:
        """Negative log-likelihood of each text, read alone in the model's precision; shape ``[texts]``, nats.

        Raises ``ModelError`` if the model cannot read the texts, or gives no finite likelihoods.
        """
        with one_line_for_errors(str(self.identity)):
            sums = few.scores(self._likelihoods(few, PLAIN)).nll
        broken = int(np.count_nonzero(~np.isfinite(sums)))
        if broken:
            raise ModelError(
                f"{self.identity} gives no finite likelihood for {broken} of {len(sums)} texts tried: "
                "its weights or its precision are damaged"
            )
        return sums

    def _reference_sums(self, few: Encoded) -> tuple[Floats, bool]:
        """The same in float64, and whether float64 was possible: some devices and kernels lack it.

        Raises ``ModelError`` if the likelihood of a token depends on the tokens after it.
        """
        kept = np.ones(len(few.ids), bool)
        kept[few.starts[1:][few.lengths > 0] - 1] = False
        starts = bounds(np.maximum(few.lengths - 1, 0))
        shorter = Encoded(few.ids[kept], starts, starts[:-1], starts[1:], few.bytes)
        with one_line_for_errors(str(self.identity)):
            (values, before), float64 = exactly(
                self._model, lambda: (self._likelihoods(few, PLAIN), self._likelihoods(shorter, PLAIN))
            )
        if np.any(np.abs(values[kept] - before) > _HINDSIGHT):
            raise ModelError(
                f"{self.identity} uses the words after a word to predict it, so it is not a causal model; "
                "score a masked model with --kind masked"
            )
        return few.scores(values).nll, float64

    def _error(self, many: Encoded, expected: Floats, method: str) -> float:
        """The largest error of a method on the first texts, in nats; infinite if it fails."""
        try:
            sums = many.scores(self._likelihoods(many, method)).nll
        except Exception:  # noqa: BLE001 - an architecture may refuse a tree with any error
            return np.inf
        return largest_difference(sums[: len(expected)], expected)

    def _say_why_slow(self, encoded: Encoded) -> None:
        """Print once which method replaces the tree, and how much slower it is."""
        if self._refused:
            times = len(encoded.ids) / max(1, build_tree(encoded.ids, encoded.starts).inner)
            self._notice(
                f"{self.identity} {self._refused}: its texts are scored in batches of equal length, "
                f"about {times:.1f} times slower"
            )
            self._refused = ""

    def _round(self, few: Encoded, plain: Floats) -> None:
        """Switch to the requested precision, and print its error."""
        dtype, device = self.identity.dtype, self._model.device
        self._model = self._load(dtype).to(device)
        off = np.abs(few.scores(self._likelihoods(few, self.method)).nll - plain)
        self._rounding = RoundingRecord(dtype=dtype, texts=len(off), largest=float(off.max()), mean=float(off.mean()))
        self._notice(str(self._rounding))


def _parts(spans: Spans) -> Iterator[tuple[Ints, Spans]]:
    """The rows of each part and its spans: all at once, or, of very many texts, those with shared beginnings together.

    A tree of very many texts would take much more memory than the texts.
    """
    if len(spans) <= _TEXTS_AT_ONCE:
        yield np.arange(len(spans)), spans
        return
    order = spans.order()
    for start in range(0, len(order), _TEXTS_AT_ONCE):
        rows = order[start : start + _TEXTS_AT_ONCE]
        yield rows, spans.take(rows)


def _refuse_unknown(loaded: LoadedModel, opening: Opening) -> None:
    """Raise ``ModelError`` if the tokenizer has a first token that was added to it and not to the model."""
    vocabulary = loaded.model.get_input_embeddings().weight.shape[0]
    for token in opening.tokens:
        if token >= vocabulary:
            name = loaded.tokenizer.convert_ids_to_tokens(token)
            raise ModelError(
                f"{loaded.identity.name} has no weights for the token {name!r}, which would stand before each text: "
                "name another with --first-token, or leave first tokens out with --first-token none"
            )


def _refusal(error: float, allowed: float) -> str:
    if not np.isfinite(error):
        return "cannot score texts as one prefix tree"
    return f"scores a prefix tree differently from single texts, by {error:.2g} nats (rounding: {allowed:.2g})"


def _default_size(model: Any) -> PackSize:
    slots = min(PackSize().slots, context_length(model))  # some architectures have no mask for more slots
    if model.device.type != "cpu":
        return PackSize(slots, _GPU_BATCH)
    return PackSize(slots, min(4096, max(256, _CPU_WIDTHS // model.get_input_embeddings().embedding_dim)))
