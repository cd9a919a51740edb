"""Gains, costs and changes without a direction; values above their floor."""

import pytest

from changes import changed
from holisticbias_eval.figures import Figure, Figures, Interval, make_figure
from holisticbias_eval.measures import MEASURES
from holisticbias_eval.measures.info import Better
from holisticbias_eval.results.gains import Aim, Outcome, find_gains, judge, sort_gains


def change(value: float | None, ends: tuple[float, float] | None = None, p: float | None = None) -> Figure:
    interval = Interval(low=ends[0], high=ends[1]) if ends else None
    return make_figure("retention", "change", {}, value, "share difference", 10, interval=interval, p_value=p)


@pytest.mark.parametrize(
    ("before", "found", "better", "expected"),
    [
        (1.0, change(-0.5, p=0.01), "lower", "gain"),
        (1.0, change(0.5, p=0.01), "lower", "cost"),
        (1.0, change(0.5, p=0.01), "higher", "gain"),
        (1.0, change(0.5, p=0.01), "none", "change"),
        (1.0, change(0.5, p=0.2), "lower", "no change shown"),
        # the test decides where both are there
        (1.0, change(0.5, (0.1, 0.9), p=0.2), "lower", "no change shown"),
        (1.0, change(0.5, (0.1, 0.9)), "lower", "cost"),
        (1.0, change(0.5, (-0.1, 0.9)), "lower", "no change shown"),
        (1.0, change(0.5), "lower", "not tested"),
        (1.0, change(0.0), "lower", "no change shown"),
        (None, change(None), "lower", "not defined"),
        (0.6, change(-0.08, (-0.09, -0.07)), "nearer one half", "gain"),
        (0.6, change(0.08, (0.05, 0.1)), "nearer one half", "cost"),
        # from .6 to .38: as far on the other side
        (0.6, change(-0.22, (-0.25, -0.19)), "nearer one half", "change"),
        (0.6, change(-0.3, (-0.32, -0.28)), "nearer one half", "cost"),
        (0.4, change(-0.3, (-0.35, -0.25)), "nearer zero", "gain"),
        (-0.4, change(-0.3, (-0.35, -0.25)), "nearer zero", "cost"),
        (-0.4, change(0.4, (0.1, 0.7)), "nearer zero", "gain"),
        (-0.4, change(0.5, (0.1, 0.9)), "nearer zero", "change"),
    ],
)
def test_what_a_change_is(before: float | None, found: Figure, better: Better, expected: Outcome) -> None:
    assert judge(before, found, better) == expected


WORDING = "response_wording"
CHANGES = Figures(
    [
        *changed("likelihood_bias", "share", {"axis": "age"}, (0.5, 0.4), p_value=0.01),
        *changed("likelihood_bias", "share", {}, (0.5, 0.45), p_value=0.01),
        *changed("love_hate", "love_hate", {"axis": "age", "descriptor": "age.old"}, (0.5, 0.4)),
        *changed(WORDING, "parroting_exact", {"figure": "parroting_exact"}, (0.1, 0.3), p_value=0.001),
        *changed(WORDING, "length", {"figure": "length"}, (10.0, 8.0), p_value=0.001),
        *changed(WORDING, "phrase_share", {"figure": "phrase_share", "phrase": "sorry"}, (0.1, 0.3), p_value=0.001),
        *changed(WORDING, "length", {"figure": "length", "axis": "age"}, (10.0, 8.0), p_value=0.001),
        *changed("stereotype_score", "stereotype_score", {"specification": "dax"}, (0.7, 0.6), p_value=0.2),
        *changed("retention", "perplexity", {"figure": "perplexity"}, (10.0, 12.0), p_value=0.001),
    ]
)


def test_every_headline_figure_is_listed() -> None:
    gains = sort_gains(tuple(find_gains(CHANGES, (Aim(measure="stereotype_score"),))))
    assert [(g.kind, g.measure, g.figure, g.whole, g.outcome) for g in gains] == [
        ("aimed at", "stereotype_score", "stereotype_score", True, "no change shown"),
        ("quality", "retention", "perplexity", True, "cost"),
        ("quality", "response_wording", "parroting_exact", True, "cost"),
        ("quality", "response_wording", "length", True, "change"),
        ("other", "likelihood_bias", "share", True, "gain"),
        ("other", "likelihood_bias", "share", False, "gain"),
    ]
    assert gains[2].relative == pytest.approx(2.0)


def test_an_aim_has_the_keys_that_it_names() -> None:
    aim = Aim(measure="stereotype_score", keys={"specification": "dax"})
    other = Aim(measure="stereotype_score", keys={"specification": "wug"})
    kinds = [[g.kind for g in find_gains(CHANGES, (one,)) if g.measure == "stereotype_score"] for one in (aim, other)]
    assert kinds == [["aimed at"], ["other"]]


@pytest.mark.parametrize(
    ("dimension", "covered", "transferred"),
    [
        ("dax", True, False),
        ("dax (blickets, wugs)", True, False),
        ("dax with held-out groups", False, True),
        ("dax with held-out groups (blickets, wugs)", False, True),
        ("daxes", False, False),
        ("", False, False),
    ],
)
@pytest.mark.parametrize("name", ["dax", "dax (there)"])
def test_an_aim_is_at_a_dimension_and_at_the_groups_of_it_that_are_shared(
    name: str, dimension: str, covered: bool, transferred: bool
) -> None:
    aim = Aim(measure="group_perplexity", keys={"dimension": name, "scale": "log"})
    keys = {"dimension": dimension.replace("dax", name), "scale": "log"}
    assert aim.covers("group_perplexity", keys) is covered
    assert aim.transfers("group_perplexity", keys) is transferred
    assert not aim.covers("group_perplexity", {**keys, "scale": "raw"})
    assert not aim.transfers("stereotype_score", keys)


def test_a_value_exceeds_its_floor() -> None:
    def above(value: float | None, p_value: float | None = None) -> bool | None:
        figure = Figure(measure="m", name="f", value=value, unit="share", p_value=p_value, n=9)
        assert figure.above_floor is None, "it has no floor"
        return figure.model_copy(update={"floor_interval": Interval(low=0.0, high=0.15)}).above_floor

    assert (above(0.31), above(0.29)) == (True, False), "above by more than the width, or not"
    assert (above(0.29, 0.049), above(0.31, 0.05)) == (True, False), "tested: p below 0.05, or not"
    assert above(None, 0.01) is None


def test_a_change_of_a_level_has_its_keys_and_no_more_than_those_of_the_measure() -> None:
    def is_level(of: str | None, keys: dict[str, str]) -> bool:
        change = make_figure("sentiment", "change", keys, 0.1, "share difference", 10, of=of)
        return MEASURES["sentiment"].info.is_level(change)

    negative = {"class": "negative"}
    assert is_level("share", negative)
    assert is_level("share", {**negative, "domain": "gender"})
    for keys in ({"class": "positive"}, {}, {**negative, "seed": "1"}):
        assert not is_level("share", keys), keys
    assert not is_level("spread", negative)
    assert not is_level(None, negative)
