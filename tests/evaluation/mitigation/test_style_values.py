"""Bias values of responses: by hand, and the identities of their means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holisticbias_eval.errors import MitigationError
from holisticbias_eval.mitigation.styles import balanced_means, bias_values, choose_threshold


def test_values_by_hand() -> None:
    """Two descriptors with one template: m_0 = (1, 0), m_1 = (.5, .5), m = (.75, .25)."""
    styles = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    found = bias_values(styles, np.array([0, 1, 1]), np.array([0, 0, 0]))
    # away = (.25, -.25) and (-.25, .25); p - m = (.25, -.25), (.25, -.25), (-.75, .75)
    assert found == pytest.approx([0.125, -0.125, 0.375])


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), alpha=st.sampled_from([0, 1, 2]))
def test_mean_over_templates(seed: int, alpha: int) -> None:
    """The template-balanced mean of a descriptor's values is |m_d - m| ** (2 - alpha): Smith et al. 2022, C.1."""
    rng = np.random.default_rng(seed)
    shape = (4, 3, 5)  # descriptors, templates, responses at most
    place = np.argwhere(rng.random(shape) < 0.7)
    for descriptor in range(4):
        place = np.vstack([place, [descriptor, rng.integers(3), 0]])
    descriptors, templates = place[:, 0], place[:, 1]
    styles = rng.dirichlet(np.ones(6), len(place))
    values = bias_values(styles, descriptors, templates, alpha)
    means = balanced_means(styles, descriptors, templates)
    expected = np.linalg.norm(means - means.mean(axis=0), axis=1) ** (2 - alpha)
    assert balanced_means(values[:, None], descriptors, templates)[:, 0] == pytest.approx(expected)


@pytest.mark.parametrize(("alpha", "expected"), [(0, [0.0, 0.0]), (1, [None, None]), (2, [None, None])])
def test_a_descriptor_like_the_mean_has_no_value(alpha: int, expected: list[float | None]) -> None:
    """One descriptor is its own mean: with alpha above 0 the value is not defined."""
    values = bias_values(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2, np.int64), np.zeros(2, np.int64), alpha)
    assert [None if np.isnan(value) else value for value in values] == expected


def test_responses_that_are_not_judged_have_no_value() -> None:
    """They change no mean, and a descriptor with no other response changes none either."""
    styles = np.array([[1.0, 0.0], [np.nan, np.nan], [0.0, 1.0], [np.nan, np.nan]])
    values = bias_values(styles, np.array([0, 0, 2, 1]), np.zeros(4, np.int64))
    alone = bias_values(styles[[0, 2]], np.array([0, 1]), np.zeros(2, np.int64))
    assert values[[0, 2]] == pytest.approx(alone)
    assert np.isnan(values[[1, 3]]).all()


def test_a_threshold_is_a_quantile_of_the_defined_values() -> None:
    assert choose_threshold(np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]), 0.75) == 3.0
    with pytest.raises(MitigationError, match="no response has a bias value"):
        choose_threshold(np.array([np.nan]), 0.5)
