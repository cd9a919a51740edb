"""Write responses: of prompts of many lengths together, or in batches of equal length with transformers' ``generate``.

The second way is slower. It is for architectures that cannot write prompts of several
lengths together, for encoder-decoders and for beam search.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from holisticbias_eval.arrays import Floats, Ints, Tensor
from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.sampling import Chooser, Words
from holisticbias_eval.models.generation.slots import SlotCache, hidden_slots, layer_count, read_prompts, with_cache
from holisticbias_eval.models.loading.running import allowed_error, exactly, largest_difference, one_line_for_errors
from holisticbias_eval.models.loading.tokenizers import decoder_start
from holisticbias_eval.models.sequences import equal_groups

_WORTH_MOVING = 0.75  # when fewer of the rows go on, the ended ones are taken out of the cache


@dataclass(frozen=True, slots=True)
class TokenPrompts:
    """Prompts as token ids, and the seeds of their noise, shape ``[rows, steps]``."""

    ids: Sequence[Sequence[int]]
    seeds: Words

    def take(self, rows: Ints) -> "TokenPrompts":
        """Select rows by position."""
        return TokenPrompts([self.ids[row] for row in rows], self.seeds[rows])

    @property
    def lengths(self) -> Ints:
        """The number of tokens of each prompt."""
        return np.array([len(ids) for ids in self.ids], np.int64)


@dataclass(slots=True)
class Row:
    """A response that is being written: its tokens, whether it has ended, and its log-likelihood in nats."""

    prompt: Sequence[int]
    seeds: Words
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    log_likelihood: float = 0.0


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
        rows = here = [Row(ids, seeds) for ids, seeds in zip(prompts.ids, prompts.seeds, strict=True)]
        with torch.inference_mode():
            device = self._model.device
            cache = SlotCache(layer_count(self._model), max(map(len, prompts.ids)) + self._steps)
            read_prompts(self._model, prompts.ids, cache)
            token = torch.tensor([ids[-1] for ids in prompts.ids], device=device)
            slot = torch.tensor([len(ids) - 1 for ids in prompts.ids], device=device)
            for step in range(self._steps):
                self._step(here, step, self._scores(token, slot, cache), measure=measure)
                going = np.array([not row.ended for row in here])
                if not going.any():
                    break
                token, slot = torch.tensor([row.tokens[-1] for row in here], device=device), slot + 1
                if going.mean() < _WORTH_MOVING:
                    kept = torch.from_numpy(np.flatnonzero(going)).to(device)
                    cache.batch_select_indices(kept)
                    here, token, slot = [row for row in here if not row.ended], token[kept], slot[kept]
        return rows

    def _scores(self, token: Tensor, slot: Tensor, cache: SlotCache) -> Tensor:
        """The scores of every row's next token, after it reads ``token`` at position ``slot``."""
        width = int(slot.max()) + 1
        cache.aim(torch.arange(len(slot), device=slot.device), slot, width)
        output = self._model(
            input_ids=token[:, None],
            position_ids=slot[:, None],
            attention_mask=hidden_slots(slot, width, self._model.dtype),
            **with_cache(self._model, cache),
        )
        logits: Tensor = output.logits[:, -1]
        return logits

    def _step(self, rows: Sequence[Row], step: int, scores: Tensor, *, measure: bool) -> None:
        """Add the next token to each row that has not ended."""

        def alone(position: int) -> Tensor:
            row = rows[position]
            return scores[position] if row.ended else read_alone(self._model, [*row.prompt, *row.tokens])

        seeds = np.array([row.seeds[step] for row in rows])
        chosen = self._chooser.choose(scores, step, seeds, [row.tokens for row in rows], alone)
        likelihoods = scores.double().log_softmax(1).cpu().numpy() if measure else None
        for i, (row, token) in enumerate(zip(rows, chosen.tolist(), strict=True)):
            if not row.ended:
                row.log_likelihood += 0.0 if likelihoods is None else likelihoods[i, token]
                row.tokens.append(token)
                row.ended = self._ending.ends(row.tokens)


def read_alone(model: Any, ids: Sequence[int]) -> Tensor:
    """The scores of the token after these ids, from one forward pass without a cache; shape ``[vocabulary]``."""
    logits: Tensor = model(input_ids=torch.tensor([ids], device=model.device), use_cache=False).logits[0, -1]
    return logits


