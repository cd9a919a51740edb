"""Choose the next tokens of a batch such that they do not depend on the batch.

The same scores, computed in another batch, differ by rounding. Where a choice is
so close that rounding could change it, the row is read again alone, and the
scores of this reading decide, in every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holisticbias_eval.arrays import Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.generation.decoding import Decoding
from holisticbias_eval.models.generation.ending import Ending
from holisticbias_eval.models.generation.noise import Words
from holisticbias_eval.models.generation.sampling import choose_tokens

if TYPE_CHECKING:
    from torch import Tensor


MARGIN = 1e-3  # rounding changes scores in float32 by less, a few times 1e-5 in a trained model

Alone = Callable[[int], Any]
"""The scores of the next token of the row at a position of the batch, read alone; shape ``[vocabulary]``."""


class Chooser:
    """Applies a decoding and the limits of a response to the scores of a batch."""

    def __init__(self, model: Any, decoding: Decoding, ending: Ending) -> None:
        self._decoding = decoding
        self._ending = ending
        self._margin = MARGIN if model.dtype.itemsize >= 4 else 0.0  # rounded weights would need too wide a margin

    def restrict(self, scores: Tensor, step: int, responses: Sequence[Sequence[int]]) -> Tensor:
        """A float32 copy of the scores with -inf for every token that may not come next."""
        scores = scores.float().clone()
        self._ending.mask(scores, step)
        if self._decoding.blocked_ngram:
            for row, response in enumerate(responses):
                scores[row, sorted(blocked_after(response, self._decoding.blocked_ngram))] = float("-inf")
        return scores

    def choose(self, scores: Tensor, step: int, seeds: Words, responses: Sequence[Sequence[int]], alone: Alone) -> Ints:
        """The next token of each row, after the tokens ``responses``; raises ``ModelError`` without finite scores."""
        restricted = self.restrict(scores, step, responses)
        choice = choose_tokens(restricted, self._decoding, seeds, self._margin)
        chosen = choice.token.copy()
        check_finite(restricted, chosen)
        if self._margin:
            for row in np.flatnonzero(~choice.sure).tolist():
                again = self.restrict(alone(row)[None], step, [responses[row]])
                chosen[row] = choose_tokens(again, self._decoding, seeds[row : row + 1]).token[0]
        return chosen


def check_finite(scores: Tensor, token: Ints) -> None:
    """Raise ``ModelError`` if a token was chosen whose score is not finite."""
    import torch

    if not bool(scores.gather(1, torch.from_numpy(token)[:, None].to(scores.device)).isfinite().all()):
        raise ModelError(
            "the model gives no finite score for a next token: its weights or its precision are damaged, "
            "or the decoding blocks every token"
        )


def blocked_after(tokens: Sequence[int], length: int) -> set[int]:
    """The tokens that would repeat a sequence of ``length`` tokens if they followed ``tokens``."""
    start = len(tokens) - length + 1
    if start <= 0:
        return set()
    last = tuple(tokens[start:])
    return {tokens[i + length - 1] for i in range(start) if tuple(tokens[i : i + length - 1]) == last}
