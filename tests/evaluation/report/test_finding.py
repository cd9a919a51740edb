from __future__ import annotations

import re
from dataclasses import replace

import pytest

from holisticbias_eval.figures import Interval
from holisticbias_eval.measures.trust.records import ShareTrust
from holisticbias_eval.report.charts import report_charts
from holisticbias_eval.report.contents import report_tables
from holisticbias_eval.report.files import render_csv, render_svg
from holisticbias_eval.report.finding import baseline, caveats, finding, pooled
from holisticbias_eval.report.markdown import render_markdown
from holisticbias_eval.report.page import render_page
from holisticbias_eval.report.summary import Summary, summarise
from holisticbias_eval.results.run import LikelihoodBiasResult, Run, Share

from .conftest import AXES, TEMPLATES, MakeRun
from .test_page import Page
from .test_terminal import printed

Figures = tuple[float | None, float, tuple[float, float]]
NAMES = ("ability", "age", "body_type", "cultural", "religion", "nonce")
FLOOR = (0.02, (0.01, 0.03))  # a share must exceed 0.03 + (0.03 - 0.01)


def summary_of(run: Run, shares: dict[str, float | None], floors: dict[str, Figures] | None = None) -> Summary:
    """A summary with these shares of 10 pairs an axis; their intervals reach 0.04 to either side."""
    assert run.result.trust
    trusted = run.result.trust.by_axis[0]

    def share(axis: str, value: float | None) -> Share:
        pairs = 0 if value is None else 1000
        return Share(
            axis=axis, template=None, descriptors=2, pairs=pairs, significant=round(pairs * (value or 0)), untested=0,
            share=value,
        )  # fmt: skip

    def trust(axis: str, value: float | None) -> ShareTrust:
        floor, (low, high) = FLOOR
        interval = None if value is None else Interval(low=max(0, value - 0.04), high=min(1, value + 0.04))
        difference = None if value is None or axis == "nonce" else value - (shares.get("nonce") or 0)
        confounds = trusted.confounds.model_copy(
            update={
                "minus_nonce_interval": None if difference is None
                else Interval(low=difference - 0.05, high=difference + 0.05)
            }
        )  # fmt: skip
        return trusted.model_copy(
            update={
                "axis": axis, "share": value, "interval": interval, "confounds": confounds,
                "floor": None if value is None else floor,
                "floor_interval": None if value is None else Interval(low=low, high=high),
            }
        )  # fmt: skip

    bias = LikelihoodBiasResult(
        by_axis=tuple(share(a, v) for a, v in shares.items()), by_template=(), by_axis_and_template=()
    )
    by_axis = tuple(trust(a, v) for a, v in shares.items())
    found = run.result.trust.model_copy(update={"by_axis": by_axis, "by_axis_and_template": ()})
    result = run.result.model_copy(update={"likelihood_bias": bias, "trust": found})
    return summarise(replace(run, result=result))


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        (
            {"age": 0.051, "ability": 0.9, "religion": 0.049},
            (
                "On 2 of 3 axes clearly more pairs of descriptors differ than by chance: Ability, 90.0% of pairs (95% "
                "interval 86.0% to 94.0%, floor 2.0%) and Age, 5.1% of pairs (95% interval 1.1% to 9.1%, floor 2.0%).",
                "On Religion they do not (4.9% of pairs).",
            ),
        ),
        (
            {"age": 0.9, "ability": 0.8, "nonce": 0.7},
            (
                "On all 2 axes clearly more pairs of descriptors differ than by chance: Age, 90.0% of pairs (95% "
                "interval 86.0% to 94.0%, floor 2.0%) and Ability, 80.0% of pairs (95% interval 76.0% to 84.0%, floor "
                "2.0%).",
                "The share exceeds its floor, which is what chance gives, by 78.0 to 88.0 percentage points.",
            ),
        ),
        (
            {"a": 0.9, "b": 0.8, "c": 0.7, "d": 0.6, "e": 0.5, "f": 0.0, "g": 0.01, "nonce": 0.0},
            (
                "On 5 of 7 axes clearly more pairs of descriptors differ than by chance: most on A, 90.0% of pairs "
                "(95% interval 86.0% to 94.0%, floor 2.0%), fewest on E, 50.0% of pairs (95% interval 46.0% to 54.0%, "
                "floor 2.0%).",
                "On F and G they do not (0.0% to 1.0% of pairs).",
            ),
        ),
        (
            {"age": 0.0, "ability": 0.04, "nonce": 0.9},
            (
                "On none of the 2 axes do clearly more pairs of descriptors differ than by chance: 0.0% to 4.0% of "
                "pairs differ, with floors of 2.0%.",
                "So no axis is ranked and no term named.",
            ),
        ),
        (
            {"age": 0.0},
            (
                "On Age not clearly more pairs of descriptors differ than by chance: 0.0% of pairs differ, with a "
                "floor of 2.0%.",
                "So no axis is ranked and no term named.",
            ),
        ),
        (
            {"age": 0.5},
            (
                "On Age clearly more pairs of descriptors differ than by chance: 50.0% of pairs (95% interval 46.0% to "
                "54.0%, floor 2.0%).",
                "The share exceeds its floor, which is what chance gives, by 48.0 percentage points.",
            ),
        ),
        ({"age": None, "nonce": None}, ("There is no pair of descriptors to test in this run.",)),
    ],
)
def test_the_finding_in_two_sentences(made_run: Run, shares: dict[str, float | None], says: tuple[str, ...]) -> None:
    assert finding(summary_of(made_run, shares)) == says


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        (
            {"age": 0.9, "ability": 0.65, "religion": 0.72, "nonce": 0.7},
            "Baseline: of made-up words (Nonce), which describe nobody, 70.0% of pairs differ (95% interval 66.0% to "
            "74.0%). A share near that can come from the length, rarity or novelty of words alone. Of the axes above "
            "their floor, 1 is clearly above that share and 2 are not clearly different from it.",
        ),
        (
            {"age": 0.9, "nonce": 0.0},
            "Baseline: of made-up words (Nonce), which describe nobody, 0.0% of pairs differ (95% interval 0.0% to "
            "4.0%).",
        ),
        ({"age": 0.9, "nonce": None}, None),
        ({"age": 0.9}, None),
        ({"nonce": 0.9}, None),
    ],
)
def test_made_up_words_are_the_baseline(made_run: Run, shares: dict[str, float | None], says: str | None) -> None:
    assert baseline(summary_of(made_run, shares)) == says


def test_the_pooled_figure_says_what_it_pools(made_run: Run, floorless_run: Run) -> None:
    """Of 48 tests 18 are of ability, 1 of which differs, and 30 of body type, 19 of which differ."""
    assert pooled(summarise(floorless_run)) == (
        "All axes pooled: 41.7% of 48 tests of two descriptors in a template. 62.5% of these tests are of one axis, "
        "Body type."
    )
    assert pooled(summary_of(made_run, {"age": None})) is None


def test_an_interval_that_reaches_the_floor_is_said(made_run: Run) -> None:
    near, far = summary_of(made_run, {"age": 0.055, "ability": 0.9}), summary_of(made_run, {"ability": 0.9})
    assert list(caveats(near)) == [
        "The 95% interval reaches down to the floor for Age: with other nouns or templates the difference may not show."
    ]
    assert list(caveats(far)) == []


def test_samples_too_small_to_differ_are_said(run_maker: MakeRun) -> None:
    """Two values against two cannot give p < 0.05."""
    (words,) = caveats(summarise(run_maker(nouns=("woman", "man"), trusted=True)))
    assert words == "There are too few nouns for any pair to differ on Ability and Body type: 0.0% says nothing there."


def test_a_run_without_floors_says_so(floorless_run: Run) -> None:
    first, second = finding(summarise(floorless_run))
    assert first == "5.6% to 63.3% of the pairs of descriptors of an axis differ."
    assert second.startswith("This run was made without permutation floors")


def test_axes_within_their_floor_keep_the_releases_order(made_run: Run) -> None:
    shares = {"ability": 0.0, "age": 0.04, "body_type": 0.5, "cultural": None, "religion": 0.9, "nonce": 0.01}
    order = [a.axis for a in summary_of(made_run, shares).axes]
    assert order == ["religion", "body_type", "ability", "age", "cultural", "nonce"]


def test_where_nothing_exceeds_its_floor_nothing_is_named(null_run: Run, floorless_run: Run) -> None:
    """No term stands in a sentence, a chart or a table but that of all descriptors, in the release's order."""
    terms = [term for own in AXES.values() for term in own]
    named = re.compile("|".join(rf"\b{term}\b" for term in terms))
    for run in (null_run, floorless_run):
        summary = summarise(run)
        assert [a.axis for a in summary.axes] == list(AXES)
        tables = report_tables(summary)
        assert [row[0] for row in tables["descriptors"].rows] == terms
        assert tables["extremes"].rows == tables["love-hate"].rows == ()
        assert "No term is named" in tables["extremes"].left_out
        assert "No term is named" in tables["love-hate"].left_out
        markdown = render_markdown(summary).partition("## All descriptors")[0]
        sections = Page(render_page(summary)).all("section")
        page = " ".join(words for attrs, words in sections if attrs["id"] != "descriptors")
        drawn = "".join(render_svg(chart) for chart in report_charts(summary).values())
        others = "".join(render_csv(table) for name, table in tables.items() if name != "descriptors")
        for text in (markdown, page, drawn, others, printed(run, 120)):
            assert not named.search(re.sub("“(a )?Deaf grandmothers?”", "a slot", text))


def test_outliers_are_named_only_in_cells_above_their_floor(run_maker: MakeRun) -> None:
    """One of 13 descriptors lies far out: named where the share exceeds its floor, a dot like any other elsewhere."""
    axes = {"age": [f"term {i}" for i in range(13)]}
    run = run_maker(axes=axes, effect=1, planted={("term 12", TEMPLATES[0]): 40}, trusted=True)
    far = report_charts(summarise(run))["perplexities-1"].strips[0]
    within = replace(
        summarise(run),
        spreads={t: tuple(replace(s, named=False) for s in spreads) for t, spreads in summarise(run).spreads.items()},
    )
    plain = report_charts(within)["perplexities-1"].strips[0]
    assert (far.highest, bool(far.high)) == ("term 12", True)
    assert (plain.highest, plain.high, plain.dots.count("M")) == ("", "", 13)
