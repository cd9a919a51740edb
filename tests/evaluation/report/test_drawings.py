"""Places of values in charts: of 340 across, 6 are margin on each side."""

import math
from dataclasses import replace
from itertools import combinations
from typing import TypeVar

import pytest

from holisticbias_eval.figures import DEVIATION, Interval
from holisticbias_eval.report.drawings import draw
from holisticbias_eval.report.drawings.grids import heat_level, heat_scale, heat_text
from holisticbias_eval.report.drawings.shapes import (
    FOOT_LENGTH,
    LETTER,
    WIDE,
    WIDTH,
    Dot,
    DotPath,
    Line,
    Rect,
    Text,
    VectorDrawing,
    linear,
    logarithmic,
)
from holisticbias_eval.sections.blocks import Bar, Bars, DotPlot, Dots, Estimate, Forest, HeatMap, Scatter, ScatterPoint

from .invented import bars

S = TypeVar("S", Text, Rect, Line, Dot, DotPath)


def shapes(drawing: VectorDrawing, kind: type[S], name: str) -> list[S]:
    return [s for s in drawing.shapes if isinstance(s, kind) and set(name.split()) <= set(s.kind.split())]


SCALE = "nats  ·  line: 95% interval  ·  0: none"
LINEAR: list[tuple[list[float], tuple[float, float] | None, tuple[float, ...]]] = [
    ([0.1, 0.9], (0.0, 1.0), (0, 0.25, 0.5, 0.75, 1)),
    ([-0.3, 0.7], (-1.0, 1.0), (-1, -0.5, 0, 0.5, 1)),
    ([0.0, 0.62], None, (0, 0.2, 0.4, 0.6, 0.8)),
    ([-0.6, 1.2], None, (-1, -0.5, 0, 0.5, 1, 1.5)),
    ([0.0], None, (0, 0.25, 0.5, 0.75, 1)),
    ([1.0, 1.0], None, (0, 0.25, 0.5, 0.75, 1)),
    ([100.0, 100.0], None, (50, 75, 100, 125, 150)),
    ([100.0], (100.0, 100.0), (50, 75, 100, 125, 150)),
    ([], None, (0, 0.25, 0.5, 0.75, 1)),
    ([math.inf, math.nan, 0.0, 8.0], None, (0, 2, 4, 6, 8)),
]
LOGARITHMIC: list[tuple[list[float], set[float]]] = [
    ([1.0, 900.0], {1, 10, 100}), ([8.0, 40.0], {10, 20}), ([2.0, 3.0], {2, 3}), ([0.0, -1.0, 5.0, 5.0], {5}),
    ([1e-200, 1e200], set()),
]  # fmt: skip


def test_linear_scales() -> None:
    for values, limits, marks in LINEAR:
        scale = linear(values, "share", limits)
        assert scale.marks == pytest.approx(marks)
        assert (scale.low, scale.high) == pytest.approx((marks[0], marks[-1]))
        assert (scale.place(scale.low), scale.place(scale.high)) == pytest.approx((6, 334))
        assert scale.place(math.inf) == pytest.approx(334)


@pytest.mark.parametrize("value", [[], [0.0]])
def test_a_scale_of_one_value_without_bounds_goes_to_both_sides(value: list[float]) -> None:
    assert linear(value, "nats").marks == (-0.5, -0.25, 0, 0.25, 0.5)


def test_logarithmic_scales() -> None:
    for values, marks in LOGARITHMIC:
        scale = logarithmic(values, "perplexity")
        assert 3 <= len(scale.marks) <= 7
        assert all(scale.low * (1 - 1e-2) <= mark <= scale.high * (1 + 1e-2) for mark in scale.marks)
        assert marks <= set(scale.marks)
        assert scale.place(math.sqrt(scale.low) * math.sqrt(scale.high)) == pytest.approx(170)


@pytest.mark.parametrize("log", [True, False])
def test_the_median_is_drawn_at_the_value_that_is_said(log: bool) -> None:
    values = (2.0, 10.0, 100.0, 2000.0)
    drawing = draw(DotPlot("d", "D", "perplexity", (Dots("a", values, ("", "", "", "")),), "", log=log))
    assert drawing.description == "a: from 2.00 to 2,000, median 55.0"
    scale = replace((logarithmic if log else linear)(values, "perplexity"), start=10, length=320)
    assert [line.x for line in shapes(drawing, Line, "median")] == pytest.approx([scale.place(55.0)])


def test_marks_of_one_scale_are_written_alike() -> None:
    dots = DotPlot("d", "D", "perplexity", (Dots("a", (1.0, 1e5, 1e7), ("x", "y", "z")),), "", log=True)
    ticks = [text.text for text in shapes(draw(dots), Text, "tick")]
    assert ticks == [f"1e+{power}" for power in (0, 2, 4, 6)]


