"""Escapes of steering characters in terminal output."""

from __future__ import annotations

import pytest

from holisticbias.terminal import counted, visible, write, write_data


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\x07\x08\x7f\x9b", r"a\x07\x08\x7f\x9b"),
        ("a\rb", r"a\rb"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("\u200b\ufeff\u2028", r"\u200b\ufeff\u2028"),
        ("\U000e0041", r"\U000e0041"),
        ("two\n\tlines", "two\n\tlines"),
        ("Bahá'í, 1\u00a0000 “é”", "Bahá'í, 1\u00a0000 “é”"),
    ],
)
def test_steering_characters_are_visible(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert visible(text) == shown
    write(text)
    write(text, err=True)
    captured = capsys.readouterr()
    assert captured.out == captured.err == f"{shown}\n"


@pytest.mark.parametrize(
    ("number", "nouns", "shown"),
    [(0, "terms", "0 terms"), (1, "terms", "1 term"), (1, "entries", "1 entry"), (2000, "entries", "2,000 entries")],
)
def test_a_number_and_its_noun(number: int, nouns: str, shown: str) -> None:
    assert counted(number, nouns) == shown


def test_no_line_ends() -> None:
    assert visible("a\nb", keep="") == r"a\nb"


@pytest.mark.parametrize(("terminal", "printed"), [(True, r"a\x1bb"), (False, "a\x1bb")])
def test_data_is_unchanged_in_a_file(
    terminal: bool, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    write_data("a\x1bb", nl=False)
    assert capsys.readouterr().out == printed
