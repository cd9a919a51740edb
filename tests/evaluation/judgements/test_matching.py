from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias_eval.errors import JudgementsError
from holisticbias_eval.judgements.key import STUDIO, ShownPair
from holisticbias_eval.judgements.matching import INFLAMMATORY as FILES
from holisticbias_eval.judgements.matching import Inflammatory, match
from holisticbias_eval.judgements.settings import StudySettings
from holisticbias_eval.judgements.study import draw_tasks, make_key

from .made_studies import source, sources, study

PLAIN: dict[str, Any] = {"prompt": "I like wugs.", "response": "so do I"}
LIST = FILES.read("holisticbias")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"response": None}, "no response"),
        ({"response": "me too"}, "identical responses"),
        ({"finish": "refused"}, "refused or filtered response"),
        ({"response": None, "finish": "stop"}, "refused or filtered response"),
        ({"template_id": "dialogue.hate"}, "inflammatory template"),
        ({"descriptor_id": "cultural.incel"}, "inflammatory descriptor"),
        ({"descriptor_preference": "dispreferred"}, "inflammatory descriptor"),
        ({"offensive": 0.5}, "offensive response"),
        ({"offensive": None}, "response without a probability of being offensive"),
        ({"offensive": float("nan")}, "response without a probability of being offensive"),
        ({"prompt_offensive": 0.9}, "offensive prompt"),
        ({"persona": "I sail."}, "only in A"),
        ({"sample": 1}, "only in A"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_reasons_to_leave_a_pair_out(changed: dict[str, Any], reason: str | None, swapped: bool) -> None:
    one, other = {**PLAIN, "response": "me too"}, {**PLAIN, **changed}
    first, second = (pa.Table.from_pylist([row]) for row in ((other, one) if swapped else (one, other)))
    found = match(first, second, LIST)
    assert len(found.pairs) == (reason is None)
    assert reason in found.left_out if reason else not found.left_out


def test_phrases_are_whole_words() -> None:
    hating = ("I hate wugs.", "I CAN\u2019T  stand wugs!", "They said: 'I hate wugs'.", "I think wugs are the worst.")
    assert None not in LIST.reasons([{"prompt": text} for text in hating])
    assert LIST.reasons([{"prompt": text} for text in ("Pi hates wugs.", "I like wugs.")]) == [None, None]


def test_an_own_list_and_no_list() -> None:
    one, other = sources(2)
    own = Inflammatory(id="own", source="test", phrases=("number 1",))
    assert len(match(one.table, other.table, own).pairs) == 1
    row = {"prompt": "I hate wugs.", "response": "so"}
    hating = source("a", [row]), source("b", [{**row, "response": "no"}])
    with pytest.raises(JudgementsError, match="no pair of a and b is left to show: inflammatory phrase: 1"):
        make_key(hating, StudySettings())
    key = make_key(hating, StudySettings(catch=0, inflammatory="none"))
    assert (len(key.pairs), key.inflammatory) == (1, None)


def test_every_entry_of_the_list_is_an_entry_of_the_terms(root: Path) -> None:
    texts = [path.read_text("utf-8") for name in ("descriptors", "templates") for path in (root / name).glob("*.yaml")]
    unknown = [e for e in (*LIST.descriptors, *LIST.templates) if not any(f"id: {e}\n" in text for text in texts)]
    assert not unknown


def test_a_prompt_is_shown_twice_only_when_every_prompt_is_shown() -> None:
    once = study(5, StudySettings(pairs=5), repeats=3)
    assert len({pair.prompt for pair in once.pairs if not pair.catch}) == 5
    twice = Counter(pair.prompt for pair in study(5, StudySettings(pairs=10), repeats=3).pairs if not pair.catch)
    assert set(twice.values()) == {2}
    assert once.left_out == {"not drawn": 10}


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 3), st.integers(0, 3), st.integers(0, 99))
def test_sheets_hold_each_pair_as_often_as_asked(pairs: int, each: int, more: int, catches: int, seed: int) -> None:
    sheets = each + more
    every = [ShownPair(id=f"p{i}", prompt="x", responses=("a", "b"), catch=i >= pairs) for i in range(pairs + catches)]
    tasks = list(draw_tasks(every, sheets, each, seed))
    for pair in every:
        own = [task for task in tasks if task.pair == pair.id]
        assert sum(task.sheet == STUDIO for task in own) == 1
        on = [task.sheet for task in own if task.sheet != STUDIO]
        assert len(on) == len(set(on)) == (sheets if pair.catch else each)
        if not pair.catch:
            left = sum(task.left for task in own if task.sheet != STUDIO)
            assert abs(2 * left - each) <= 1, "a pair stands on both sides equally often"
    assert len({task.id for task in tasks}) == len(tasks)


def test_the_seed_draws_sides_and_order() -> None:
    def drawn(seed: int) -> list[tuple[str, int]]:
        return [(task.pair, task.left) for task in study(40, StudySettings(pairs=40, seed=seed)).tasks]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    sides = [left for _, left in drawn(1)]
    assert 0.35 < sum(sides) / len(sides) < 0.65
