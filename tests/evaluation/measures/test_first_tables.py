"""The first table of every measure has a number of items, and a narrow terminal shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluation.made_answers import charts_of, make_answers, sections_of, tables_of, view_of
from tests.golden.cases import TABLES as RECORDED
from tests.golden.inputs import TABLES as INPUTS
from tests.golden.inputs import write_table

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.sections import Bars
from invoking import Invoke

FILES = {words[1]: words[2].removeprefix("{in}/") for words in map(str.split, RECORDED.values())}
"""The table of each measure among the recorded cases."""
HEADINGS: dict[str, str] = {
    "likelihood_bias": "Pairs tested",
    "stance_contrast": "Descriptors",
    "generation_bias": "Responses",
    "offensiveness": "Texts",
    "prompt_offensiveness": "Texts",
    "response_wording": "Responses",
    "group_perplexity": "Values",
    "stereotype_score": "Pairs",
    "retention": "Lines",
    "dialogue_state": "Items",
    "sentiment": "Texts",
    "gender_polarity": "Texts",
}
"""The heading of the number of items in the first table of each measure."""
ELSEWHERE = {
    "pseudo_likelihood_bias": "its tables are those of likelihood_bias",
    "toxicity": "a classifier judges it, and its tables are those of sentiment",
    "regard": "a classifier judges it, and its tables are those of sentiment",
    "norms": "it needs a lexicon, and its tables are those of sentiment",
    "intersections": "it has no table of scores",
    "medians": "its table needs permutation floors; see below",
    "love_hate": "its table needs permutation floors; see below",
    "retained": "another program counts its items",
}


def test_every_measure_is_here() -> None:
    assert {*HEADINGS, *ELSEWHERE} == set(MEASURES)


@pytest.mark.parametrize("measure", HEADINGS)
def test_a_narrow_terminal_shows_the_number_of_items(
    measure: str, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    write_table(tmp_path / FILES[measure], INPUTS[FILES[measure]])
    printed = invoke.printed("measure", measure, tmp_path / FILES[measure])
    lines = printed.splitlines()
    headings = []
    for rule in (i for i, line in enumerate(lines) if line.strip().startswith("───")):
        above = lines[max(0, rule - 9) : rule]
        start = max((i for i, line in enumerate(above) if not line.strip()), default=0)
        headings.append(" ".join(" ".join(above[start:]).split()))
    heading = next(found for found in headings if not found.startswith("Name "))  # the values of a chart
    for word in HEADINGS[measure].split():
        assert word in heading, heading


def test_tables_of_named_descriptors_have_a_number_of_items() -> None:
    tables = tables_of(sections_of(view_of(make_answers())))
    for name, heading in (("love-hate", "Sentences"), ("extremes", "Descriptors")):
        assert [column.heading for column in tables[name].columns if column.base] == [heading]
        assert tables[name].rows


def test_no_floor_is_drawn_if_none_was_computed() -> None:
    chart = charts_of(sections_of(view_of(make_answers(), None, ("likelihood_bias",)), ("likelihood_bias",)))
    bars = chart["likelihood-bias"]
    assert isinstance(bars, Bars)
    assert {(bar.floor, bar.interval, bar.faint) for bar in bars.bars} == {(None, None, False)}
    assert bars.scale == "share of pairs that differ"
