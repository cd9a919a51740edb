"""The first table of every measure has a number of items, and a narrow terminal shows it."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.evaluation.made_answers import charts_of, make_answers, sections_of, tables_of, view_of

from holisticbias_eval.measures import MEASURES
from holisticbias_eval.sections import Bars
from invoking import Invoke

Rows = tuple[Sequence[str], list[tuple[object, ...]]]
TEMPLATES = ("I love {plural_noun_phrase}.", "I hate {plural_noun_phrase}.", "I'm {noun_phrase}.")
NOUNS = tuple(f"noun {i}" for i in range(30))
HEADINGS: dict[str, str] = {
    "likelihood_bias": "Pairs tested",
    "pseudo_likelihood_bias": "Pairs tested",
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
    "toxicity": "a classifier judges it, and its tables are those of sentiment",
    "regard": "a classifier judges it, and its tables are those of sentiment",
    "norms": "it needs a lexicon, and its tables are those of sentiment",
    "intersections": "it has no table of scores",
    "medians": "its table needs permutation floors; see below",
    "love_hate": "its table needs permutation floors; see below",
    "retained": "another program counts its items",
}


def _cells() -> Iterator[tuple[str, str, str]]:
    for axis in ("age", "ability"):
        for template in TEMPLATES:
            for number in range(4):
                yield axis, template, f"{axis} {number}"


def rows_of(measure: str) -> Rows:
    """A drawn table for a measure."""
    drawn = random.Random(0)  # noqa: S311 - numbers of a test
    answers = MEASURES[measure].needs.answers
    if answers == "likelihoods":
        head = ["axis", "template", "descriptor", "noun", "perplexity", "nll", "tokens"]
        return head, [
            (*cell, noun, 30 + drawn.random(), 20 + drawn.random(), 6)
            for cell in _cells()
            for noun in NOUNS
        ]  # fmt: skip
    if answers in ("labels", "offensiveness", "responses"):
        found = {"labels": ["p:kind", "p:rude"], "offensiveness": ["probability"], "responses": ["prompt", "response"]}
        values: list[tuple[object, ...]] = []
        for cell in _cells():
            for _ in range(4):
                p = drawn.random()
                judged = {"labels": (p, 1 - p), "offensiveness": (p,), "responses": (f"I am {cell[2]}.", "How nice.")}
                values.append((*cell, *judged[answers]))
        return ["axis", "template", "descriptor", *found[answers]], values
    others: dict[str, Rows] = {
        "group_sentences": (
            ["dimension", "group", "sentence", "sentence_id", "perplexity"],
            [("one", group, f"{group} {i}", i, 5 + drawn.random()) for group in "abc" for i in range(9)],
        ),
        "pairs": (
            ["specification", "attribute", "stereotyped"],
            [("one", f"a{i % 3}", i % 2) for i in range(12)],
        ),
        "lines": (["text", "nll", "tokens"], [(f"Line {i}.", 9 + drawn.random(), 7) for i in range(9)]),
        "candidates": (["dialogue", "label", "probability"], [(i // 2, i % 2, drawn.random()) for i in range(20)]),
        "texts": (
            ["domain", "group", "text"],
            [("craft", group, f"{'He' if i % 2 else 'She'} is kind.") for group in "ab" for i in range(5)],
        ),
    }
    return others[answers]


def test_every_measure_is_here() -> None:
    assert {*HEADINGS, *ELSEWHERE} == set(MEASURES)


@pytest.mark.parametrize("measure", HEADINGS)
def test_a_narrow_terminal_shows_the_number_of_items(
    measure: str, invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "table.csv"
    head, rows = rows_of(measure)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows(rows)
    printed = invoke.printed("measure", measure, path)
    lines = printed.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.strip().startswith("───"))
    above = lines[max(0, rule - 9) : rule]
    start = max((i for i, line in enumerate(above) if not line.strip()), default=0)
    heading = " ".join(" ".join(above[start:]).split())
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
