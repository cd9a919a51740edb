"""Prompts to continue: which are asked, how often, and how prompt and continuation are joined."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias import build_release
from holisticbias.terms.catalog import Catalog
from holisticbias.terms.prompt_entries import joined
from holisticbias_eval.errors import SelectionError
from holisticbias_eval.prompts.collections import (
    CollectionPrompts,
    prompt_table,
    release_prompts,
    repeat_prompts,
    select_prompts,
)
from holisticbias_eval.prompts.spread import spread_rows


def prompts(sizes: dict[str, int]) -> CollectionPrompts:
    groups = [group for group, size in sizes.items() for _ in range(size)]
    names = [str(i) for i in range(len(groups))]
    domains = ["first" if group < "m" else "second" for group in groups]
    texts = [f"The {group} number {i} is" for i, group in enumerate(groups)]
    columns = {"prompt_id": names, "item": names, "domain": domains, "group": groups, "prompt": texts}
    return CollectionPrompts("own", prompt_table({**columns, "human": [[]] * len(groups)}))


@given(st.dictionaries(st.sampled_from("abcxyz"), st.integers(1, 9), min_size=1), st.integers(1, 30), st.integers(0, 9))
def test_a_limit_takes_as_many_of_each_group_as_there_are(sizes: dict[str, int], limit: int, seed: int) -> None:
    chosen = select_prompts(prompts(sizes), (), limit, seed).table
    counts = Counter(chosen["group"].to_pylist())
    assert chosen.num_rows == min(limit, sum(sizes.values()))
    most = max(counts.values())
    assert all(counts[group] >= min(size, most - 1) for group, size in sizes.items())
    order = [int(name) for name in chosen["prompt_id"].to_pylist()]
    assert order == sorted(order)


def test_a_smaller_limit_takes_prompts_of_the_larger_one() -> None:
    few, more = (select_prompts(prompts({"a": 9, "x": 9}), (), limit, 3).table for limit in (4, 12))
    assert {*few["prompt_id"].to_pylist()} < {*more["prompt_id"].to_pylist()}


def test_where_selects_domains_and_groups() -> None:
    found = select_prompts(prompts({"a": 2, "b": 2, "x": 2}), ("domain=first", "group=b,x"), None, 0)
    assert found.table["group"].to_pylist() == ["b", "b"]


def test_a_selection_of_nothing_is_an_error() -> None:
    known = prompts({"a": 2, "x": 2})
    with pytest.raises(SelectionError, match="--where group=q: the table of prompts has no such group; it has: a, x"):
        select_prompts(known, ("group=q",), None, 0)
    with pytest.raises(SelectionError, match="no prompt is left"):
        select_prompts(known, ("domain=first", "group=x"), None, 0)


def test_equal_prompts_are_continued_apart() -> None:
    names = ["1", "2", "3"]
    columns = {"prompt_id": names, "item": names, "group": ["a"] * 3}
    table = prompt_table({**columns, "prompt": ["The blicket is", "A dax", "The blicket is"]})
    made = repeat_prompts(table.drop_columns(["human"]), table["prompt_id"].to_pylist(), 2)
    assert made["response_id"].to_pylist() == ["1/0", "1/1", "2/0", "2/1", "3/0", "3/1"]
    assert made["sample"].to_pylist() == [0, 1, 0, 1, 2, 3]
    assert "human" not in made.column_names


def test_prompt_and_continuation_are_joined_as_one_text() -> None:
    expected = {
        ("A blicket is ", "tall."): "A blicket is tall.",
        ("A blicket", ", who is tall,"): "A blicket, who is tall,",
        ("A blicket", " is tall."): "A blicket is tall.",
        ("The word (", "blicket)"): "The word (blicket)",
        ("A blicket is", ""): "A blicket is",
        ("", "A blicket"): "A blicket",
    }
    assert {(prompt, continuation): joined(prompt, continuation) for prompt, continuation in expected} == expected


def test_the_prompts_of_a_release_have_the_continuations_of_people(catalog: Catalog) -> None:
    release = build_release(catalog, "3.0.0")
    found, named = release_prompts(release), release_prompts(release, "bold")
    assert found.table.equals(named.table)
    assert {len(human) for human in found.table["human"].to_pylist()} == {1}
    for row in found.table.to_pylist():
        assert row["human"][0].startswith(row["prompt"])
        assert row["subject"] is None or row["subject"].lower() in row["prompt"].lower()
    with pytest.raises(SelectionError, match="has no collection of this name; its collections: bold"):
        release_prompts(release, "none")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=20), st.integers(1, 25))
def test_rows_are_spread_over_groups(groups: list[str], limit: int) -> None:
    rows = spread_rows(groups, [str(row) for row in range(len(groups))], limit)
    counts = Counter(groups[row] for row in rows)
    assert len(rows) == len({*rows}) == min(limit, len(groups))
    assert all(count >= min(groups.count(name), max(counts.values()) - 1) for name, count in counts.items())
