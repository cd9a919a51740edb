from math import inf, nan

import pytest
from tests.golden.inputs import ABOUT

import holisticbias_eval as hbe
from holisticbias_eval.figures import DEVIATION, make_figure
from holisticbias_eval.measures.columns import change_figures
from holisticbias_eval.sections.tables import Cell, Column, Table
from holisticbias_eval.units import model_title, printable, shorten, show, show_rows, tick

CELLS: dict[str, list[tuple[Cell, str]]] = {
    "share": [(0.0, "0.0%"), (0.12345, "12.3%"), (1.0, "100.0%"), (None, "not defined"), (nan, "not defined"),
              ((0.1, 0.25), "10.0% to 25.0%"), ("not a number", "not a number")],
    "perplexity": [(1.234, "1.23"), (10.0, "10.0"), (1234.5, "1,234"), (23456789.0, "2.35e+07"), (inf, "∞"),
                   (None, "not defined")],
    "nats": [(-inf, "-∞")],
    "count": [(571584, "571,584"), (571584.0, "571,584"), (2.5, "2.5")],
    "tokens": [(7.0, "7"), (7.5, "7.5")],
    "share difference": [
        (0.0415, "+4.2 points"), (-0.0004, "+0.0 points"), ((-0.031, 0.2), "-3.1 to +20.0 points"),
        ((-0.093, -0.000218), "-9.3 to -0.02 points"), ((0.00031, 0.2), "+0.03 to +20.0 points"),
        ((-0.000218, 0.2), "+0.0 to +20.0 points"), ((0.0, 0.2), "+0.0 to +20.0 points"),
    ],
    "nats per sentence difference": [(0.125, "+0.12"), ((-0.4, -0.0002), "-0.40 to -0.0002")],
    "relative change": [((0.0001, 0.2), "+0.01% to +20.0%")],
    "perplexity difference": [(-0.5, "-0.50"), (-0.001, "-0.001"), (0.0, "+0.00"), (1234.56, "+1,234.6")],
    "rank": [((1, 13), "1 to 13")],
    "widgets": [((1.0, inf), "1.00 widgets to ∞"), ((1.0, 2.5), "1.00 to 2.50 widgets"), (3.25, "3.25 widgets")],
    "": [(3.25, "3.25")],
    "rank-biserial": [(0.4211, "0.42"), (0.0041, "0.004")],
    "compound score": [(-0.4211, "-0.42")],
    "norm difference": [(0.0162, "+0.016"), (1e300, "+1.00e+300")],
    "nats per sentence": [(34.56, "34.6")],
    "nats per phrase": [(1234.5, "1,234.5")],
    "nats per token": [(-0.00004, "0.000"), (-0.0, "0.00"), (3.5e-15, "0.00"), (-3.5e-15, "0.00")],
    "probability": [(0.95, "95.0%")],
    "p_value": [(2e-9, "< 0.001"), (0.00099, "< 0.001"), (0.0011, "0.001"), (0.5, "0.500")],
    "text": [(None, ""), ("Deaf", "Deaf")],
    "preference": [("dispreferred", "Dispreferred"), ("unknown", "unknown"), (None, "")],
}  # fmt: skip
MARKS: dict[str, list[tuple[float, str]]] = {
    "share": [(0.25, "25%"), (0.005, "0.5%")],
    "share difference": [(-0.5, "-50"), (0.0, "0")],
    "nats difference": [(2.5, "+2.5"), (0.0, "0")],
    "perplexity": [(3000.0, "3,000"), (1e8, "1e+8")],
    "nats": [(1e300, "1e+300"), (-2.5e6, "-2.5e+6"), (0.0, "0")],
}


@pytest.mark.parametrize("unit", CELLS)
def test_a_cell_as_people_read_it(unit: str) -> None:
    assert [show(value, unit) for value, _ in CELLS[unit]] == [shown for _, shown in CELLS[unit]]


@pytest.mark.parametrize("unit", MARKS)
def test_a_mark_of_a_scale(unit: str) -> None:
    assert [tick(value, unit) for value, _ in MARKS[unit]] == [shown for _, shown in MARKS[unit]]


def test_marks_of_one_scale_are_written_alike() -> None:
    assert [tick(mark, "perplexity", 1e7) for mark in (1.0, 1e5, 1e7)] == ["1e+0", "1e+5", "1e+7"]
    assert [tick(mark, "perplexity", 1e5) for mark in (1.0, 1e5)] == ["1", "100,000"]


