"""Many small computations on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

T = TypeVar("T")


def map_in_threads(function: Callable[..., T], *arguments: Iterable[Any]) -> Iterator[T]:
    """The results in order, computed by one thread per core, 32 at most: more take time from each other.

    A matrix product then uses one thread: its own threads would wait for those of the others most of the time.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(min(32, os.cpu_count() or 1)) as workers:
        yield from workers.map(function, *arguments)
