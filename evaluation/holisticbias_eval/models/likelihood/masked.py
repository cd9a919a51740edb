"""Score spans with a masked language model: pseudo-log-likelihoods, or the published score at one mask."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from holisticbias_eval.arrays import Floats, Int32s, Ints, Tensor
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.likelihood.batches import in_equal_batches
from holisticbias_eval.models.likelihood.scorer import MaskedInputs, Scorer, Scores, Work
from holisticbias_eval.models.likelihood.spans import Spans, TextWindow
from holisticbias_eval.models.likelihood.tokens import Encoded, TextEncoder
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.running import allowed_error, exactly, largest_difference, one_line_for_errors
from holisticbias_eval.models.loading.tokenizers import context_length, mask_of, special_tokens
from holisticbias_eval.models.model import PairScorer
from holisticbias_eval.models.sequences import bounds, distinct_sequences, evenly, ranges
from holisticbias_eval.progress import Notice, Progress, in_rows

_SLOTS = 4096


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Distinct masked inputs, and the input that answers each scored token.

    ``ids`` and ``starts`` are the inputs, one after the other; ``mask``, shape
    ``[inputs]``, is the position of the scored mask in each input. ``answer``,
    shape ``[scored tokens]``, is the input of each scored token, ``target`` its id
    and ``place`` its position among the tokens of the texts.
    """

    ids: Int32s
    starts: Ints
    mask: Ints
    answer: Ints
    target: Int32s
    place: Ints


