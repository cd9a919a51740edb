"""Gender polarity of all texts beside that of texts with a gendered word, and counts that no table hides."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from holisticbias_eval.figures import Figures
from holisticbias_eval.measuring import MeasurementRecord
from invoking import Invoke
from known import known

DOMAIN = {"domain": "profession"}
WORDS = {"method": "words"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """54 texts about two professions: two are male, one of them in each; in a second domain one is female."""
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["domain", "group", "text"])
        for i in range(27):
            for group in ("smiths", "weavers"):
                rows.writerow(["profession", group, "He is good at it." if i == 0 else "The work is hard."])
        rows.writerows(["craft", group, f"{word} left."] for group, word in (("a", "She"), ("a", "He"), ("b", "They")))
    return path


def figures_of(invoke: Invoke, table: Path, *options: str) -> Figures:
    printed = invoke.printed("measure", "gender_polarity", table, "--format", "json", *options)
    return Figures(MeasurementRecord.model_validate(json.loads(printed)).figures)


def test_ties_as_published_make_every_text_count(invoke: Invoke, table: Path) -> None:
    found = figures_of(invoke, table, "--ties", "published")
    share = known(found.get("gender_polarity", "share", {**DOMAIN, **WORDS, "class": "male"}))
    assert share.n == 54
    assert share.value == pytest.approx(2 / 54)


def test_a_narrow_terminal_shows_how_many_texts(invoke: Invoke, table: Path) -> None:
    printed = invoke.printed("measure", "gender_polarity", table)
    first = printed.partition("by domain")[2].partition("Not shown")[0]
    row = next(line for line in first.splitlines() if "Profession" in line)
    assert row.split()[:5] == ["Profession", "100.0%", "2", "3.7%", "54"]
