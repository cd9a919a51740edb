from __future__ import annotations

import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from holisticbias_eval.report.terminal import print_report
from holisticbias_eval.results.run import Run

from .conftest import LOVE, MakeRun


def printed(run: Run, width: int, *, terminal: bool = False) -> str:
    file = io.StringIO()
    print_report(run, Console(file=file, width=width, force_terminal=terminal, highlight=False))
    return file.getvalue()


@pytest.mark.parametrize("width", [36, 60, 80, 160])
def test_no_line_is_wider_than_the_terminal_and_no_figure_is_cut(made_run: Run, width: int) -> None:
    text = printed(made_run, width)
    assert max(map(cell_len, text.splitlines())) <= width
    share = made_run.result.likelihood_bias.by_axis[0].share
    assert f"{share:.1%}" in text
    assert "…" not in text


def test_words_are_named_where_the_share_exceeds_its_floor(made_run: Run, null_run: Run, floorless_run: Run) -> None:
    for run in (null_run, floorless_run):
        assert "tall" not in printed(run, 120)
        assert "No term is named" in printed(run, 120)
    share = next(
        s.share for s in made_run.result.likelihood_bias.by_axis_and_template
        if (s.axis, s.template) == ("body_type", LOVE)
    )  # fmt: skip
    line = next(line for line in printed(made_run, 160).splitlines() if "tall" in line)
    assert f"{share:.1%}" in line


def test_a_pipe_gets_plain_text(made_run: Run) -> None:
    assert "\x1b" not in printed(made_run, 80)


def test_hostile_names_move_no_cursor_and_set_no_style(hostile_run: Run, run_maker: MakeRun) -> None:
    assert "\x1b" not in printed(hostile_run, 100)
    assert "[red]x[/red]" in printed(run_maker(name="[red]x[/red]"), 100)


def test_missing_is_said(made_run: Run) -> None:
    nonce = next(line for line in printed(made_run, 100).splitlines() if "Nonce" in line)
    assert "none to test" in nonce


def test_the_note_is_printed(run_maker: MakeRun) -> None:
    assert "A calibration model." in printed(run_maker(note="A calibration model."), 80)
