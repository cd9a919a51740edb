"""Show on standard error what a command is doing: a spinner or a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

EVERY = 30.0  # seconds between two lines of progress


def notice(message: str) -> None:
    """Print a line."""
    Console(stderr=True).print(message, highlight=False, markup=False, soft_wrap=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show what is being done while the block runs."""
    if not sys.stderr.isatty():
        notice(what)
        yield
        return
    with Console(stderr=True).status(Text(what)):
        yield


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that takes the number of texts done since its last call, and shows how far it is."""
    if sys.stderr.isatty():
        with _bar(what, total) as advance:
            yield advance
    else:
        notice(f"{what}: {total:,} texts")
        yield ProgressLines(total, notice)


class ProgressLines:
    """Prints a line every 30 seconds: how many of ``total`` texts are done, how fast, and the time left.

    Call it with the number of texts done since the last call. The rate counts from
    the first call on, because the texts of that call may have been read from a store.
    """

    def __init__(self, total: int, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._write, self._clock = total, write, clock
        self._done = 0
        self._printed = clock()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int) -> None:
        """Count the texts, and print a line if the last one is 30 seconds old."""
        now = self._clock()
        self._done += done
        self._first = self._first or (now, self._done)
        if now - self._printed >= EVERY:
            self._printed = now
            self._write(self._line(now - self._first[0], self._done - self._first[1]))

    def _line(self, seconds: float, done: int) -> str:
        counted = f"{self._done:,} of {self._total:,} texts"
        if not done:
            return counted
        rate = done / seconds
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        return f"{counted}, {shown} a second, {duration((self._total - self._done) / rate)} left"


def duration(seconds: float) -> str:
    """Seconds in the largest unit that leaves two digits or so."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=total, rate="")

        def advance(done: int) -> None:
            bar.advance(task, done)
            speed = bar.tasks[task].speed
            bar.update(task, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance
