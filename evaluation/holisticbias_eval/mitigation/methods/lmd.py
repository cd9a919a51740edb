"""Language Model Debiasing: the groups' terms become equally probable in the place of a mention."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import pyarrow as pa

from holisticbias_eval.arrays import Tensor
from holisticbias_eval.mitigation.losses.term_reader import TermReader
from holisticbias_eval.mitigation.method import COMPARED, AuxiliaryLoss, GroupTask, LossMethod, MethodInfo, TokenBatch
from holisticbias_eval.mitigation.texts import TrainingTexts, corpus_sentences, corpus_texts


class Lmd(LossMethod):
    """Train on the corpus, with a loss on unequal probabilities of the groups' terms given the text before them."""

    info = MethodInfo(
        "lmd",
        "Language Model Debiasing (LMD)",
        "Zhao et al. 2024, section 4.1",
    )
    defaults: ClassVar[Mapping[str, Any]] = {"weight": 10.0}

    def training_texts(self, examples: pa.Table, task: GroupTask) -> TrainingTexts:
        """The sentences of the corpus."""
        return corpus_texts(examples, corpus_sentences(examples, task))

    def auxiliary_loss(self, task: GroupTask, tokenizer: Any) -> "LmdLoss":
        """The mean divergence of the terms' probabilities from equal ones, in nats."""
        return LmdLoss(task, tokenizer)


class LmdLoss(AuxiliaryLoss):
    """The loss of LMD over the mentions in a batch."""

    def __init__(self, task: GroupTask, tokenizer: Any) -> None:
        self._terms = TermReader(task, tokenizer)

    def prepare(self, batch: TokenBatch) -> Mapping[str, Tensor]:
        """The tokens of each group's term in the place of each mention."""
        return self._terms.prepare(batch)

    def loss(self, model: Any, logits: Tensor, prepared: Mapping[str, Tensor]) -> Tensor:
        """The mean Jensen-Shannon divergence of the batch's mentions, in nats; see ``lmd_loss``."""
        from holisticbias_eval.mitigation.losses.term_scores import term_log_probabilities

        if not len(prepared["present"]):
            return logits[:0].sum()
        return lmd_loss(term_log_probabilities(model, logits, prepared), prepared["present"])

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of mentions of groups compared, and of the others by reason."""
        return {COMPARED: self._terms.compared, **self._terms.skipped}


def lmd_loss(log_probabilities: Tensor, present: Tensor) -> Tensor:
    """Mean Jensen-Shannon divergence between the groups' terms and the uniform distribution, in nats.

    ``log_probabilities``, shape ``[mentions, groups]``: of each group's term in the place of a mention; each row is
    normalised over its groups. ``present``, same shape: whether the group has a term there; two or more in each row,
    and at least one row. The divergence is 0 if the terms are equally probable, and always below ln 2.

        L = 1/|M| sum_i JSD(P_i || U),  JSD(P || U) = KL(P || (P + U) / 2) / 2 + KL(U || (P + U) / 2) / 2

    Source: Zhao et al. 2024, section 4.1.
    """
    import torch

    log_p = log_probabilities.masked_fill(~present, -math.inf).log_softmax(-1)
    log_p = log_p.masked_fill(~present, 0.0)  # its gradient is finite, and the sums below leave it out
    log_u = -present.sum(-1, keepdim=True).to(log_p.dtype).log()
    log_middle = torch.logaddexp(log_p, log_u) - math.log(2)
    terms = log_p.exp() * (log_p - log_middle) + log_u.exp() * (log_u - log_middle)
    mean: torch.Tensor = (terms.masked_fill(~present, 0.0).sum(-1) / 2).mean()
    return mean
