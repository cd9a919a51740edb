from __future__ import annotations

import math

import pytest

from holisticbias_eval.report.numbers import Cell, Kind, model_title, printable, shorten, show, title


@pytest.mark.parametrize(
    ("value", "kind", "shown"),
    [
        (0.0, "share", "0.0%"),
        (0.12345, "share", "12.3%"),
        (1.0, "share", "100.0%"),
        (None, "share", "none to test"),
        (math.nan, "share", "none to test"),
        (1.234, "perplexity", "1.23"),
        (12.34, "perplexity", "12.3"),
        (1234.5, "perplexity", "1,234"),
        (23456789.0, "perplexity", "2.35e+07"),
        (math.inf, "perplexity", "infinite"),
        (math.nan, "perplexity", "missing"),
        (None, "perplexity", "missing"),
        (571584, "count", "571,584"),
        (7.0, "tokens", "7"),
        (7.5, "tokens", "7.5"),
        (0.125, "difference", "+0.12"),
        (-0.5, "difference", "-0.50"),
        (-0.001, "difference", "+0.00"),
        (None, "difference", "not defined"),
        ((0.1, 0.25), "interval", "10.0% to 25.0%"),
        ((-0.031, 0.2), "points_interval", "-3.1 to +20.0 points"),
        ((1, 13), "rank_interval", "1 to 13"),
        (None, "rank", "not ranked"),
        (None, "interval", "not defined"),
        (0.0415, "points", "+4.2 points"),
        (None, "known_share", "not computed"),
        (0.4211, "effect", "0.42"),
        (0.0041, "effect", "0.004"),
        (None, "text", ""),
        ("Deaf", "text", "Deaf"),
    ],
)
def test_a_cell_as_people_read_it(value: Cell, kind: Kind, shown: str) -> None:
    assert show(value, kind) == shown


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


def test_keys_and_long_names() -> None:
    assert title("gender_and_sex") == "Gender and sex"
    assert title("") == ""
    assert shorten("abcdef", 6) == "abcdef"
    assert shorten("abcd ef", 6) == "abcd…"