@pytest.mark.parametrize(("interval", "said"), [(None, "nats  ·  0: none"), (Interval(low=0, high=1), SCALE)])
def test_the_line_of_intervals_is_explained_where_there_is_one(interval: Interval | None, said: str) -> None:
    for chart in (
        Bars("b", "B", "nats", (Bar("x", 0.5, interval),), "nats", marks=("0: none",)),
        Forest("f", "F", "nats", (Estimate("x", 0.5, interval),), "nats", marks=("0: none",)),
    ):
        assert shapes(draw(chart), Text, "tick")[-1].text == said


def test_bars_of_both_signs_and_earlier_values() -> None:
    chart = Bars(
        "b", "B", "share difference", (Bar("love", 0.5, before=0.25), Bar("hate", -0.5)), "", (-1.0, 1.0), (-0.2, 0.2)
    )
    drawing = draw(chart)
    love, hate = shapes(drawing, Rect, "bar")
    assert (love.x, love.width, love.kind) == (170, 82, "bar")
    assert (hate.x, hate.width, hate.kind) == (88, 82, "bar negative")
    assert [mark.x for mark in shapes(drawing, Line, "before")] == [211]
    assert [mark.x for mark in shapes(drawing, Line, "reference")] == pytest.approx([137.2, 202.8] * 2)
    assert shapes(drawing, Text, "value")[0].text == "+25.0 points → +50.0 points"


def test_long_labels_are_short_on_a_narrow_screen_alone() -> None:
    chart = Bars("b", "B", "share", (Bar("a label of thirty-four characters!!", 0.5, Interval(low=0, high=1)),), "")
    (wide,), (narrow,) = (shapes(draw(chart), Text, kind) for kind in ("wide-only", "narrow-only"))
    assert wide.text == "a label of thirty-four characters!!"
    assert len(narrow.text) == 22
    assert not shapes(draw(bars()), Text, "wide-only")


def test_the_names_in_a_forest_are_whole_on_every_screen() -> None:
    name = "invented groups with planted odds of negative attributes with held-out groups"
    drawing = draw(Forest("f", "F", "nats", (Estimate(name, 0.5, group=name.upper()),), ""))
    for screen in ("wide-only", "narrow-only"):
        found = [text for text in shapes(drawing, Text, "") if screen in text.kind]
        assert "".join(text.text for text in found).replace(" ", "") == f"{name.upper()}{name}".replace(" ", "")
        assert [text.y for text in found] == sorted(text.y for text in found)
    last = {screen: shapes(drawing, Text, screen)[-1].y for screen in ("wide-only", "narrow-only")}
    assert last["wide-only"] == last["narrow-only"], "the name ends above its estimate"


def test_a_phone_without_room_for_the_floor_has_its_mark_alone() -> None:
    bar = Bar("Religion and ethnicity", -0.1, Interval(low=0, high=0.011), floor=0.0, faint=True)
    chart = Bars("b", "B", f"nats{DEVIATION}", (bar, replace(bar, label="Age", value=0.7)), "", mark="chance")
    (wide,), (narrow,) = (shapes(draw(chart), Text, f"value {kind}") for kind in ("wide-only", "narrow-only"))
    assert (wide.brief, narrow.brief) == ("0.00 to 0.011, chance 0.00", "0.00 to 0.011")
    assert len(shapes(draw(chart), Line, "reference")) == 2


def test_a_cell_without_a_value_says_so_in_two_lines() -> None:
    drawing = draw(HeatMap("h", "H", "t", ("a", "b"), (("a", (None, 1.0)), ("b", (-1.0, None))), ""))
    lines = [(text.text, text.x, text.y) for text in shapes(drawing, Text, "cell-none")]
    assert [text for text, *_ in lines] == ["not", "defined"] * 2
    assert lines[0][1] == lines[1][1]
    assert lines[1][2] - lines[0][2] >= 9
    assert len(heat_scale(HeatMap("h", "H", "t", ("a",), (("a", (1.0,)), ("b", (-1.0,))), ""))) > 1
    assert heat_scale(HeatMap("h", "H", "t", ("a",), (("a", (0.0,)),), "")) == ()


