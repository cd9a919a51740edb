"""Write responses: of prompts of many lengths together, or in batches of equal length with transformers' ``generate``.

The second way is slower. It is for architectures that cannot write prompts of several
lengths together, for encoder-decoders and for beam search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.requests import Sameness
from holisticbias_eval.models.generation.sampling import Chooser, Words
from holisticbias_eval.models.loading.float64 import allowed_error, exactly, largest_difference
from holisticbias_eval.models.loading.memory import one_line_for_errors

if TYPE_CHECKING:
    from torch import Tensor

    from holisticbias_eval.models.generation.slots import SlotCache


TRIED = 8
BATCH = 64  # the size of the batch in which they are tried
_FAILED = "cannot write responses of several lengths together"
_WORTH_MOVING = 0.75  # when fewer of the rows go on, the ended ones are taken out of the cache


@dataclass(frozen=True, slots=True)
class TokenPrompts:
    """Prompts as token ids, and the seeds of their noise, shape ``[rows, steps]``."""

    ids: Sequence[Sequence[int]]
    seeds: Words

    def take(self, rows: Ints) -> TokenPrompts:
        """Select rows by position."""
        return TokenPrompts([self.ids[row] for row in rows], self.seeds[rows])


class Together:
    """Decodes rows of any lengths in one batch.

    The prompts are read as a prefix tree, every row has its own positions in the
    cache, and rows that have ended leave the batch.
    """

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._model = model
        self._steps = decoding.max_new_tokens
        self._ending = ending
        self._chooser = Chooser(model, decoding, ending)

    def write(self, prompts: TokenPrompts) -> list[list[int]]:
        """The new tokens of each row, with the token that ends it."""
        return [row.tokens for row in self.rows(prompts)]

    def rows(self, prompts: TokenPrompts, *, measure: bool = False) -> list[Row]:
        """The rows that are written, with their log-likelihoods if ``measure``."""
        import torch

        with torch.inference_mode():
            return self._rows(prompts, measure=measure)

    def _rows(self, prompts: TokenPrompts, *, measure: bool) -> list[Row]:
        import torch

        from holisticbias_eval.models.generation.slots import SlotCache, layer_count, read_prompts

        device = self._model.device
        cache = SlotCache(layer_count(self._model), max(map(len, prompts.ids)) + self._steps)
        read_prompts(self._model, prompts.ids, cache)
        rows = [Row(ids, seeds) for ids, seeds in zip(prompts.ids, prompts.seeds, strict=True)]
        here = rows
        token = torch.tensor([ids[-1] for ids in prompts.ids], device=device)
        slot = torch.tensor([len(ids) - 1 for ids in prompts.ids], device=device)
        for step in range(self._steps):
            scores = self._scores(token, slot, cache)
            chosen = self._choose(scores, step, here)
            if measure:
                _measure(here, scores, chosen)
            self._append(here, chosen)
            going = np.array([not row.ended for row in here])
            if not going.any():
                break
            token, slot = torch.from_numpy(chosen).to(device), slot + 1
            if going.mean() < _WORTH_MOVING:
                kept = torch.from_numpy(np.flatnonzero(going)).to(device)
                cache.batch_select_indices(kept)
                here, token, slot = [row for row in here if not row.ended], token[kept], slot[kept]
        return rows

    def _scores(self, token: Tensor, slot: Tensor, cache: SlotCache) -> Tensor:
        """The scores of every row's next token, after it reads ``token`` at position ``slot``."""
        import torch

        from holisticbias_eval.models.generation.slots import hidden_slots

        width = int(slot.max()) + 1
        cache.aim(torch.arange(len(slot), device=slot.device), slot, width)
        output = self._model(
            input_ids=token[:, None],
            position_ids=slot[:, None],
            attention_mask=hidden_slots(slot, width, self._model.dtype),
            past_key_values=cache,
            use_cache=True,
        )
        logits: Tensor = output.logits[:, -1]
        return logits

    def _choose(self, scores: Tensor, step: int, rows: Sequence[Row]) -> Ints:
        def alone(position: int) -> Tensor:
            row = rows[position]
            if row.ended:
                return scores[position]
            return read_alone(self._model, [*row.prompt, *row.tokens])

        seeds = np.array([row.seeds[step] for row in rows])
        return self._chooser.choose(scores, step, seeds, [row.tokens for row in rows], alone)

    def _append(self, rows: Sequence[Row], tokens: Ints) -> None:
        for row, token in zip(rows, tokens.tolist(), strict=True):
            if not row.ended:
                row.tokens.append(token)
                row.ended = self._ending.ends(row.tokens)


