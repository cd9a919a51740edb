"""The loss of Language Model Debiasing."""

from __future__ import annotations

import math

import torch


def lmd_loss(log_probabilities: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """Mean Jensen-Shannon divergence between the groups' terms and the uniform distribution, in nats.

    ``log_probabilities``, shape ``[mentions, groups]``: of each group's term in the place of a mention; each row is
    normalised over its groups. ``present``, same shape: whether the group has a term there; two or more in each row,
    and at least one row. The divergence is 0 if the terms are equally probable, and always below ln 2.

        L = 1/|M| sum_i JSD(P_i || U),  JSD(P || U) = KL(P || (P + U) / 2) / 2 + KL(U || (P + U) / 2) / 2

    Source: Zhao et al. 2024, section 4.1.
    """
    divergences = divergence_from_uniform(log_probabilities, present)
    return divergences.mean()


def divergence_from_uniform(log_probabilities: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
    """The divergence of each mention, shape ``[mentions]``, in nats; see ``lmd_loss``."""
    log_p = log_probabilities.masked_fill(~present, -math.inf).log_softmax(-1)
    log_p = log_p.masked_fill(~present, 0.0)  # its gradient is finite, and the sums below leave it out
    log_u = -present.sum(-1, keepdim=True).to(log_p.dtype).log()
    log_middle = torch.logaddexp(log_p, log_u) - math.log(2)
    terms = log_p.exp() * (log_p - log_middle) + log_u.exp() * (log_u - log_middle)
    return terms.masked_fill(~present, 0.0).sum(-1) / 2