class MaskedScorer(Scorer):
    """Scores pseudo-log-likelihoods: the log-likelihoods of a span's tokens, each masked in turn, summed.

    ``original`` masks one token at a time (Salazar et al. 2020);
    ``within_word_l2r`` also masks the rest of its word, so that the pieces of a
    long word do not reveal each other (Kauf and Ivanova 2023). Texts that differ
    only in the masked token are one input, and the head is computed at the masks
    only.
    """

    def __init__(self, loaded: LoadedModel, notice: Notice, variant: str = "original") -> None:
        self._model = loaded.model
        self._encoder = TextEncoder(loaded.tokenizer)
        self._mask = mask_of(loaded.tokenizer, loaded.identity.name)
        self._around = special_tokens(loaded.tokenizer)
        self._variant = variant
        self._notice = notice
        self._head: str = ""
        self._counts = MaskedInputs(asked=0, run=0)
        settings = {"scorer": "masked", "pll": variant, **loaded.settings, **self._encoder.settings()}
        super().__init__(loaded.identity, "masked", settings)

    def score(self, spans: Spans, progress: Progress) -> Scores:
        """Sums of negative pseudo-log-likelihoods in nats, and numbers of tokens and bytes; see ``Scores``."""
        encoded, inputs = self._inputs(spans)
        self._choose(inputs)
        advance = in_rows(progress, len(spans), len(inputs.mask))
        values = self._run(inputs, self._head, advance)
        nll = np.zeros(len(encoded.ids))
        nll[inputs.place] = values
        asked, run = self._counts.asked + len(inputs.answer), self._counts.run + len(inputs.mask)
        self._counts = MaskedInputs(asked=asked, run=run)
        return encoded.scores(nll)

    def input_counts(self) -> MaskedInputs:
        """The masked inputs so far."""
        return self._counts

    def work(self, spans: Spans) -> Work:
        """Count the tokens of one masked input per scored token, and those of the distinct inputs."""
        encoded, inputs = self._inputs(spans)
        row = np.repeat(np.arange(len(encoded.lengths)), encoded.scored)
        return Work(int((encoded.lengths[row] + len(self._around[0]) + len(self._around[1])).sum()), len(inputs.ids))

    def windows(self, texts: Sequence[str]) -> Sequence[tuple[TextWindow, ...]]:
        """Windows as long as the model can read between its special tokens."""
        added = sum(map(len, self._around))
        return self._encoder.windows(texts, context_length(self._model) - added)

    def _inputs(self, spans: Spans) -> tuple[Encoded, _Inputs]:
        encoded = self._encoder.encode(spans, first_is_scored=True, words=self._variant != "original")
        if self._variant != "original" and encoded.word is None:
            raise ModelError("the tokenizer does not mark words: use the original pseudo-log-likelihood")
        head, tail = (np.array(side, np.int32) for side in self._around)
        encoded.refuse_long(self._model, spans, added=len(head) + len(tail))
        row = np.repeat(np.arange(len(encoded.lengths)), encoded.scored)
        place = ranges(encoded.first, encoded.scored)
        length = encoded.lengths[row] + len(head) + len(tail)
        starts = bounds(length)
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], length)
        source = np.repeat(encoded.starts[row], length) + within - len(head)
        text = (within >= len(head)) & (within < np.repeat(length, length) - len(tail))
        padded = np.append(encoded.ids, 0)
        ids = padded[np.where(text, source, len(encoded.ids))].astype(np.int32)
        for i, token in enumerate(head):
            ids[starts[:-1] + i] = token
        for i, token in enumerate(tail):
            ids[starts[1:] - len(tail) + i] = token
        hidden_first = np.repeat(place, length)
        hidden = source == hidden_first
        if self._variant != "original" and encoded.word is not None:
            word = np.append(encoded.word, -1)[np.where(text, source, len(encoded.ids))]
            hidden |= (word == np.repeat(encoded.word[place], length)) & (source > hidden_first)
        ids[text & hidden] = self._mask
        mask = place - encoded.starts[row] + len(head)
        return encoded, _merge(ids, starts, mask, encoded.ids[place], place)

    def _choose(self, inputs: _Inputs) -> None:
        """Test on a few inputs whether the model's head can be computed at the masks only."""
        if self._head:
            return
        few = _take(inputs, evenly(len(inputs.mask), 8))
        every = partial(self._run, few, "all positions", lambda _: None)
        with one_line_for_errors(str(self.identity)):
            plain = every()
            reference, float64 = (plain, False) if self.roughly else exactly(self._model, every)
        allowed = allowed_error(plain, reference, float64=float64)
        try:
            values = self._run(few, "masks only", lambda _: None)
            self._head = "masks only" if largest_difference(values, reference) <= allowed else "all positions"
        except (AttributeError, TypeError, RuntimeError, ValueError, IndexError):
            self._head = "all positions"

    def _run(self, inputs: _Inputs, head: str, progress: Progress) -> Floats:
        """The negative log-likelihood of every scored token."""
        import torch

        lengths = np.diff(inputs.starts)
        by_input = np.argsort(inputs.answer, kind="stable")
        first = np.searchsorted(inputs.answer[by_input], np.arange(len(lengths) + 1))
        nll = np.zeros(len(inputs.answer))

        def run(rows: Ints) -> None:
            places = inputs.starts[rows][:, None] + np.arange(lengths[rows[0]])
            ids = torch.from_numpy(inputs.ids[places].astype(np.int64))
            with torch.inference_mode():
                logits = self._logits(ids.to(self._model.device), torch.from_numpy(inputs.mask[rows]), head)
                counts = np.diff(first)[rows]
                answered = by_input[ranges(first[rows], counts)]
                owner = torch.from_numpy(np.repeat(np.arange(len(rows)), counts)).to(logits.device)
                target = torch.from_numpy(inputs.target[answered].astype(np.int64)).to(logits.device)
                nll[answered] = (logits.logsumexp(1)[owner] - logits[owner, target]).double().cpu().numpy()
            progress(len(rows))

        in_equal_batches(lengths, _SLOTS, run, self._notice)
        return nll

    def _logits(self, ids: Tensor, mask: Tensor, head: str) -> Tensor:
        """The logits at the masks, shape ``[inputs, vocabulary]``."""
        import torch

        model: Any = self._model
        rows = torch.arange(len(ids), device=ids.device)
        mask = mask.to(ids.device)
        inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if head == "all positions":
            logits: Tensor = model(**inputs).logits[rows, mask].float()
            return logits

        def keep_masks(_body: Any, _given: Any, states: Any) -> Any:
            states.last_hidden_state = states.last_hidden_state[rows, mask][:, None]
            return states

        hook = model.base_model.register_forward_hook(keep_masks)
        try:
            at_masks: Tensor = model(**inputs).logits[:, 0].float()
        finally:
            hook.remove()
        return at_masks


