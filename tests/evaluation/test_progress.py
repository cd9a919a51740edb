import os
import pty
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from io import StringIO

import pytest
from rich.console import Console

from holisticbias_eval import progress
from holisticbias_eval.progress import Display, ProgressLines, duration


def test_durations_are_short() -> None:
    expected = {0: "0 s", 89.4: "89 s", 90: "2 min", 3600: "60 min", 5400: "1.5 h", 36_000: "10.0 h"}
    assert {seconds: duration(seconds) for seconds in expected} == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([(1, 0), (29, 100)], []),
        ([(1, 0), (31, 600)], ["600 of 1,000 texts, 20 a second, 20 s left"]),
        # texts read from the store do not count as speed, and the second line comes 30 seconds after the first
        (
            [(10, 400), (40, 150), (60, 50), (69, 50), (70, 50)],
            ["550 of 1,000 texts, 5 a second, 2 min left", "700 of 1,000 texts, 5 a second, 60 s left"],
        ),
        ([(40, 400)], ["400 of 1,000 texts"]),
        ([(0, 0), (1000, 10)], ["10 of 1,000 texts, 0.01 a second, 27.5 h left"]),
        ([(0, 0), (50, 1000)], ["1,000 of 1,000 texts, 20 a second, 0 s left"]),
    ],
)
def test_a_line_every_30_seconds(calls: list[tuple[float, int]], expected: list[str]) -> None:
    lines: list[str] = []
    ticks = iter([0.0, *(when for when, _ in calls)])
    advance = ProgressLines(1000, lines.append, lambda: next(ticks))
    for _, done in calls:
        advance(done)
    assert lines == expected


def show() -> None:
    display = Display(Console(stderr=True))
    with display.step("Loading [model]"):
        pass
    with display.progress("Scoring with [model]", 1000) as advance:
        advance(250)
        advance(750)


def long_step(display: Display, said: threading.Event) -> None:
    with display.step("Loading"):
        assert said.wait(60)


def long_batch(display: Display, said: threading.Event) -> None:
    with display.progress("Answering", 56):
        assert said.wait(60)


@pytest.mark.parametrize(
    ("work", "first", "then"),
    [(long_step, "Loading", "Loading: 0:00 so far"), (long_batch, "Answering: 56 texts", "0 of 56 texts")],
)
def test_long_work_says_that_it_goes_on(
    work: Callable[[Display, threading.Event], None], first: str, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    said, threads = threading.Event(), threading.active_count()

    class Listener(StringIO):
        def write(self, text: str) -> int:
            if then in text:
                said.set()
            return super().write(text)

    written = Listener()
    work(Display(Console(file=written)), said)
    assert written.getvalue().startswith(f"{first}\n{then}\n")
    assert threading.active_count() == threads


def test_what_fails_in_saying_so_is_an_error_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.01)
    failed = threading.Event()

    def detail() -> str:
        failed.set()
        raise BrokenPipeError("nobody reads")

    with (
        pytest.raises(BrokenPipeError, match="nobody reads"),
        Display(Console(file=StringIO())).progress("Answering", 56, detail=detail),
    ):
        assert failed.wait(60)


def test_on_a_terminal_there_is_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, line = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        with suppress(OSError):  # the other end is closed
            while True:
                shown.append(os.read(screen, 1000))

    reader = threading.Thread(target=read)
    reader.start()
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(line, "w") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        show()
    reader.join()
    os.close(screen)
    text = b"".join(shown).decode()
    assert "Loading [model]" in text
    assert "Scoring with [model]" in text
    assert "1000/1000" in text
    assert "texts" not in text


@pytest.mark.parametrize("color", ["", "1"])
def test_without_a_terminal_there_are_plain_lines(
    color: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", color)
    show()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "Loading [model]\nScoring with [model]: 1,000 texts\n")
