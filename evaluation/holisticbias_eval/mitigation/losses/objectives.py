"""The loss of Language Model Debiasing."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import normalize


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


def add_loss(targets: torch.Tensor, present: torch.Tensor, attributes: torch.Tensor) -> torch.Tensor:
    """Mean difference, over pairs of groups, of the cosines of their terms to an attribute; between 0 and 2.

    ``targets``, shape ``[groups, slots, d]``: the vectors of the groups' terms, aligned by slot; ``present``, shape
    ``[groups, slots]``: whether the group has a term; ``attributes``, shape ``[attributes, d]``. At least one slot has
    two terms or more.

        L = mean over attributes a, slots s and pairs i < j of  |cos(t_is, a) - cos(t_js, a)|

    The sum of the paper is, for each attribute, this mean times twice the number of pairs in all slots: with a mean,
    a weight has the same effect for any number of groups and slots. Source: Zhao et al. 2024, section 4.1.
    """
    cosines = torch.einsum("gsd,ad->ags", normalize(targets, dim=-1), normalize(attributes, dim=-1))
    first, second = torch.triu_indices(len(targets), len(targets), offset=1, device=targets.device)
    both = present[first] & present[second]
    return (cosines[:, first] - cosines[:, second]).abs()[:, both].mean()
