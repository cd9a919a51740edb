"""Work done in batches that shrink when memory runs out, and told in another unit than it is done in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from holisticbias_eval.errors import ModelError
from holisticbias_eval.likelihood.scorer import Notice, Progress

MEMORY_MESSAGES = ("out of memory", "can't allocate memory", "not enough memory")


def in_batches(total: int, size: int, run: Callable[[int, int], None], notice: Notice) -> None:
    """Call ``run(start, stop)`` over ``0 .. total`` in runs of ``size``, halved whenever memory runs out.

    Raises ``ModelError`` where one item alone does not fit.
    """
    start, size = 0, max(1, size)
    while start < total:
        stop = min(total, start + size)
        try:
            run(start, stop)
        except (MemoryError, RuntimeError) as error:
            if not _out_of_memory(error):
                raise
            if stop - start == 1:
                raise ModelError("out of memory, even with the smallest batch: use a larger machine") from error
            size = (stop - start) // 2
            notice(f"out of memory: going on with batches of {size:,} instead of {stop - start:,}")
            _release_memory()
        else:
            start = stop


@contextmanager
def one_line_for_errors(name: str) -> Iterator[None]:
    """What an architecture raises at plain texts as a ``ModelError``; where memory runs out, as it is."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if _out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{name} cannot read a plain text: {reason} ({type(error).__name__})") from error


def _out_of_memory(error: Exception) -> bool:
    """Torch raises an error of its own on a GPU, and a plain ``RuntimeError`` where the machine's memory ends."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(message in text for message in MEMORY_MESSAGES)


def _release_memory() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def in_rows(progress: Progress, rows: int, units: int) -> Progress:
    """A progress to be told of ``units`` of work in all, that passes them on as shares of ``rows``."""
    done = told = 0

    def tell(count: int) -> None:
        nonlocal done, told
        done += count
        now = rows * done // max(1, units)
        progress(now - told)
        told = now

    return tell
