"""Escapes of steering characters in terminal output, and of formulas in the cells of a spreadsheet."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holisticbias.spreadsheet import restored_columns, safe_cell, safe_columns
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
    assert "\n" not in visible(text, keep="")


def test_a_number_and_its_noun() -> None:
    assert [counted(0, "terms"), counted(1, "terms"), counted(1, "entries")] == ["0 terms", "1 term", "1 entry"]
    assert counted(2000, "entries") == "2,000 entries"


@pytest.mark.parametrize(("terminal", "printed"), [(True, r"a\x1bb"), (False, "a\x1bb")])
def test_data_is_unchanged_in_a_file(
    terminal: bool, printed: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    write_data("a\x1bb", nl=False)
    assert capsys.readouterr().out == printed


CELLS = st.text(st.sampled_from("=+-@'\uff1d\uff20 \t\r\n\x0b\x1c\x85\u00a0\u2003\u3000ab1.\u202e"), max_size=4)


def test_safe_cell() -> None:
    for text in ('=HYPERLINK("http://x")', "+1", "-ish", "@SUM(A1)", " =1", "\t=1", "\uff1d1"):
        assert safe_cell(text) == f"'{text}"
    for text in ("a=1", ""):
        assert safe_cell(text) == text


@given(st.lists(st.none() | CELLS))
def test_columns_have_the_same_cells(texts: list[str | None]) -> None:
    table = pa.table({"text": pa.array(texts, pa.string()), "n": pa.array(range(len(texts)), pa.int64())})
    expected = [None if text is None else safe_cell(text) for text in texts]
    assert safe_columns(table)["text"].to_pylist() == expected
    assert restored_columns(safe_columns(table)) == table
