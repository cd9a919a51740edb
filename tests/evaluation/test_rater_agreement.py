"""Agreement of annotators, against values by hand and from publications."""

from __future__ import annotations

import numpy as np
import pytest

from holisticbias_eval.arrays import Floats
from holisticbias_eval.statistics.labels import cohens_kappa, fleiss_kappa, krippendorffs_alpha, raw_agreement

NAN = np.nan


def near(value: float, n: int) -> object:
    """A figure up to rounding, and its number of examples."""
    return (pytest.approx(value), n)


PARTLY = np.array([[1, 1, NAN], [0, 0, 0], [1, 0, NAN], [1, NAN, NAN], [NAN, NAN, NAN]])
THREE = np.array([[1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1], [1, NAN, 1]])


def test_cohen() -> None:
    """Both yes 20, both no 15, 5 and 10 apart: observed 0.7, expected 0.5."""
    first = np.repeat([1.0, 1.0, 0.0, 0.0, 1.0], [20, 5, 10, 15, 3])
    second = np.repeat([1.0, 0.0, 1.0, 0.0, NAN], [20, 5, 10, 15, 3])
    assert cohens_kappa(first, second) == near(0.4, 50)


def test_fleiss() -> None:
    """Agreement by example 1, 1, 1/3, 1/3; expected 1/2. The fifth example lacks a label."""
    assert fleiss_kappa(THREE) == near(1 / 3, 4)


def test_krippendorff_of_two_without_missing_labels() -> None:
    """Krippendorff 2011, section B: 0.095."""
    first = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    second = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    labels = np.column_stack([first, second]).astype(float)
    assert krippendorffs_alpha(labels) == near(1 - 19 * 4 / (14 * 6), 10)


def test_missing_labels() -> None:
    """By hand: coincidences 11: 2, 00: 3, 01 and 10: 1 each; 4 of 5 pairs are equal."""
    assert krippendorffs_alpha(PARTLY) == near(1 - 6 * 1 / (4 * 3), 3)
    assert raw_agreement(PARTLY) == near(4 / 5, 3)
    assert fleiss_kappa(PARTLY) == near(-1 / 3, 2)  # of two labels: agreement 1 and 0, expected 5/8


def test_fleiss_of_raters_in_turns() -> None:
    """Two of three raters label each example: as if they were the same two."""
    turns = np.array([[1, 1, NAN], [NAN, 0, 0], [1, NAN, 0], [0, 0, NAN]])
    pairs = np.array([[1, 1], [0, 0], [1, 0], [0, 0]])
    assert fleiss_kappa(turns) == fleiss_kappa(pairs.astype(float)) == near((3 / 4 - 34 / 64) / (30 / 64), 4)


@pytest.mark.parametrize("labels", [np.ones((4, 2)), np.zeros((4, 2)), np.full((4, 2), NAN), np.ones((0, 2))])
def test_undefined(labels: Floats) -> None:
    n = 4 if labels.size and not np.isnan(labels).all() else 0
    assert krippendorffs_alpha(labels) == (None, n)
    assert fleiss_kappa(labels) == (None, n)
    assert cohens_kappa(labels[:, 0], labels[:, 1]) == (None, n)
    assert raw_agreement(labels) == (1.0 if n else None, n)


def test_no_agreement_beyond_chance_is_a_number() -> None:
    """One rater says 1 always: kappa is 0, not undefined."""
    assert cohens_kappa(np.ones(4), np.array([1.0, 0, 1, 0])) == near(0.0, 4)
