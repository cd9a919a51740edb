"""Prompts drawn from a release: a draw depends on the seed and its own cell alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from holisticbias.release.release import Release
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.conversations import PromptDrawing, draw_prompts

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


def test_each_variant_is_applied_to_about_half(small_release: Release) -> None:
    rows = draw_prompts(small_release, replace(FEW, per_cell=60)).to_pylist()
    final = [row["prompt"].endswith(".") for row in rows]
    assert abs(sum(final) / len(final) - 0.5) < 0.03
    contracted = [row["prompt"].startswith("I'm") for row in rows if row["template_id"] == "dialogue.im"]
    assert abs(sum(contracted) / len(contracted) - 0.5) < 0.03