def why_not_together(together: Together, model: Any, prompts: TokenPrompts, name: str) -> str | None:
    """The reason not to write these prompts in one batch; None if the model can do it.

    The likelihood of every response, as computed while it is written in the
    batch, is compared with one forward pass over prompt and response alone: the
    difference must not exceed what rounding explains, which a pass in float64 shows.
    """
    try:
        rows = together.rows(prompts, measure=True)
    except Exception:  # noqa: BLE001 - an architecture may refuse masks and positions with any error
        return "cannot write responses of several lengths together"
    with one_line_for_errors(name):
        plain = _likelihoods_alone(model, rows)
        reference, float64 = exactly(model, lambda: _likelihoods_alone(model, rows))
    error = largest_difference(np.array([row.log_likelihood for row in rows]), reference)
    allowed = allowed_error(plain, reference, float64=float64)
    if error <= allowed:
        return None
    return f"gives other likelihoods in one batch than alone, by {error:.2g} nats (rounding: {allowed:.2g})"


def _likelihoods_alone(model: Any, rows: Sequence[Row]) -> Floats:
    """The log-likelihood of every response after its prompt in nats, each from one forward pass without a cache."""
    values = np.zeros(len(rows))
    for i, row in enumerate(rows):
        ids = torch.tensor([[*row.prompt, *row.tokens]], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, use_cache=False).logits[0, len(row.prompt) - 1 : -1]
        values[i] = float(logits.double().log_softmax(1).gather(1, ids[0, len(row.prompt) :, None]).sum())
    return values


class Plain:
    """Decodes batches of prompts of one length with ``generate``, so that none needs padding."""

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._model = model
        self._is_beam = decoding.method == "beam"
        self._ending = ending
        self._chooser = Chooser(model, decoding, ending)
        self._settings = _settings(model, decoding, ending)

    def write(self, prompts: TokenPrompts) -> list[list[int]]:
        """The new tokens of each row, with the token that ends it."""
        tokens: list[list[int]] = [[] for _ in prompts.ids]
        for rows in equal_groups(prompts.lengths):
            for row, written in zip(rows.tolist(), self._write(prompts.take(rows)), strict=True):
                tokens[row] = self._ending.cut(written)
        return tokens

    def _write(self, prompts: TokenPrompts) -> list[list[int]]:
        inputs = torch.tensor(np.array(prompts.ids), device=self._model.device)
        start = 1 if self._model.config.is_encoder_decoder else inputs.shape[1]
        process = partial(self._restrict, prompts, start)
        with torch.inference_mode(), _settings_of(self._model, self._settings):
            tokens = self._model.generate(inputs, attention_mask=torch.ones_like(inputs), logits_processor=[process])
        return [row[start:] for row in tokens.tolist()]

    def _restrict(self, prompts: TokenPrompts, start: int, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Restrict the scores to what a decoding allows; without beams, to the one token that it chooses."""
        step = input_ids.shape[1] - start
        responses = input_ids[:, start:].tolist()
        if self._is_beam:
            return self._chooser.restrict(scores, step, responses)

        def alone(row: int) -> Tensor:
            if not self._model.config.is_encoder_decoder:
                return read_alone(self._model, input_ids[row].tolist())
            prompt = torch.tensor([prompts.ids[row]], device=input_ids.device)
            output = self._model(input_ids=prompt, decoder_input_ids=input_ids[row : row + 1], use_cache=False)
            logits: Tensor = output.logits[0, -1]
            return logits

        token = self._chooser.choose(scores, step, prompts.seeds[:, step], responses, alone)
        only = torch.full_like(scores, float("-inf"))
        return only.scatter_(1, torch.from_numpy(token)[:, None].to(scores.device), 0.0)


def _settings(model: Any, decoding: Decoding, ending: Ending) -> Any:
    """The settings of ``generate``: those of the decoding, and of the model's own only its tokens."""
    from transformers import GenerationConfig

    of_model = model.generation_config
    ends = sorted(ending.tokens)
    pad = of_model.pad_token_id if of_model.pad_token_id is not None else next(iter(ends), 0)
    return GenerationConfig(
        do_sample=False,
        num_beams=decoding.beams or 1,
        length_penalty=decoding.length_penalty,
        max_new_tokens=decoding.max_new_tokens,
        eos_token_id=ends or None,
        pad_token_id=pad,
        bos_token_id=of_model.bos_token_id,
        decoder_start_token_id=decoder_start(model),
        forced_bos_token_id=ending.forced,
    )


@contextmanager
def _settings_of(model: Any, settings: Any) -> Iterator[None]:
    """Give a model these settings within the block.

    Settings that are passed to ``generate`` would be filled up with the model's own, such as a number of beams.
    """
    before, model.generation_config = model.generation_config, settings
    try:
        yield
    finally:
        model.generation_config = before
