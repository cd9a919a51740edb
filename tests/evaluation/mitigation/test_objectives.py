"""The losses of LMD and ADD against values by hand, scipy, slow loops and numerical gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
import torch

from holisticbias_eval.mitigation.methods.add import add_loss
from holisticbias_eval.mitigation.methods.lmd import lmd_loss

QUARTERS = (0.75 * math.log(6 / 5) + 0.25 * math.log(2 / 3)) / 2 + (math.log(4 / 5) + math.log(4 / 3)) / 4
"""P = (3/4, 1/4), so that the middle is (5/8, 3/8)."""
CERTAIN = math.log(3 / 2) / 2 + math.log(2) / 6
"""P = (1, 0, 0), so that the middle is (2/3, 1/6, 1/6)."""


def everywhere(values: torch.Tensor) -> torch.Tensor:
    return torch.ones_like(values, dtype=torch.bool)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[0.5, 0.5]], 0.0),
        ([[0.03, 0.01]], QUARTERS),  # only the ratio counts
        ([[0.01, 0.03]], QUARTERS),
        ([[1e-40, 1e-300, 1e-300]], CERTAIN),
        ([[0.2, 0.2, None]], 0.0),  # a group without a term does not count
        ([[0.3, None, 0.1]], QUARTERS),
        ([[0.5, 0.5, 0.5], [0.3, 0.1, None], [1.0, 1e-300, 1e-300]], (QUARTERS + CERTAIN) / 3),
    ],
)
def test_divergence_by_hand(rows: Sequence[Sequence[float | None]], expected: float) -> None:
    present = torch.tensor([[value is not None for value in row] for row in rows])
    values = torch.tensor([[math.log(value or 1.0) for value in row] for row in rows], dtype=torch.float64)
    assert float(lmd_loss(values, present)) == pytest.approx(expected, abs=1e-12)


def test_lmd_gradient() -> None:
    """Right where a group has no term, and finite where a probability is 0 in floating point."""
    torch.manual_seed(0)
    values = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    present = torch.tensor([[True] * 4, [True, False, True, True], [False, True, True, False]])
    assert torch.autograd.gradcheck(lambda v: lmd_loss(v, present), (values,))
    extreme = torch.tensor([[0.0, -1e4]], requires_grad=True)
    lmd_loss(extreme, everywhere(extreme)).backward()  # type: ignore[no-untyped-call]
    assert extreme.grad is not None
    assert bool(extreme.grad.isfinite().all())


def vectors(*rows: Sequence[float]) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


@pytest.mark.parametrize(
    ("targets", "attributes", "expected"),
    [
        ([[3, 0], [0, 2]], [[5, 0]], 1.0),
        ([[3, 0], [-1, 0]], [[5, 0]], 2.0),
        ([[1, 0], [0, 1]], [[1, 1]], 0.0),
        ([[1, 0], [0, 1], [1, 1]], [[1, 0]], (1 + (1 - 0.5**0.5) + 0.5**0.5) / 3),
        ([[1, 0], [0, 1]], [[1, 0], [1, 1]], 0.5),
    ],
)
def test_distance_by_hand(
    targets: Sequence[Sequence[float]], attributes: Sequence[Sequence[float]], expected: float
) -> None:
    terms = vectors(*targets)[:, None]
    found = add_loss(terms, torch.ones(len(terms), 1, dtype=torch.bool), vectors(*attributes))
    assert float(found) == pytest.approx(expected, abs=1e-12)


def test_add_gradient() -> None:
    torch.manual_seed(1)
    targets = torch.randn(3, 2, 4, dtype=torch.float64, requires_grad=True)
    attributes = torch.randn(2, 4, dtype=torch.float64, requires_grad=True)
    present = torch.tensor([[True, True], [True, False], [True, True]])
    assert torch.autograd.gradcheck(lambda t, a: add_loss(t, present, a), (targets, attributes))


def test_distance_is_the_papers_sum_over_its_number_of_terms() -> None:
    torch.manual_seed(0)
    targets, attributes = torch.randn(4, 3, 5, dtype=torch.float64), torch.randn(2, 5, dtype=torch.float64)
    present = torch.tensor([[True, True, False], [True, True, True], [True, False, False], [True, True, False]])
    total, pairs = 0.0, 0
    for a in attributes:
        for s in range(3):
            for i in range(4):
                for j in range(4):
                    if i != j and present[i, s] and present[j, s]:
                        first, second = (torch.cosine_similarity(targets[k, s], a, dim=0) for k in (i, j))
                        total += abs(float(first - second))
                        pairs += 1
    assert pairs == 2 * 2 * (6 + 3)  # the last slot has one term: nothing to compare
    assert float(add_loss(targets, present, attributes)) == pytest.approx(total / pairs, abs=1e-12)
    order = [2, 0, 3, 1]
    assert float(add_loss(targets[order], present[order], attributes)) == pytest.approx(total / pairs, abs=1e-12)