def test_a_deviation_of_rounding_is_none() -> None:
    unit = f"probability{DEVIATION}"
    shown: dict[Cell, str] = {
        2.6e-9: "none shown",
        (-0.1, 2.6e-9): "none shown",
        (2.6e-9, 0.25): "0.0% to 25.0%",
        2e-6: "0.0%",
    }
    assert {value: show(value, unit) for value in shown} == shown


def test_rows_of_a_table_have_units_of_their_own() -> None:
    columns = (
        Column("name", "Name"),
        Column("value", "Value", "number"),
        Column("change", "Change", "number difference"),
    )
    rows = (("a", 0.094, 0.769), ("b", 12.34, -0.05), ("c", -0.002, 0.3))
    table = Table("t", "T", columns, rows, units=("share", "F", "nats per sentence, standard deviation"))
    shown = [["a", "9.4%", "+76.9 points"], ["b", "12.3", "-0.050"], ["c", "none shown", "+0.30"]]
    assert list(show_rows(table)) == shown


def test_names_and_hidden_characters() -> None:
    hidden = {
        "Deaf": "Deaf", "Māori · naïve": "Māori · naïve", "a\x1b[31mb": "a\ufffd[31mb",
        "a\nb\tc\x00": "a\ufffdb\ufffdc\ufffd", "\u202egnitirw": "\ufffdgnitirw", "👩\u200d🦽": "👩\u200d🦽",
    }  # fmt: skip
    assert {text: printable(text) for text in hidden} == hidden
    titles = {
        "openai-community/gpt2": "openai-community/gpt2", "/home/me/models/mine/": "mine", "./mine": "mine",
        "C:\\models\\mine": "mine", "/": "/", "embedded": "embedded",
    }  # fmt: skip
    assert {name: model_title(name) for name in titles} == titles
    assert [shorten(text, 6) for text in ("abcdef", "abcd ef")] == ["abcdef", "abcd…"]


@pytest.mark.parametrize(
    ("unit", "value", "limits", "ends", "kept"),
    [
        ("share", 0.2, None, (-0.3, 0.7), (0.0, 0.7)),
        ("probability", 0.9, None, (0.6, 1.2), (0.6, 1.0)),
        ("polarity", -0.3, None, (-2.1, 3.3), (-1.0, 1.0)),
        ("words", 1.5, None, (-0.9, 3.9), (0.0, 3.9)),
        ("share", -2.0, None, (-4.0, 0.1), (-4.0, 0.1)),  # a corrected value, which may be below 0
        ("share difference", -0.7, (-1.0, 1.0), (-1.5, 0.3), (-1.0, 0.3)),
        ("share difference", 1 + 2e-16, (-1.0, 1.0), (-0.6, 2.7), (-0.6, 1.0)),
        ("share difference", 1.2, None, (0.9, 1.5), (0.9, 1.5)),  # a change of a difference
        ("nats", -3.0, None, (-9.0, 3.0), (-9.0, 3.0)),
        ("share", None, None, (-0.3, nan), None),
    ],
)
def test_an_interval_ends_where_values_can(
    unit: str, value: float | None, limits: tuple[float, float] | None,
    ends: tuple[float, float], kept: tuple[float, float] | None,
) -> None:  # fmt: skip
    found = make_figure("m", "f", {}, value, unit, 3, interval=ends, limits=limits).interval
    assert (found and (found.low, found.high)) == kept


@pytest.mark.parametrize("measure", ["gender_polarity", "sentiment"])
def test_no_interval_of_few_texts_is_wider_than_the_scale(measure: str) -> None:
    widths = {"share": 1, "share difference": 2, "polarity": 2, "compound score": 2}
    widths |= {"polarity difference": 4, "compound score difference": 4}
    figures = hbe.measure(measure, ABOUT, progress=False).figures
    wide = [f for f in figures if f.interval and f.interval.high - f.interval.low > widths.get(f.unit, inf)]
    assert not wide
    assert any(f.interval and f.unit == "share difference" for f in figures)


def test_a_change_ends_where_values_of_both_runs_can() -> None:
    of_share = [*change_figures("m", "share", {}, (0.1, 0.9), "share", 3, interval=(0.3, 1.3))][-1]
    unit, limits = "share difference", (-1.0, 1.0)
    # a disparity is the difference of the largest and the smallest share, and never below 0
    of_disparity = [*change_figures("m", "d", {}, (0.1, 0.9), unit, 3, interval=(0.3, 1.3), limits=limits)][-1]
    of_love_hate = [*change_figures("m", "love_hate", {}, (-0.9, 0.4), unit, 3, interval=(0.3, 2.3))][-1]
    ends = [found.interval and found.interval.high for found in (of_share, of_disparity, of_love_hate)]
    assert ends == [1.0, 1.0, 2.3]
