from __future__ import annotations

import re

import pytest
from tests.evaluation.made_answers import (
    AXES,
    QUICK,
    TEMPLATES,
    charts_of,
    make_answers,
    sections_of,
    tables_of,
    view_of,
    words_of,
)

from holisticbias_eval.figures import Figure, Figures, Interval
from holisticbias_eval.measures.measure import View
from holisticbias_eval.measures.shares.finding import ShareFigures
from holisticbias_eval.sections import DotPlot

MEASURE = "likelihood_bias"
FLOOR = (0.02, (0.01, 0.03))  # a share must exceed 0.03 + (0.03 - 0.01)


def view_with(shares: dict[str, float | None]) -> View:
    """A view with these shares of 1000 pairs an axis; their intervals reach 0.04 to either side."""
    figures = []
    for axis, value in shares.items():
        floor, (low, high) = FLOOR
        pairs, keys = (0 if value is None else 1000), {"axis": axis}
        share = Figure(measure=MEASURE, name="share", keys=keys, value=value, unit="share", n=pairs)
        if value is not None:
            interval = Interval(low=max(0, value - 0.04), high=min(1, value + 0.04))
            floors = {"floor": floor, "floor_interval": Interval(low=low, high=high)}
            share = share.model_copy(update={"interval": interval, **floors})
        figures.append(share)
        if value is not None and axis != "nonce":
            difference = value - (shares.get("nonce") or 0)
            figures.append(
                share.model_copy(
                    update={
                        "name": "minus_nonce",
                        "value": difference,
                        "interval": Interval(low=difference - 0.05, high=difference + 0.05),
                    }
                )
            )
    return View(Figures(figures), make_answers())


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        (
            {"age": 0.051, "ability": 0.9, "religion": 0.049},
            (
                "On 2 of 3 axes pairs of descriptors clearly differ more often than by chance: Ability, 90.0% of pairs "
                "(95% interval 86.0% to 94.0%, floor 2.0%) and Age, 5.1% of pairs (95% interval 1.1% to 9.1%, floor "
                "2.0%).",
                "On Religion they do not (4.9% of pairs).",
            ),
        ),
        (
            {"age": 0.9, "ability": 0.8, "nonce": 0.7},
            (
                "On all 2 axes pairs of descriptors clearly differ more often than by chance: Age, 90.0% of pairs (95% "
                "interval 86.0% to 94.0%, floor 2.0%) and Ability, 80.0% of pairs (95% interval 76.0% to 84.0%, floor "
                "2.0%).",
                "The share exceeds its floor (the share expected by chance) by 78.0 to 88.0 percentage points.",
            ),
        ),
        (
            {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5, "f": 0.0, "g": 0.01, "nonce": 0.0},
            (
                "On 5 of 7 axes pairs of descriptors clearly differ more often than by chance: most on A, 90.0% of "
                "pairs (95% interval 86.0% to 94.0%, floor 2.0%), fewest on E, 50.0% of pairs (95% interval 46.0% to "
                "54.0%, floor 2.0%).",
                "On F and G they do not (0.0% to 1.0% of pairs).",
            ),
        ),
        (
            {"age": 0.0, "ability": 0.04, "nonce": 0.9},
            (
                "On none of the 2 axes do pairs of descriptors clearly differ more often than by chance: 0.0% to 4.0% "
                "of pairs differ, with floors of 2.0%.",
                "So no axis is ranked and no term named.",
            ),
        ),
        (
            {"age": 0.0},
            (
                "On Age pairs of descriptors do not clearly differ more often than by chance: 0.0% of pairs differ, "
                "with a floor of 2.0%.",
                "So no axis is ranked and no term named.",
            ),
        ),
        (
            {"age": 0.5},
            (
                "On Age pairs of descriptors clearly differ more often than by chance: 50.0% of pairs (95% interval "
                "46.0% to 54.0%, floor 2.0%).",
                "The share exceeds its floor (the share expected by chance) by 48.0 percentage points.",
            ),
        ),
        ({"age": None, "nonce": None}, ("There is no pair of descriptors to test in this run.",)),
    ],
)
def test_the_finding_in_two_sentences(shares: dict[str, float | None], says: tuple[str, ...]) -> None:
    assert ShareFigures(view_with(shares), MEASURE).finding() == says


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ({"age": 0.9}, None),
        ({"nonce": 0.9}, None),
        ({"age": 0.01, "nonce": 0.9}, "90.0% of pairs differ (95% interval 86.0% to 94.0%)."),
        ({"age": 0.9, "nonce": 0.04}, "4.0% of pairs differ (95% interval 0.0% to 8.0%)."),
        (
            {"age": 0.9, "ability": 0.3, "religion": 0.52, "body": 0.51, "nonce": 0.5},
            "50.0% of pairs differ (95% interval 46.0% to 54.0%). A share near that can come from the length, rarity "
            "or novelty of words alone. Of the axes above their floor, 1 is clearly above that share, 1 is clearly "
            "below that share and 2 are not clearly different from it.",
        ),
    ],
)
def test_the_baseline_is_what_the_other_axes_stand_beside(shares: dict[str, float | None], says: str | None) -> None:
    found = [*ShareFigures(view_with(shares), MEASURE).baseline()]
    before = "Baseline: of made-up words (Nonce), which describe nobody, "
    assert found == ([] if says is None else [f"{before}{says}"])


