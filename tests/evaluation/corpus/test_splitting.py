"""Splits: equal numbers of each group, and the same sentences for every group."""

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluation.corpus.invented import GROUPS, example, examples, invented

from holisticbias.terms.specification_entries import Specification, WordForms
from holisticbias_eval.corpus.settings import SplitSettings
from holisticbias_eval.corpus.splitting import Split, split_examples
from holisticbias_eval.errors import CorpusError, SelectionError

SPECIFICATION = invented()
TRAINED = GROUPS[:3]


def split(rows: list[dict[str, Any]], settings: SplitSettings, specification: Specification = SPECIFICATION) -> Split:
    names = {name for row in rows for name in row}
    table = pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    return split_examples(table, specification, settings)


def test_numbers_as_in_table_8() -> None:
    """Two of ten sentences a group for the test and three for the validation, each for four groups."""
    found = split(examples(10), SplitSettings(test=2, validation=3))
    assert [len(found.train), len(found.validation), len(found.test)] == [3 * 5, 3 * 3 * 4, 3 * 2 * 4]
    assert found.groups["blicket"] == {"train": 5, "validation": 9, "test": 6}
    assert found.groups["wug"] == {"train": 0, "validation": 9, "test": 6}
    assert found.originals["test"] == dict.fromkeys(sorted(TRAINED), 2)
    assert found.labelled is False
    assert set(found.test["dimension"].to_pylist()) == {"own.invented"}
    ids = [set(part["sentence_id"].to_pylist()) for part in (found.train, found.validation, found.test)]
    assert sum(map(len, ids)) == len(set().union(*ids)) == 30


def test_training_rows_are_as_people_wrote_them() -> None:
    rows = examples(4)
    found = split(rows, SplitSettings(test=1, validation=1))
    texts = {row["id"]: row["text"] for row in rows}
    for row in found.train.to_pylist():
        assert row["sentence"] == texts[row["sentence_id"]]
        assert row["group"] == row["original_group"] != "wug"
    assert set(found.train["target"].to_pylist()) == {"blicket", "stad", "elmer"}


def test_what_is_left_out() -> None:
    rows = [{**row, "label": 1} for row in examples(4)]
    rows += [
        example(90, "stad", "a stad is never grobby", label=0),
        example(91, "stad", "a stad is perhaps grobby", label=None, annotation="disagreed"),
        example(92, "stad", "a stad is hardly grobby", label=None, annotation="incomplete"),
        example(89, "stad", "a stad is soon grobby", label=None),
        example(93, "stad", "Gate 0s:  a stad is grobby", label=1),
        example(94, "wug", "a wug is grobby", label=1),
        example(95, "stad", "a stad met a wug", label=1),
        example(96, "stad", "a stad of another dimension", label=1, dimension="own.other"),
        example(97, "norp", "a norp is grobby", label=1),
        example(98, "stad", "somebody is grobby", label=1),
        example(99, "blicket", "the blicket elder is grobby", label=1),
        example(88, "blicket", "blickets are more grobby than stads", label=1),
    ]
    found = split(rows, SplitSettings(test=1, validation=1))
    assert found.left_out == dict.fromkeys((
        "not biased", "annotators disagree", "too few labels", "no agreed label", "repeated text", "held-out group",
        "mentions a held-out group", "other dimension", "group that the specification does not have",
    ), 1)  # fmt: skip
    assert found.kept_from_test == {
        "no term of a group": 1,
        "no version for stad: no term that fits its place": 1,
        "about several groups": 1,
    }
    assert found.labelled is True
    assert len(found.train) == 12 - 6 + 3


def test_a_word_form_is_not_written_in_test_sets() -> None:
    """People wrote "blicks"; the test says "blickets", as it says "stads" of others, and the training is as it was."""
    specification = SPECIFICATION.model_copy(update={"forms": (WordForms(of="blickets", words=("blicks",)),)})
    rows = [example(i, "blicket", f"at gate {i} all blicks are grobby") for i in range(4)]
    found = split(rows, SplitSettings(test=1, validation=1), specification)
    assert found.missing_groups == (
        "Test and validation are drawn from blicket: no sentence about stad, elm can be rewritten for every group"
    )
    said = [text.split(" all ")[1] for text in found.test["sentence"].to_pylist()]
    assert said == ["blickets are grobby", "stads are grobby", "elmfolk are grobby", "wugs are grobby"]
    assert set(found.test["target"].to_pylist()) == {"blickets", "stads", "elmfolk", "wugs"}
    assert set(found.train["target"].to_pylist()) == {"blicks"}