def test_a_long_name_of_a_scale_is_written_in_lines() -> None:
    scale = "share of pairs that differ, line: 95% interval, mark: floor, faint: no clear difference"
    chart = Bars("b", "B", "share", (Bar("x", 0.5, floor=0.25),), scale, mark="classifier")
    assert [text.brief for text in shapes(draw(chart), Text, "value")] == ["classifier 25.0%"]
    assert chart.table().columns[-1].heading == "Classifier"
    spread = replace(chart, unit=f"nats{DEVIATION}", bars=(Bar("x", 0.5, floor=-0.25),))
    assert [text.brief for text in shapes(draw(spread), Text, "value")] == ["classifier 0.00"]
    lines = [text for text in shapes(draw(chart), Text, "tick middle") if not text.text.endswith("%")]
    assert " ".join(line.text for line in lines) == scale
    assert [line.y for line in lines] == [59, 72]
    heights = [draw(Bars("b", "B", "share", chart.bars, name)).height for name in ("share", scale)]
    assert heights == [64, 64 + 13], "a row of 30 and a foot of 34, and a further line"


def test_parts_of_a_foot_stay_together() -> None:
    text = "line: 95% interval  ·  vertical line: all groups  ·  mark: reference text  ·  filled: differs from it"
    scale = linear((0.0, 1.0), "share")
    assert [line.text for line in shapes(scale.drawing("", (), (), 0, text), Text, "")][-2:] == [
        "line: 95% interval  ·  vertical line: all groups",
        "mark: reference text  ·  filled: differs from it",
    ]
    drawn = shapes(scale.drawing("", (), (), 0, "word " * FOOT_LENGTH), Text, "")
    assert all(len(line.text) <= FOOT_LENGTH for line in drawn)


def test_a_scatter_on_a_logarithmic_scale_leaves_out_what_it_cannot_show() -> None:
    named = {"never": 0.0, "once": 1.0, "ten": 10.0, "hundred": 100.0}
    points = tuple(ScatterPoint(x, x / 500, name) for name, x in named.items())
    chart = Scatter("s", "S", "count", "share", "count", "share", points, log_x=True)
    drawn = shapes(draw(chart), Dot, "point")
    assert [dot.label.partition(":")[0] for dot in drawn] == ["once", "ten", "hundred"]
    assert drawn[1].x - drawn[0].x == pytest.approx(drawn[2].x - drawn[1].x)
    assert draw(chart).description.startswith("3 points, 1 not drawn")


def test_the_reference_of_estimates_is_in_sight() -> None:
    far = Forest("f", "F", "share", (Estimate("x", 0.9),), "", reference=0.5)
    (line,) = shapes(draw(far), Line, "reference")
    assert 6 <= line.x <= 334


def boxes(drawing: VectorDrawing, width: int) -> list[tuple[float, float, float, float]]:
    """The labels of a scatter plot that are shown at a width, as boxes."""
    found = []
    for text in shapes(drawing, Text, "label"):
        if width == WIDE or "wide-only" not in text.kind:
            length = LETTER * len(text.text)
            before = length if "end" in text.kind else length / 2 if "middle" in text.kind else 0
            left = text.x * width / WIDTH + text.shift - before
            found.append((left, text.y - 9, left + length, text.y + 3))
    return found


@pytest.mark.parametrize("width", [WIDTH, WIDE])
def test_labels_of_points_do_not_overlap(width: int) -> None:
    crowd = tuple(ScatterPoint(i % 7 / 50, i // 7 / 9, f"a name {i}", labelled=True) for i in range(40))
    drawing = draw(Scatter("s", "S", "x", "y", "share", "share", crowd))
    placed = boxes(drawing, width)
    assert len(placed) >= 5
    assert all(left >= 0 and right <= width for left, _, right, _ in placed)
    for (l1, t1, r1, b1), (l2, t2, r2, b2) in combinations(placed, 2):
        assert r1 <= l2 or r2 <= l1 or b1 <= t2 or b2 <= t1
    assert len(boxes(drawing, WIDE)) > len(boxes(drawing, WIDTH))


def test_colours_and_texts_of_values() -> None:
    half, both = (0.0, 1.0), (-1.0, 0.5)
    levels: list[tuple[float | None, tuple[float, float], str | None]] = [
        (0.0, half, "0"), (0.05, half, "0"), (0.55, half, "5"), (1.0, half, "9"), (7.0, half, "9"), (-7.0, half, "0"),
        (-0.55, both, "n5"), (0.5, both, "5"), (-1.0, (-1.0, -0.5), "n9"), (0.0, (0.0, 0.0), "0"), (None, half, None),
        (math.nan, half, None),
    ]  # fmt: skip
    assert [heat_level(value, limits) for value, limits, _ in levels] == [level for *_, level in levels]
    cells = ((0.736, "share"), (3.25, "widgets"), (None, "share"), (math.inf, "share"))
    assert [heat_text(*cell) for cell in cells] == ["74", "3.25", "not defined", "∞"]
