from __future__ import annotations

import math

import pytest

from holisticbias_eval.blocks import Cell
from holisticbias_eval.report.units import model_title, printable, shorten, show, tick


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.0, "share", "0.0%"),
        (0.12345, "share", "12.3%"),
        (1.0, "share", "100.0%"),
        (None, "share", "not defined"),
        (math.nan, "share", "not defined"),
        (1.234, "perplexity", "1.23"),
        (12.34, "perplexity", "12.3"),
        (1234.5, "perplexity", "1,234"),
        (23456789.0, "perplexity", "2.35e+07"),
        (math.inf, "perplexity", "∞"),
        (-math.inf, "nats", "-∞"),
        (None, "perplexity", "not defined"),
        (571584, "count", "571,584"),
        (571584.0, "count", "571,584"),
        (2.5, "count", "2.5"),
        (7.0, "tokens", "7"),
        (7.5, "tokens", "7.5"),
        (0.0415, "share difference", "+4.2 points"),
        (-0.0004, "share difference", "+0.0 points"),
        (0.125, "nats per sentence difference", "+0.12"),
        (-0.5, "perplexity difference", "-0.50"),
        (-0.001, "perplexity difference", "+0.00"),
        ((0.1, 0.25), "share", "10.0% to 25.0%"),
        ((-0.031, 0.2), "share difference", "-3.1 to +20.0 points"),
        ((1, 13), "rank", "1 to 13"),
        ((1.0, math.inf), "widgets", "1.00 widgets to ∞"),
        ((1.0, 2.5), "widgets", "1.00 to 2.50 widgets"),
        (0.4211, "rank-biserial", "0.42"),
        (-0.4211, "compound score", "-0.42"),
        (0.0162, "norm difference", "+0.016"),
        (1e300, "norm difference", "+1.00e+300"),
        (0.0041, "rank-biserial", "0.004"),
        (34.56, "nats per sentence", "34.6"),
        (1234.5, "nats per phrase", "1,234.5"),
        (-0.00004, "nats per token", "0.000"),
        (-0.0, "nats per token", "0.00"),
        (0.95, "probability", "95.0%"),
        (2e-9, "p_value", "< 0.001"),
        (0.00099, "p_value", "< 0.001"),
        (0.0011, "p_value", "0.001"),
        (0.5, "p_value", "0.500"),
        (3.25, "widgets", "3.25 widgets"),
        (3.25, "", "3.25"),
        (None, "text", ""),
        ("Deaf", "text", "Deaf"),
        ("dispreferred", "preference", "Dispreferred"),
        ("unknown", "preference", "unknown"),
        (None, "preference", ""),
        ("not a number", "share", "not a number"),
    ],
)
def test_a_cell_as_people_read_it(value: Cell, unit: str, shown: str) -> None:
    assert show(value, unit) == shown


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.25, "share", "25%"),
        (0.005, "share", "0.5%"),
        (-0.5, "share difference", "-50"),
        (0.0, "share difference", "0"),
        (2.5, "nats difference", "+2.5"),
        (0.0, "nats difference", "0"),
        (3000.0, "perplexity", "3,000"),
        (1e8, "perplexity", "1e+8"),
        (1e300, "nats", "1e+300"),
    ],
)
def test_a_mark_of_a_scale(value: float, unit: str, shown: str) -> None:
    assert tick(value, unit) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deaf", "Deaf"),
        ("Māori · naïve", "Māori · naïve"),
        ("a\x1b[31mb", "a\ufffd[31mb"),
        ("a\nb\tc\x00", "a\ufffdb\ufffdc\ufffd"),
        ("\u202egnitirw", "\ufffdgnitirw"),
        ("👩\u200d🦽", "👩\u200d🦽"),
    ],
)
def test_hidden_characters_show_themselves(text: str, expected: str) -> None:
    assert printable(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("openai-community/gpt2", "openai-community/gpt2"),
        ("/home/me/models/mine/", "mine"),
        ("./mine", "mine"),
        ("C:\\models\\mine", "mine"),
        ("/", "/"),
        ("embedded", "embedded"),
    ],
)
def test_a_model_as_a_heading(name: str, expected: str) -> None:
    assert model_title(name) == expected


def test_long_names() -> None:
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcd ef", 6) == "abcd…"
