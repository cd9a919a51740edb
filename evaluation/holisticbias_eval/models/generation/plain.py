"""Responses by the generate method of transformers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.models.generation.decoding import Decoding, Ending
from holisticbias_eval.models.generation.sampling import Chooser
from holisticbias_eval.models.generation.writing import TokenPrompts, read_alone

if TYPE_CHECKING:
    from torch import Tensor


class Plain:
    """Decodes batches of prompts of one length with ``generate``."""

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._model = model
        self._is_beam = decoding.method == "beam"
        self._chooser = Chooser(model, decoding, ending)
        self._settings = _settings(model, decoding, ending)

    def write(self, prompts: TokenPrompts) -> list[list[int]]:
        """The new tokens of each row; after the token that ends it they have no meaning.

        All prompts have the same number of tokens, so that none needs padding.
        """
        import torch

        inputs = torch.tensor(np.array(prompts.ids), device=self._model.device)
        chooser = _Processor(self._chooser, self._model, prompts, is_beam=self._is_beam)
        with torch.inference_mode(), _settings_of(self._model, self._settings):
            tokens = self._model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                logits_processor=[chooser],
            )
        return [row[chooser.start :] for row in tokens.tolist()]


class _Processor:
    """Restricts the scores to what a decoding allows; without beams, to the one token that it chooses."""

    def __init__(self, chooser: Chooser, model: Any, prompts: TokenPrompts, *, is_beam: bool) -> None:
        self._chooser = chooser
        self._model = model
        self._prompts = prompts
        self._is_beam = is_beam
        self.start = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        import torch

        self.start = self.start or input_ids.shape[1]
        step = input_ids.shape[1] - self.start
        responses = input_ids[:, self.start :].tolist()
        if self._is_beam:
            return self._chooser.restrict(scores, step, responses)
        token = self._chooser.choose(
            scores, step, self._prompts.seeds[:, step], responses, partial(self._alone, input_ids)
        )
        only = torch.full_like(scores, float("-inf"))
        return only.scatter_(1, torch.from_numpy(token)[:, None].to(scores.device), 0.0)

    def _alone(self, input_ids: Tensor, row: int) -> Tensor:
        """The scores of a row's next token, from one forward pass over the row alone."""
        import torch

        if not self._model.config.is_encoder_decoder:
            return read_alone(self._model, input_ids[row].tolist())
        prompt = torch.tensor([self._prompts.ids[row]], device=input_ids.device)
        output = self._model(input_ids=prompt, decoder_input_ids=input_ids[row : row + 1], use_cache=False)
        logits: Tensor = output.logits[0, -1]
        return logits


def _settings(model: Any, decoding: Decoding, ending: Ending) -> Any:
    """The settings of ``generate``: those of the decoding, and of the model's own only its tokens."""
    from transformers import GenerationConfig

    of_model, config = model.generation_config, model.config.get_text_config(decoder=True)
    start = getattr(config, "decoder_start_token_id", None)
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
        decoder_start_token_id=start if of_model.decoder_start_token_id is None else of_model.decoder_start_token_id,
        forced_bos_token_id=of_model.forced_bos_token_id,
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
