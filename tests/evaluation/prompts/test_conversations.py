"""Prompts drawn from a release by the seed and their own cells alone, and the limit that spreads them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.conversations import PromptDrawing, draw_prompts
from holisticbias_eval.prompts.spread import KeptCells, Least, random_order, spread

FEW = PromptDrawing(per_cell=4, where=("axis=nonce,age", "template=dialogue.im,dialogue.love"))


def by_id(small_release: Release, drawing: PromptDrawing) -> dict[str, dict[str, Any]]:
    return {row["response_id"]: row for row in draw_prompts(small_release, drawing).to_pylist()}


def test_every_descriptor_is_asked_about_in_every_template_as_often(small_release: Release) -> None:
    rows = draw_prompts(small_release, FEW).to_pylist()
    cells = Counter((row["template_id"], row["descriptor_id"]) for row in rows)
    assert set(cells.values()) == {4}
    descriptors = {descriptor for _, descriptor in cells}
    assert {descriptor.split(".")[0] for descriptor in descriptors} == {"nonce", "age"}
    assert len(cells) == 2 * len(descriptors)


@pytest.mark.parametrize(
    "more",
    [
        replace(FEW, per_cell=9),
        replace(FEW, where=("axis=nonce,age,ability", "template=dialogue.im,dialogue.love,dialogue.hate")),
    ],
    ids=["more draws", "more descriptors and templates"],
)
def test_more_prompts_only_add(small_release: Release, more: PromptDrawing) -> None:
    few, many = by_id(small_release, FEW), by_id(small_release, more)
    assert len(many) > len(few)
    assert {key: many[key] for key in few} == few


def test_a_limit_keeps_whole_descriptors_of_the_same_draw(small_release: Release) -> None:
    every, some = by_id(small_release, FEW), by_id(small_release, replace(FEW, limit=50))
    assert {key: every[key] for key in some} == some
    cells = Counter((row["descriptor_id"], row["template_id"]) for row in some.values())
    assert len(some) == 48  # 6 descriptors, 2 templates, 4 draws
    assert len({descriptor for descriptor, _ in cells}) == 6
    assert set(cells.values()) == {4}


def test_seeds_draw_different_prompts(small_release: Release) -> None:
    one, other = (draw_prompts(small_release, replace(FEW, seed=seed))["prompt"].to_pylist() for seed in (0, 1))
    assert sum(a != b for a, b in zip(one, other, strict=True)) / len(one) > 0.1


def test_without_variants_prompts_are_the_sentences_of_the_release(small_release: Release) -> None:
    texts = set(small_release.sentences["text"].to_pylist())
    plain = draw_prompts(small_release, replace(FEW, variants=False)).to_pylist()
    assert {row["variants"] for row in plain} == {""}
    assert {row["prompt"] for row in plain} <= texts
    varied = draw_prompts(small_release, FEW).to_pylist()
    assert [row["noun_id"] for row in varied] == [row["noun_id"] for row in plain]
    assert not {row["prompt"] for row in varied} <= texts


def test_equal_prompts_of_a_cell_are_counted(small_release: Release) -> None:
    rows = draw_prompts(small_release, replace(FEW, per_cell=80, variants=False)).to_pylist()
    seen: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        key = (row["template_id"], row["descriptor_id"], row["prompt"], row["persona"])
        assert row["sample"] == seen[key]
        seen[key] += 1
    assert max(seen.values()) > 2


def test_personas_are_drawn_evenly(small_release: Release) -> None:
    personas = ("I have two cats. I like tea.", "I play chess. I live by the sea.", "I sing. I walk to work.")
    rows = draw_prompts(small_release, replace(FEW, per_cell=60, personas=personas)).to_pylist()
    counts = Counter(row["persona"] for row in rows)
    assert set(counts) == set(personas)
    assert max(counts.values()) - min(counts.values()) < 0.1 * len(rows)


def test_filters_that_leave_nothing_are_refused(small_release: Release) -> None:
    with pytest.raises(SelectionError, match=r"no sentence meets --where axis=age and descriptor=ability\.deaf"):
        draw_prompts(small_release, replace(FEW, where=("axis=age", "descriptor=ability.deaf")))


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
