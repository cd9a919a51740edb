"""The loss of Attribute Distance Debiasing."""

from __future__ import annotations

import torch
from torch.nn.functional import normalize


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
