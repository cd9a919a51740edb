"""A limit spreads what is asked over axes, descriptors, templates and draws."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.prompts.spread import KeptCells, Least, random_order, spread
from invoking import Invoke

AXES = {axis: [f"{axis}.{i}" for i in range(5)] for axis in "abc"}
TEMPLATES = ["t1", "t2", "t3", "t4"]


def size(chosen: KeptCells) -> tuple[int, int, int]:
    return len(chosen.descriptors), len(chosen.templates), chosen.draws


@pytest.mark.parametrize(
    ("limit", "expected"), [(12, (2, 3, 2)), (35, (4, 3, 2)), (36, (6, 3, 2)), (180, (6, 3, 10)), (240, (6, 4, 10))]
)
def test_draws_may_come_before_more_templates(limit: int, expected: tuple[int, int, int]) -> None:
    assert size(spread(limit, AXES, TEMPLATES, 10, Least(2, 3), draws_first=True)) == expected


@given(
    draws_first=st.booleans(),
    limit=st.integers(1, 500),
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=5),
    templates=st.integers(1, 6),
    draws=st.integers(1, 12),
    least=st.builds(Least, draws=st.integers(1, 4), templates=st.integers(1, 4)),
)
def test_a_limit_is_kept_and_each_axis_can_be_compared(
    draws_first: bool, limit: int, sizes: list[int], templates: int, draws: int, least: Least
) -> None:
    axes = {f"axis{i}": [f"axis{i}.{k}" for k in range(n)] for i, n in enumerate(sizes)}
    chosen = spread(limit, axes, [f"t{i}" for i in range(templates)], draws, least, draws_first=draws_first)
    descriptors, kept, several = size(chosen)
    assert 1 <= descriptors * kept * several <= limit
    assert several <= draws
    if limit >= least.size and any(n > 1 for n in sizes):
        by_axis = [sum(name in chosen.descriptors for name in axes[axis]) for axis in axes]
        assert all(n != 1 for n in by_axis)
        assert several >= min(least.draws, draws)
        assert kept >= min(least.templates, templates)


def test_the_order_of_a_name_depends_on_the_seed_and_the_names_alone() -> None:
    names = [f"name{i}" for i in range(9)]
    order = random_order(names, 0)
    assert sorted(order) == names
    assert order == random_order(reversed(names), 0)
    assert [n for n in order if n in names[:4]] == random_order(names[:4], 0)
    assert order != random_order(names, 1)


@pytest.mark.parametrize(("more", "least"), [((), 4), (("--per-cell", "1"), 2)])
def test_a_limit_below_the_least_is_refused(
    invoke: Invoke, mini_release_folder: Path, tmp_path: Path, more: tuple[str, ...], least: int
) -> None:
    few = ("--release", mini_release_folder, "--limit", str(least - 1), *more)
    said = invoke.refused("evaluate", "--measure", "generation_bias", *few, "--out", tmp_path / "run")
    assert f"the least is {least}" in said
    assert not (tmp_path / "run").exists()
