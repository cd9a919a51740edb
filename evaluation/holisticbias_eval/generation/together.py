"""Write the responses of many prompts together: one forward pass for the next token of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.generation.decoding import Decoding
from holisticbias_eval.generation.ending import Ending
from holisticbias_eval.generation.ngrams import RepeatedNgrams
from holisticbias_eval.generation.prompt_tree import read_prompts
from holisticbias_eval.generation.sampling import choose_tokens
from holisticbias_eval.generation.slots import SlotCache, hidden_slots, layer_count

_WORTH_MOVING = 0.75  # when fewer of the rows go on, the ended ones are taken out of the cache


@dataclass(frozen=True, slots=True)
class Prompts:
    """Prompts as token ids, and their random numbers, shape ``[rows, steps]``."""

    ids: Sequence[Sequence[int]]
    uniform: Floats

    def take(self, rows: Ints) -> Prompts:
        """Select rows by position."""
        return Prompts([self.ids[row] for row in rows], self.uniform[rows])


class Together:
    """Decodes rows of any lengths in one batch.

    The prompts are read as a prefix tree, every row has its own positions in the
    cache, and rows that have ended leave the batch.
    """

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._model = model
        self._decoding = decoding
        self._ending = ending

    def write(self, prompts: Prompts) -> list[list[int]]:
        """The new tokens of each row, with the token that ends it."""
        import torch

        with torch.inference_mode():
            return self._write(prompts)

    def _write(self, prompts: Prompts) -> list[list[int]]:
        import torch

        device, steps = self._model.device, self._decoding.max_new_tokens
        cache = SlotCache(layer_count(self._model), max(map(len, prompts.ids)) + steps)
        read_prompts(self._model, prompts.ids, cache)
        rows = [_Row(self._decoding) for _ in prompts.ids]
        uniform = torch.from_numpy(prompts.uniform).to(device)
        token = torch.tensor([ids[-1] for ids in prompts.ids], device=device)
        slot = torch.tensor([len(ids) - 1 for ids in prompts.ids], device=device)
        batch = np.arange(len(rows))
        for step in range(steps):
            scores = self._scores(token, slot, cache)
            self._restrict(scores, [rows[row] for row in batch], step)
            token = choose_tokens(scores, self._decoding, uniform[batch, step])
            check_finite(scores, token)
            self._append([rows[row] for row in batch], token.tolist())
            going = np.array([not rows[row].ended for row in batch])
            if not going.any():
                break
            slot = slot + 1
            if going.mean() < _WORTH_MOVING:
                kept = torch.from_numpy(np.flatnonzero(going)).to(device)
                cache.keep(kept)
                batch, token, slot = batch[going], token[kept], slot[kept]
        return [row.tokens for row in rows]

    def _scores(self, token: Any, slot: Any, cache: SlotCache) -> Any:
        """The scores of every row's next token in float32, after it reads ``token`` at position ``slot``."""
        import torch

        width = int(slot.max()) + 1
        cache.aim(torch.arange(len(slot), device=slot.device), slot, width)
        output = self._model(
            input_ids=token[:, None],
            position_ids=slot[:, None],
            attention_mask=hidden_slots(slot, width, self._model.dtype),
            past_key_values=cache,
            use_cache=True,
        )
        return output.logits[:, -1].float()

    def _restrict(self, scores: Any, rows: Sequence[_Row], step: int) -> None:
        self._ending.mask(scores, step)
        for position, row in enumerate(rows):
            blocked = row.blocked()
            if blocked:
                scores[position, blocked] = float("-inf")

    def _append(self, rows: Sequence[_Row], tokens: Sequence[int]) -> None:
        for row, token in zip(rows, tokens, strict=True):
            if not row.ended:
                row.append(token)
                row.ended = self._ending.ends(row.tokens)


class _Row:
    """A response that is being written."""

    def __init__(self, decoding: Decoding) -> None:
        self.tokens: list[int] = []
        self.ended = False
        self._seen = RepeatedNgrams(decoding.blocked_ngram) if decoding.blocked_ngram else None

    def append(self, token: int) -> None:
        """Add a token."""
        self.tokens.append(token)
        if self._seen:
            self._seen.add(token)

    def blocked(self) -> list[int]:
        """The tokens that would repeat a sequence of the response."""
        return sorted(self._seen.blocked()) if self._seen else []


def check_finite(scores: Any, token: Any) -> None:
    """Raise ``ModelError`` if a token was chosen without a finite score."""
    if not bool(scores.gather(1, token[:, None]).isfinite().all()):
        raise ModelError(
            "the model gives no finite score for a next token: its weights or its precision are damaged, "
            "or the decoding blocks every token"
        )
