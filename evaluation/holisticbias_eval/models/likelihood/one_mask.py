"""The published score of masked models: the mean logit of a term's pieces at one mask (Kocielnik et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holisticbias_eval.arrays import Floats, Ints
from holisticbias_eval.errors import ModelError
from holisticbias_eval.models.loading.load import LoadedModel
from holisticbias_eval.models.loading.memory import in_batches
from holisticbias_eval.models.loading.tokenizers import context_length, mask_of, tokenizer_digest
from holisticbias_eval.models.model import ModelIdentity
from holisticbias_eval.models.sequences import equal_groups
from holisticbias_eval.progress import Notice, Progress

_SLOTS = 4096


class OneMaskScorer:
    """Scores terms at the first mask of a template, as the published code does.

    A term of several pieces has one mask, and its score is the mean of the logits of its pieces there. Logits of one
    mask share their normalisation, so the comparison of two terms is that of their mean log-probabilities.
    """

    def __init__(self, loaded: LoadedModel, notice: Notice) -> None:
        self._mask_id = mask_of(loaded.tokenizer, loaded.identity.name)
        self._loaded, self._notice = loaded, notice
        self.mask: str = loaded.tokenizer.mask_token
        self.identity: ModelIdentity = loaded.identity
        self.settings = {"scorer": "one mask", "tokenizer_sha256": tokenizer_digest(loaded.tokenizer)}

    def score(self, templates: Sequence[str], terms: Sequence[tuple[str, str]], progress: Progress) -> Floats:
        """The scores of both terms of each template, NaN if a term has no pieces: shape ``[templates, 2]``.

        Raises ``ModelError`` if a template is too long for the model or has no mask.
        """
        tokenizer = self._loaded.tokenizer
        ids = [list(tokenizer(template)["input_ids"]) for template in templates]
        pieces = [[list(tokenizer(t, add_special_tokens=False)["input_ids"]) for t in pair] for pair in terms]
        self._refuse(ids, templates)
        scores = np.full((len(ids), 2), np.nan)
        for group in equal_groups(np.array([len(row) for row in ids], np.int64)):
            self._run_group(group, ids, pieces, scores, progress)
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

    def _run_group(
        self,
        group: Ints,
        ids: Sequence[list[int]],
        pieces: Sequence[Sequence[list[int]]],
        scores: Floats,
        progress: Progress,
    ) -> None:
        """Score templates of equal length, which need no padding."""
        import torch

        model = self._loaded.model

        def run(start: int, stop: int) -> None:
            rows = group[start:stop].tolist()
            with torch.inference_mode():
                logits = model(torch.tensor([ids[i] for i in rows], device=model.device)).logits
            for at, row in enumerate(rows):
                values = logits[at, ids[row].index(self._mask_id)].double().cpu().numpy()
                for side in (0, 1):
                    if pieces[row][side]:
                        scores[row, side] = values[pieces[row][side]].mean()
            progress(stop - start)

        in_batches(len(group), max(1, _SLOTS // len(ids[int(group[0])])), run, self._notice)
