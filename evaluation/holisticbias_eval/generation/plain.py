"""Write responses with transformers' own ``generate``, in batches of equal length.

This is the slower way, for architectures that cannot write prompts of several
lengths together, and the way of encoder-decoders and of beam search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.generation.decoding import Decoding
from holisticbias_eval.generation.ending import Ending
from holisticbias_eval.generation.ngrams import blocked_after
from holisticbias_eval.generation.sampling import choose_tokens
from holisticbias_eval.generation.together import Prompts, check_finite

if TYPE_CHECKING:
    from torch import Tensor


class Plain:
    """Decodes batches of prompts of one length with ``generate``."""

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._model = model
        self._decoding = decoding
        self._ending = ending
        self._settings = _settings(model, decoding, ending)

    def write(self, prompts: Prompts) -> list[list[int]]:
        """The new tokens of each row; after the token that ends it they have no meaning.

        All prompts have the same number of tokens, so that none needs padding.
        """
        import torch

        inputs = torch.tensor(np.array(prompts.ids), device=self._model.device)
        chooser = _Chooser(self._decoding, self._ending, torch.from_numpy(prompts.uniform).to(inputs.device))
        with torch.inference_mode():
            tokens = self._model.generate(
                inputs,
                attention_mask=torch.ones_like(inputs),
                generation_config=self._settings,
                logits_processor=[chooser],
            )
        return [row[chooser.start :] for row in tokens.tolist()]


class _Chooser:
    """Restricts the scores to what a decoding allows; without beams, to the one token that it chooses."""

    def __init__(self, decoding: Decoding, ending: Ending, uniform: Tensor) -> None:
        self._decoding = decoding
        self._ending = ending
        self._uniform = uniform
        self.start = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        self.start = self.start or input_ids.shape[1]
        step = input_ids.shape[1] - self.start
        scores = scores.float().clone()
        self._ending.mask(scores, step)
        if self._decoding.blocked_ngram:
            _block(scores, input_ids[:, self.start :].tolist(), self._decoding.blocked_ngram)
        if self._decoding.method == "beam":
            return scores
        token = choose_tokens(scores, self._decoding, self._uniform[:, step])
        check_finite(scores, token)
        return scores.new_full(scores.shape, float("-inf")).scatter_(1, token[:, None], 0.0)


def _block(scores: Tensor, responses: Sequence[Sequence[int]], length: int) -> None:
    for row, response in enumerate(responses):
        scores[row, sorted(blocked_after(response, length))] = float("-inf")


def _settings(model: Any, decoding: Decoding, ending: Ending) -> Any:
    """The settings of ``generate``: those of the decoding, and of the model's own only its tokens.

    They replace the model's settings, because ``generate`` takes what is missing in
    given settings from there, such as blocked sequences and a number of beams.
    """
    from transformers import GenerationConfig

    own, config = model.generation_config, model.config.get_text_config(decoder=True)
    start = getattr(config, "decoder_start_token_id", None)
    ends = sorted(ending.tokens)
    pad = own.pad_token_id if own.pad_token_id is not None else next(iter(ends), 0)
    settings = GenerationConfig(
        do_sample=False,
        num_beams=decoding.beams or 1,
        length_penalty=decoding.length_penalty,
        max_new_tokens=decoding.max_new_tokens,
        eos_token_id=ends or None,
        pad_token_id=pad,
        bos_token_id=own.bos_token_id,
        decoder_start_token_id=start if own.decoder_start_token_id is None else own.decoder_start_token_id,
        forced_bos_token_id=own.forced_bos_token_id,
    )
    model.generation_config = settings
    return settings