@dataclass(slots=True)
class Row:
    """A response that is being written: its tokens, whether it has ended, and its log-likelihood in nats."""

    prompt: Sequence[int]
    seeds: Words
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    log_likelihood: float = 0.0


def read_alone(model: Any, ids: Sequence[int]) -> Tensor:
    """The scores of the token after these ids, from one forward pass without a cache; shape ``[vocabulary]``."""
    import torch

    logits: Tensor = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0, -1]
    return logits


def _measure(rows: Sequence[Row], scores: Tensor, chosen: Ints) -> None:
    """Add the log-likelihoods of the chosen tokens to the rows that have not ended."""
    values = scores.double().log_softmax(1).cpu().numpy()[np.arange(len(rows)), chosen]
    for row, value in zip(rows, values.tolist(), strict=True):
        if not row.ended:
            row.log_likelihood += value


Write = Callable[[TokenPrompts], list[list[int]]]


def spread_rows(prompts: TokenPrompts, count: int) -> Ints:
    """Rows spread over all lengths, the shortest and the longest included, without repetition."""
    lengths = [len(ids) for ids in prompts.ids]
    order = np.argsort(lengths, kind="stable")
    return np.unique(order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(np.int64)])


def why_not_together(together: Together, model: Any, prompts: TokenPrompts, name: str) -> str | None:
    """The reason not to write these prompts in one batch; None if the model can do it.

    The likelihood of every response, as computed while it is written in the
    batch, is compared with one forward pass over prompt and response alone: the
    difference must not exceed what rounding explains, which a pass in float64 shows.
    """
    try:
        rows = together.rows(prompts, measure=True)
    except Exception:  # noqa: BLE001 - an architecture may refuse masks and positions with any error
        return _FAILED
    responses = [row.tokens for row in rows]
    with one_line_for_errors(name):
        plain = likelihoods_alone(model, prompts.ids, responses)
        reference, float64 = exactly(model, lambda: likelihoods_alone(model, prompts.ids, responses))
    error = largest_difference(np.array([row.log_likelihood for row in rows]), reference)
    allowed = allowed_error(plain, reference, float64=float64)
    if error <= allowed:
        return None
    return f"gives other likelihoods in one batch than alone, by {error:.2g} nats (rounding: {allowed:.2g})"


def likelihoods_alone(model: Any, prompts: Sequence[Sequence[int]], responses: Sequence[Sequence[int]]) -> Floats:
    """The log-likelihood of every response after its prompt in nats, each from one forward pass without a cache."""
    import torch

    values = np.zeros(len(prompts))
    for row, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        ids = torch.tensor([[*prompt, *response]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[0, len(prompt) - 1 : -1]
        chosen = logits.double().log_softmax(1).gather(1, ids[0, len(prompt) :, None])
        values[row] = float(chosen.sum())
    return values


def same_in_batch(write: Write, few: TokenPrompts, batch: TokenPrompts) -> Sameness:
    """How many of a few responses are the same alone and in a batch, of which they are the first rows."""
    together = write(batch)
    same = sum(write(few.take(np.array([row])))[0] == together[row] for row in range(len(few.ids)))
    return Sameness(len(few.ids), same)