def test_the_pooled_share_says_what_it_pools() -> None:
    """Of 48 tests 18 are of ability, 1 of which differs, and 30 of body type, 19 of which differ."""
    (words,) = ShareFigures(view_of(make_answers(), None), MEASURE).pooled()
    assert words == (
        "All axes pooled: 41.7% of 48 tests of two descriptors in a template. 62.5% of these tests are of one axis, "
        "Body type."
    )
    assert not [*ShareFigures(view_with({"age": None}), MEASURE).pooled()]


def test_samples_too_small_to_differ_are_said() -> None:
    """Two values against two cannot give p < 0.05."""
    (words,) = ShareFigures(view_of(make_answers(nouns=("woman", "man"))), MEASURE).caveats()
    assert words == "There are too few nouns for any pair to differ on Ability and Body type: 0.0% says nothing there."


def test_a_run_without_floors_says_so() -> None:
    first, second = ShareFigures(view_of(make_answers(), None), MEASURE).finding()
    assert first == "5.6% to 63.3% of the pairs of descriptors of an axis differ."
    assert second.startswith("This run was made without permutation floors")


@pytest.mark.parametrize(
    "view", [view_of(make_answers(effect=0, planted={})), view_of(make_answers(), None)], ids=["nothing", "no floors"]
)
def test_if_nothing_exceeds_its_floor_nothing_is_named(view: View) -> None:
    """Terms are only in the table of all descriptors, in the release's order."""
    terms = [term for own in AXES.values() for term in own]
    named = re.compile("|".join(rf"\b{term}\b" for term in terms))
    assert [share.keys["axis"] for share in ShareFigures(view, MEASURE).in_order] == list(AXES)
    sections = sections_of(view)
    tables = tables_of(sections)
    assert [row[0] for row in tables["descriptors"].rows] == terms
    assert tables["extremes"].rows == tables["love-hate"].rows == ()
    assert "No term is named" in tables["extremes"].note
    assert "No term is named" in tables["love-hate"].note
    shown = words_of(tuple(section for section in sections if section.name != "descriptors"))
    assert not named.search(re.sub("“(a )?Deaf grandmothers?”", "a slot", shown))


def test_outliers_are_named_only_in_cells_above_their_floor() -> None:
    """One of 13 descriptors lies far out: named if the share exceeds its floor, a dot like any other if not."""
    axes = {"age": [f"term {i}" for i in range(13)]}
    answers = make_answers(axes=axes, effect=1, planted={("term 12", TEMPLATES[0]): 40})
    for settings, named in ((QUICK, True), (None, False)):
        chart = charts_of(sections_of(view_of(answers, settings)))["perplexities-1"]
        assert isinstance(chart, DotPlot)
        (row,) = chart.rows
        assert (row.named, row.names[-1], len(row.values)) == (named, "term 12", 13)
