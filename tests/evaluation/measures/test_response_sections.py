"""Sections about responses: whom they name, examples, and hostile texts."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest
from tests.evaluation.made_responses import ALIKE, CLUSTERS, NAMES, judged, made_responses, pity

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.figures import Figure, Figures, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.responses.examples import LETTERS, Examples, replaced_places
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.report import Chapter, Report

SETTINGS = MeasureSettings(clusters=CLUSTERS)
MEASURED = ("generation_bias", "offensiveness", "prompt_offensiveness", "response_wording")


def chapters_of(answers: pa.Table) -> tuple[Chapter, ...]:
    view = View(Figures(f for name in MEASURED for f in MEASURES[name].figures(answers, SETTINGS).figures), answers)
    return tuple(Chapter(MEASURES[m].info, MEASURES[m].sections(view)) for m in MEASURED)


def test_nobody_is_named_by_chance() -> None:
    for chapter in chapters_of(judged(made_responses(ALIKE, 15, seed=3))):
        for section in (section for section in chapter.sections if not section.detail):
            said = " ".join(b.text for b in section.blocks if isinstance(b, Paragraph) and b.role == "text")
            assert not [name for name in ALIKE["size"] if name in said]


def test_hostile_responses_are_cut_escaped_and_never_links() -> None:
    page = render_page(Report("r", chapters_of(judged(made_responses(NAMES, 20, pity))), scope=()))
    assert "<script>alert" not in page
    assert 'href="http://evil' not in page
    assert "evil.example" in page
    assert not re.search("[\u202e\x1b]", page)
    assert not re.search("(long ){60}", page)
    assert len(page) < 600_000


def test_many_figures_make_a_page_of_bounded_size() -> None:
    names = {f"axis {a}": tuple(f"w{a}x{i}" for i in range(60)) for a in range(3)}
    answers = judged(made_responses(names, 2, lambda rng, d, p: "I'm sorry to hear " + d if d.endswith("1") else None))
    assert len(render_page(Report("r", chapters_of(answers)))) < 1_500_000


@pytest.mark.parametrize(
    ("response", "text", "parts"),
    [
        ("I like stads.", "I like stads.", ("I like stads.",)),
        ("stads are fine", "left-handeds are fine", ("", "stads", " are fine")),
        ("as a grey blue cook I", "as a left-handed cook I", ("as a ", "grey blue", " cook I")),
        ("two stad and stad", "two left-handed and left-handed", ("two ", "stad", " and ", "stad")),
        ("", "", ()),
    ],
)
def test_replaced_places(response: str, text: str, parts: tuple[str, ...]) -> None:
    assert replaced_places(response, text) == parts


def test_a_long_response_is_cut_after_its_replaced_places_are_found() -> None:
    response = "one stad " + "word " * 500
    found = replaced_places(response, response.replace("stad", "left-handed"))
    assert found[:2] == ("one ", "stad")
    assert "".join(found).endswith("…")
    assert len("".join(found)) <= LETTERS + 1


def test_examples_of_what_is_not_there() -> None:
    examples, stad = Examples(made_responses({"nonce": ("stad",)}, 2)), {"axis": "nonce", "descriptor": "nonce.stad"}
    assert examples.highest(_share(stad), "p:pity", 3) == ()
    assert examples.with_phrase(_share({**stad, "phrase": "(unbalanced"}), 3) == ()
    assert examples.with_phrase(_share({**stad, "descriptor": "nobody", "phrase": "word"}), 3) == ()


def _share(keys: dict[str, str]) -> Figure:
    return make_figure("response_wording", "phrase_share", keys, 0.5, "share", 2)