def _merge(ids: Int32s, starts: Ints, mask: Ints, target: Int32s, place: Ints) -> _Inputs:
    """Merge equal inputs whose scored mask is at the same position."""
    key = np.insert(ids, starts[:-1], mask.astype(np.int32)).astype(np.int32)
    distinct, answer = distinct_sequences(key, starts + np.arange(len(starts)))
    lengths = np.diff(starts)[distinct]
    kept = ranges(starts[:-1][distinct], lengths)
    return _Inputs(ids[kept], bounds(lengths), mask[distinct], answer, target, place)


def _take(inputs: _Inputs, rows: Ints) -> _Inputs:
    """Select inputs by position, each with one of its answers."""
    lengths = np.diff(inputs.starts)[rows]
    answers = np.array([np.flatnonzero(inputs.answer == row)[0] for row in rows], np.int64)
    return _Inputs(
        inputs.ids[ranges(inputs.starts[rows], lengths)],
        bounds(lengths),
        inputs.mask[rows],
        np.arange(len(rows)),
        inputs.target[answers],
        inputs.place[answers],
    )


class OneMaskScorer(PairScorer):
    """Scores terms at the first mask of a template, as the published code does.

    A term of several pieces has one mask, and its score is the mean of the logits of its pieces there. Logits of one
    mask share their normalisation, so the comparison of two terms is that of their mean log-probabilities.
    """

    keys = ("template", "term", "other_term")
    block = 4096

    def __init__(self, loaded: LoadedModel, notice: Notice) -> None:
        self._mask_id = mask_of(loaded.tokenizer, loaded.identity.name)
        self._loaded, self._notice = loaded, notice
        self.mask: str = loaded.tokenizer.mask_token
        super().__init__(loaded.identity, "masked", {"scorer": "one mask", **loaded.settings})

    def score(self, texts: pa.Table, progress: Progress) -> Floats:
        """The scores of both terms of each template, NaN if a term has no pieces: shape ``[templates, 2]``.

        Raises ``ModelError`` if a template is too long for the model or has no mask.
        """
        import torch

        templates, *terms = (texts[name].to_pylist() for name in self.keys)
        tokenizer = self._loaded.tokenizer
        ids = [list(tokenizer(template)["input_ids"]) for template in templates]
        pieces = [
            [list(tokenizer(t, add_special_tokens=False)["input_ids"]) for t in pair]
            for pair in zip(*terms, strict=True)
        ]
        self._refuse(ids, templates)
        scores = np.full((len(ids), 2), np.nan)
        model = self._loaded.model

        def run(rows: Ints) -> None:
            with torch.inference_mode():
                logits = model(torch.tensor([ids[i] for i in rows], device=model.device)).logits
            for at, row in enumerate(rows.tolist()):
                values = logits[at, ids[row].index(self._mask_id)].double().cpu().numpy()
                for side in (0, 1):
                    if pieces[row][side]:
                        scores[row, side] = values[pieces[row][side]].mean()
            progress(len(rows))

        in_equal_batches(np.array([len(row) for row in ids], np.int64), _SLOTS, run, self._notice)
        return scores

    def _refuse(self, ids: Sequence[Sequence[int]], templates: Sequence[str]) -> None:
        longest = context_length(self._loaded.model)
        for row, template in zip(ids, templates, strict=True):
            if len(row) > longest:
                raise ModelError(f"the sentence {template[:80]!r} has {len(row):,} tokens; the model reads {longest:,}")
            if self._mask_id not in row:
                raise ModelError(
                    f"the sentence {template[:80]!r} has no place for its term: check the columns of terms"
                )