def test_groups_to_draw_from() -> None:
    rows = [*examples(10, GROUPS[:2]), example(0, "elm", "one elmer is grobby")]
    with pytest.raises(CorpusError, match=r"there are blicket 10, stad 10, elm 1: .* other groups with --draw-from"):
        split(rows, SplitSettings())
    found = split(rows, SplitSettings(test=2, validation=2, draw_from="stad,blicket"))
    assert found.drawn_from == ["blicket", "stad"]
    assert found.originals["test"] == {"blicket": 2, "stad": 2}
    assert found.without_sentences == []
    every = split(rows, SplitSettings(test=1, validation=0))
    assert (every.drawn_from, every.missing_groups) == ([*GROUPS[:3]], ""), "the one sentence about elm is in the test"
    with pytest.raises(CorpusError, match="cannot be drawn from 'wug': name groups of blicket, stad, elm"):
        split(rows, SplitSettings(test=1, validation=1, draw_from="wug"))


def test_too_few_sentences() -> None:
    with pytest.raises(SelectionError, match=r"for every group of own.invented \(about several groups: 1\): none"):
        split([example(0, "blicket", "the blickets and the stads are grobby")], SplitSettings(draw_from="stad"))
    message = r"test needs 3 and the validation 2 .* there are blicket 4, stad 4, elm 4"
    with pytest.raises(CorpusError, match=message):
        split([*examples(4), example(9, "blicket", "the blicket elder")], SplitSettings(test=3, validation=2))


def test_nothing_to_split() -> None:
    with pytest.raises(SelectionError, match=r"no example of own.invented can be used .*does not have: 1"):
        split([example(0, "norp", "a norp")], SplitSettings())
    with pytest.raises(SelectionError, match=r"no example can be rewritten for every group of own.invented"):
        split([example(0, "stad", "nobody")], SplitSettings())


def test_one_group() -> None:
    groups = tuple(group.model_copy(update={"held_out": group.name != "stad"}) for group in SPECIFICATION.groups)
    with pytest.raises(CorpusError, match="fewer than two groups that are not held out"):
        split(examples(4), SplitSettings(), SPECIFICATION.model_copy(update={"groups": groups}))
    two = tuple(group.model_copy(update={"held_out": group.name in ("elm", "wug")}) for group in groups)
    found = split(examples(10, GROUPS[:2]), SplitSettings(), SPECIFICATION.model_copy(update={"groups": two}))
    assert found.drawn_from == ["blicket", "stad"]


def test_default_numbers_are_a_share_of_the_smallest_group() -> None:
    """15% of 20 sentences are 3."""
    rows = [*examples(20), *(example(i, "stad", f"row {i} of a stad") for i in range(50, 90))]
    found = split([{**row, "label": 1} for row in rows], SplitSettings())
    assert found.labelled is True
    assert found.originals["test"] == found.originals["validation"] == dict.fromkeys(sorted(TRAINED), 3)


def same_for_all(count: int) -> list[dict[str, Any]]:
    """Sentences that each stand in the table for every group; of one there are two blanks."""
    terms = {"blicket": "blickets", "stad": " stads", "elm": "elmfolk"}
    return [example(i, group, f"the {terms[group]} at gate {i}") for i in range(count) for group in TRAINED]


def test_sentences_that_differ_in_the_group_alone() -> None:
    """Nine of ten forms are drawn; the rest of their sentences are training unless kept apart."""
    found = split(same_for_all(10), SplitSettings(test=2, validation=1))
    assert (found.repeated_forms, found.shared_forms, len(found.train)) == (0, 18, 21)
    assert len(set(found.test.filter(pa.compute.equal(found.test["group"], "stad"))["sentence"].to_pylist())) == 6
    apart = split(same_for_all(10), SplitSettings(test=2, validation=1, apart=True))
    assert (apart.shared_forms, len(apart.train)) == (0, 3)
    assert apart.left_out == {"same form as a test or validation sentence": 18}
    assert apart.test.equals(found.test)


def test_too_few_forms() -> None:
    """Six of nine drawn sentences have one of the three forms that are drawn already."""
    found = split(same_for_all(3), SplitSettings(test=2, validation=1))
    assert (found.repeated_forms, len(found.train)) == (6, 0)


@settings(max_examples=15)
@given(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3), st.randoms(use_true_random=False))
def test_the_draw_does_not_depend_on_the_order(seed: int, test: int, validation: int, order: random.Random) -> None:
    rows = examples(7)
    first = split(rows, SplitSettings(test=test, validation=validation, seed=seed))
    order.shuffle(rows)
    second = split(rows, SplitSettings(test=test, validation=validation, seed=seed))
    assert second.test.equals(first.test)
    assert second.validation.equals(first.validation)
    assert Counter(second.train["sentence_id"].to_pylist()) == Counter(first.train["sentence_id"].to_pylist())


def test_seeds_draw_other_sentences() -> None:
    settings = [SplitSettings(test=2, validation=2, seed=seed) for seed in range(5)]
    drawn = {tuple(split(examples(9), one).test["sentence_id"].to_pylist()) for one in settings}
    assert len(drawn) == 5
