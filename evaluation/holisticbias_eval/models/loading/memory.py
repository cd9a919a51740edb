"""Run a model in batches that are halved when memory runs out, and report its errors in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from holisticbias_eval.errors import ModelError
from holisticbias_eval.progress import Notice

Result = TypeVar("Result")
_MESSAGES = ("out of memory", "can't allocate memory", "not enough memory")


def in_batches(total: int, size: int, run: Callable[[int, int], object], notice: Notice) -> None:
    """Call ``run(start, stop)`` on batches of ``size`` from 0 to ``total``; halve the size when memory runs out.

    Raises ``ModelError`` if a single item does not fit.
    """
    for _ in each_batch(total, size, run, notice):
        pass


def each_batch(total: int, size: int, run: Callable[[int, int], Result], notice: Notice) -> Iterator[Result]:
    """Like ``in_batches``; yield what ``run`` returns for each batch."""
    start, size = 0, max(1, size)
    while start < total:
        stop = min(total, start + size)
        try:
            result = run(start, stop)
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            if stop - start == 1:
                raise ModelError("out of memory, even with the smallest batch: use a larger machine") from error
            size = (stop - start) // 2
            notice(f"out of memory: continuing with batches of {size:,} instead of {stop - start:,}")
            _release_memory()
        else:
            start = stop
            yield result


@contextmanager
def one_line_for_errors(name: str) -> Iterator[None]:
    """Turn any error that a model raises on plain texts into a ``ModelError``, except running out of memory."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split())[:200]
        raise ModelError(f"{name} cannot read a plain text: {reason} ({type(error).__name__})") from error


def is_out_of_memory(error: Exception) -> bool:
    """Whether memory ran out: torch has its own error for a GPU, and a plain ``RuntimeError`` for main memory."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or any(message in text for message in _MESSAGES)


def _release_memory() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
