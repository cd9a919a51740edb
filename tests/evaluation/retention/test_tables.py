from __future__ import annotations

import json
from pathlib import Path

import pytest

from invoking import Invoke


@pytest.mark.parametrize(
    ("measure", "content", "expected"),
    [
        # 8 nats in 4 tokens: exp(2)
        ("retention", "text,nll,tokens\none two,6,3\nthree,2,1\n", ("perplexity", 7.38906)),
        # 1 true positive, 1 missed, 1 true negative: 2 / 3
        ("dialogue_state", "dialogue,label,probability\na,1,0.9\na,1,0.2\nb,0,0.1\n", ("f1", 2 / 3)),
        ("retained", "task,metric,value\narc,acc,0.25\n", ("value", 0.25)),
    ],
)
def test_a_table_is_measured(
    invoke: Invoke, tmp_path: Path, measure: str, content: str, expected: tuple[str, float]
) -> None:
    (tmp_path / "table.csv").write_text(content, "utf-8")
    said = invoke.printed("measure", measure, "--scores", tmp_path / "table.csv", "--format", "json")
    values = {figure["name"]: figure["value"] for figure in json.loads(said)["figures"]}
    assert values[expected[0]] == pytest.approx(expected[1], rel=1e-4)
    assert invoke("measure", measure, "--scores", tmp_path / "table.csv")[0] == 0


@pytest.mark.parametrize(
    ("measure", "content", "message"),
    [
        ("retention", "text,nll,tokens\na,0,0\n", "no line has a scored token"),
    ],
)
def test_tables_that_do_not_fit(invoke: Invoke, tmp_path: Path, measure: str, content: str, message: str) -> None:
    (tmp_path / "table.csv").write_text(content, "utf-8")
    problem = invoke.refused("measure", measure, "--scores", tmp_path / "table.csv")
    assert message in problem
    assert "Traceback" not in problem
