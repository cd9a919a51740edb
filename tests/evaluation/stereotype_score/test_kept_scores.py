"""Scores that are kept: choices of a server and published scores are not computed twice, and go on after a failure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from rich.console import Console

from holisticbias_eval.arrays import Floats
from holisticbias_eval.models.model import ModelIdentity, PairScorer
from holisticbias_eval.progress import Display, Progress
from holisticbias_eval.tasks.pair_modes import PairRequests, pair_requests, pair_store
from known import ignore

SIZE = 200


class Chooser(PairScorer):
    """Answers by the length of the question, NaN for some, and fails after ``most`` questions."""

    def __init__(self, most: int = 10**9) -> None:
        self.most, self.asked = most, 0

    keys, block, kind = ("question",), 64, "causal"
    identity = ModelIdentity("m", "behind a server", None, None, None, "unknown", None)
    settings: Mapping[str, str] = {"server": "s"}

    def score(self, texts: pa.Table, progress: Progress) -> Floats:
        questions = texts["question"].to_pylist()
        if self.asked + len(questions) > self.most:
            raise KeyboardInterrupt
        self.asked += len(questions)
        sizes = np.array([len(q) for q in questions], float)
        return np.column_stack((np.where(sizes % 7 == 0, np.nan, -1 / sizes), -sizes))


def pairs() -> pa.Table:
    rows = [
        {"sentence": f"a dromel {'x' * i}", "other_sentence": f"a tazzin {'y' * (i * 3)}", "stereotyped": "sentence"}
        for i in range(SIZE)
    ]
    return pa.Table.from_pylist(rows)


def ask(chooser: Chooser, folder: Path | None) -> pa.Table:
    requests = pair_requests(chooser, pairs(), pair_store(folder, chooser, ignore), {})
    return requests.answer(Display(Console(quiet=True))).table


def test_choices_go_on_after_an_interruption(tmp_path: Path) -> None:
    whole = ask(Chooser(), None)
    with pytest.raises(KeyboardInterrupt):
        ask(Chooser(most=150), tmp_path)
    second = Chooser()
    found = ask(second, tmp_path)
    assert found.equals(whole)
    assert second.asked == 2 * SIZE - 128  # two blocks of 64 were kept
    third = Chooser()
    assert ask(third, tmp_path).equals(whole)
    assert third.asked == 0


def test_another_model_has_its_own_scores(tmp_path: Path) -> None:
    choosers = [Chooser(), Chooser()]
    choosers[1].identity = ModelIdentity("n", "behind a server", None, None, None, "unknown", None)
    stores = [pair_store(tmp_path, chooser, ignore) for chooser in choosers]
    assert stores[0] is not None
    assert stores[1] is not None
    assert stores[0].folder != stores[1].folder


def test_repeated_keys_and_nothing(tmp_path: Path) -> None:
    chooser = Chooser()
    for store in (pair_store(tmp_path, chooser, ignore), None):
        for texts in ([], ["a", "bcd", "a"]):
            asked = pa.table({"question": pa.array(texts, pa.large_string())})
            requests = PairRequests(chooser, asked, lambda scores: pa.table({"second": scores[:, 1]}), store)
            found = requests.answer(Display(Console(quiet=True))).table["second"].to_pylist()
            assert found == [-len(text) for text in texts]
