"""Show on a console what a command is doing: a spinner or a bar on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich import progress as rich_progress
from rich.console import Console
from rich.text import Text

from holisticbias.terminal import visible

EVERY = 30.0  # seconds between two lines of progress

Notice = Callable[[str], None]
"""Takes a line for the user."""

Progress = Callable[[int], None]
"""Takes the number of items done since the last call."""


class Display:
    """Shows on one console what a command is doing, by default on that of messages."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)

    @property
    def _is_terminal(self) -> bool:
        return self._console.file.isatty()  # the console's own answer can be forced by the environment

    def notice(self, message: str) -> None:
        """Print a line."""
        self._console.print(visible(message), highlight=False, markup=False, soft_wrap=True)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show what is being done while the block runs."""
        if not self._is_terminal:
            self.notice(what)
            began = time.monotonic()

            def goes_on() -> None:
                minutes, seconds = divmod(int(time.monotonic() - began), 60)
                self.notice(f"{what}: {minutes}:{seconds:02} so far")

            with _repeating(goes_on):
                yield
            return
        with self._console.status(Text(visible(what))):
            yield

    @contextmanager
    def progress(
        self, what: str, total: int, unit: str = "texts", detail: Callable[[], str] | None = None
    ) -> Iterator[Progress]:
        """Show how many of ``total`` texts are done; yield the function to call with each number of texts done.

        ``unit`` is what is counted; ``detail`` gives more words for a line of progress.
        """
        if self._is_terminal:
            with _bar(self._console, what, total, detail) as advance:
                yield advance
        else:
            self.notice(f"{what}: {total:,} {unit}")
            lines = ProgressLines(total, self.notice, unit=unit, detail=detail)
            with _repeating(lines.again):
                yield lines


class ProgressLines:
    """Prints a line every 30 seconds: how many of ``total`` texts are done, how fast, and the time left.

    Call it with the number of texts done since the last call. The rate counts
    from the first call on: the texts of that call may come from a store.
    """

    def __init__(
        self,
        total: int,
        write: Notice,
        clock: Callable[[], float] = time.monotonic,
        *,
        unit: str = "texts",
        detail: Callable[[], str] | None = None,
    ) -> None:
        self._total, self._write, self._clock = total, write, clock
        self._unit, self._detail = unit, detail
        self._done = 0
        self._printed = clock()
        self._first: tuple[float, int] | None = None

    def __call__(self, done: int) -> None:
        """Count the texts, and print a line if the last one is 30 seconds old."""
        now = self._clock()
        self._done += done
        self._first = self._first or (now, self._done)
        self._print(now)

    def again(self) -> None:
        """Print a line if the last one is 30 seconds old, while nothing is counted."""
        self._print(self._clock())

    def _print(self, now: float) -> None:
        if now - self._printed >= EVERY:
            self._printed = now
            since, before = self._first or (now, self._done)
            self._write(self._line(now - since, self._done - before))

    def _line(self, seconds: float, done: int) -> str:
        more = "" if self._detail is None else f", {self._detail()}"
        counted = f"{self._done:,} of {self._total:,} {self._unit}{more}"
        if not done:
            return counted
        rate = done / seconds
        shown = f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"
        return f"{counted}, {shown} a second, {duration((self._total - self._done) / rate)} left"


def duration(seconds: float) -> str:
    """Format seconds with the largest unit that leaves about two digits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def in_rows(progress: Progress, rows: int, units: int) -> Progress:
    """A progress function that takes units of work, ``units`` in all, and passes them on as shares of ``rows``."""
    done = passed = 0

    def advance(count: int) -> None:
        nonlocal done, passed
        done += count
        now = rows * done // max(1, units)
        progress(now - passed)
        passed = now

    return advance


@contextmanager
def _repeating(say: Callable[[], None]) -> Iterator[None]:
    """Say something every 30 seconds while the block runs, from another thread; its error is raised at the end."""
    ended, errors = Event(), list[BaseException]()

    def repeat() -> None:
        try:
            while not ended.wait(EVERY):
                say()
        except BaseException as error:  # noqa: BLE001 - also the end of the process, if nobody reads what is said
            errors.append(error)

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if errors:
        raise errors[0]


@contextmanager
def _bar(console: Console, what: str, total: int, detail: Callable[[], str] | None) -> Iterator[Progress]:
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TextColumn("{task.fields[rate]}"),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TimeRemainingColumn(),
    )
    with rich_progress.Progress(*columns, console=console) as bar:
        task = bar.add_task(visible(what), total=total, rate="")

        def advance(done: int) -> None:
            bar.advance(task, done)
            speed = bar.tasks[task].speed
            rate = f"{speed:,.0f}/s" if speed else ""
            bar.update(task, rate=rate if detail is None else f"{rate} {detail()}")

        yield advance
