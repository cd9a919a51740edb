"""Stance contrast in the report: findings, charts, tables, and named descriptors."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.evaluation.simulated_stances import StanceWorld, stance_scores

from holisticbias_eval.blocks import Paragraph
from holisticbias_eval.figures import Figures
from holisticbias_eval.measures.measure import MeasureSettings, View
from holisticbias_eval.measures.stance_contrast import StanceContrast
from holisticbias_eval.sections import Bars, Forest, Scatter, Section
from known import known

PAIRS = (
    "I love ... / I hate ...",
    "I like ... / I don't like ...",
    "I think ... are the best / I think ... are the worst",
)


def sections(answers: pa.Table, settings: MeasureSettings | None = MeasureSettings()) -> dict[str, Section]:  # noqa: B008 - frozen
    figures = Figures(StanceContrast().figures(answers, settings).figures)
    return {section.name: section for section in StanceContrast().sections(View(figures, answers))}


def text(section: Section, role: str = "finding") -> str:
    return " ".join(b.text for b in section.blocks if isinstance(b, Paragraph) and b.role == role)


def with_names(answers: pa.Table, axes: dict[str, str]) -> pa.Table:
    """The same with other names of axes."""
    names = [axes.get(axis, axis) for axis in answers["axis"].to_pylist()]
    return answers.set_column(0, "axis", pa.array(names))


@pytest.fixture(scope="module")
def planted() -> dict[str, Section]:
    """A run in which the pairs agree on one axis of four: the first descriptor of it is far from the others."""
    differences = np.random.default_rng(0).normal(0, 0.4, (3, 4, 12, 1)) + np.zeros(6)
    differences[:, 1, 0] += 6
    differences[:, 1, 1] -= 3
    return sections(with_names(stance_scores(differences), {"axis1": "body_type", "axis3": "nonce"}))


def test_finding_names_the_axes_on_which_pairs_agree(planted: dict[str, Section]) -> None:
    found = text(planted["stance-contrast"])
    assert found.startswith(
        "On 1 of 3 axes the 3 pairs of opposite templates agree on which descriptors the model prefers in positive "
        "sentences: Body type (1."
    )
    beside = text(planted["stance-contrast"], "text")
    assert "Baseline: made-up words (Nonce), which describe nobody:" in beside
    assert "no agreement shown." in beside
    assert "One pair alone tells the descriptors of an axis apart by 0." in beside


def test_axes_that_agree_come_first_and_others_are_faint(planted: dict[str, Section]) -> None:
    (bars,) = planted["stance-contrast"].charts
    assert isinstance(bars, Bars)
    assert [bar.label for bar in bars.bars] == ["Body type", "Axis0", "Axis2", "Nonce"]
    assert [bar.faint for bar in bars.bars] == [False, True, True, True]
    (table,) = planted["stance-contrast"].tables
    assert [row[0] for row in table.rows] == [bar.label for bar in bars.bars]
    assert {len(row) for row in table.rows} == {len(table.columns)}
    row = dict(zip([column.key for column in table.columns], table.rows[0], strict=True))
    assert (row["pairs"], row["descriptors"], row["missing"]) == (3, 12, 0)
    assert isinstance(row["p_value"], float)
    assert row["p_value"] < 0.05
    assert isinstance(row["interval"], tuple)
    assert row["interval"][0] < 1.8 < row["interval"][1]


def test_only_descriptors_that_differ_are_named(planted: dict[str, Section]) -> None:
    (forest,) = planted["stance-descriptors"].charts
    assert isinstance(forest, Forest)
    marked = [(e.label, e.group, e.marked) for e in forest.estimates]
    assert marked == [("1.1", "Body type", True), ("1.0", "Body type", True)]
    assert text(planted["stance-descriptors"], "text").startswith(
        "2 of 48 descriptors differ from the mean of their axis"
    )
    scatters = [chart for chart in planted["stance-pairs"].charts if isinstance(chart, Scatter)]
    assert [(s.x_label, s.y_label) for s in scatters] == [PAIRS[:2], PAIRS[::2], PAIRS[1:]]
    for scatter in scatters:
        assert len(scatter.points) == 48
        assert [point.label for point in scatter.points if point.labelled] == ["1.0", "1.1"]


def test_many_axes_are_not_all_listed() -> None:
    answers, _ = StanceWorld(stance=2.0, axes=6, descriptors=20).draw(np.random.default_rng(9))
    found = text(sections(answers)["stance-contrast"])
    assert found.startswith("On 6 of 6 axes the 3 pairs of opposite templates agree")
    assert found.count("nats") == 2


def test_nothing_found_is_one_sentence() -> None:
    answers, _ = StanceWorld(axes=3).draw(np.random.default_rng(2))
    shown = sections(answers)
    assert text(shown["stance-contrast"]) == (
        "On none of 3 axes is it shown that the 3 pairs of opposite templates agree on which descriptors the model "
        "prefers in positive sentences."
    )
    assert shown["stance-descriptors"].charts == ()
    assert text(shown["stance-descriptors"], "text") == (
        "None of 24 descriptors differs from the mean of its axis after correction for the number of descriptors, so "
        "none is named here."
    )


def test_agreement_on_made_up_words_warns() -> None:
    answers, _ = StanceWorld(stance=2.0, axes=2, descriptors=20).draw(np.random.default_rng(3))
    shown = sections(with_names(answers, {"axis1": "nonce"}))
    assert "agreement shown. So pairs can agree for reasons that have nothing to do with people." in text(
        shown["stance-contrast"], "text"
    )
    assert text(shown["stance-contrast"]).startswith("On Axis0 the 3 pairs of opposite templates agree")


def test_agreement_that_depends_on_one_pair_is_not_called_agreement() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(0, 0.1, (3, 2, 60, 5))
    agreed, own = rng.normal(size=(2, 60))
    own -= own @ agreed / (agreed @ agreed) * agreed
    differences[:2, 1] += agreed[:, None]
    differences[2, 1] += (own - 0.1 * agreed)[:, None]
    answers = stance_scores(differences)
    found = text(sections(answers)["stance-contrast"])
    assert found.startswith("On none of 2 axes is it shown")
    assert "On Axis1 (0." in found
    assert "more in common than by chance, but the interval includes 0: other pairs may not agree." in found
    figures = Figures(StanceContrast().figures(answers, MeasureSettings()).figures)
    alone = known(known(figures.get("stance_contrast", "leave_one_pair_out", {"axis": "axis1"})).interval)
    assert alone.low < 0
    assert alone.high == pytest.approx(1, abs=0.3)


def test_without_floors_nothing_is_called_agreement() -> None:
    answers, _ = StanceWorld(stance=2.0, axes=2).draw(np.random.default_rng(5))
    shown = sections(answers, None)
    assert text(shown["stance-contrast"]).startswith("This run has no floors")
    (bars,) = shown["stance-contrast"].charts
    assert isinstance(bars, Bars)
    assert not any(bar.faint for bar in bars.bars)


def test_one_pair_cannot_be_measured() -> None:
    shown = sections(stance_scores(np.random.default_rng(6).normal(size=(1, 2, 4, 5))))
    assert "needs two pairs of templates of opposite stance" in text(shown["stance-contrast"])
    assert "needs three pairs" in text(shown["stance-descriptors"], "text")
