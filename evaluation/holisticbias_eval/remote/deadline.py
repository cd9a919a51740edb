"""A limit on the time that a call takes, whatever it waits for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """Call, and return the result; raises ``TimeoutError`` if it takes longer.

    The timeout of a socket starts again with each byte, so the call runs in another thread, which is left behind.
    """
    result: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            result.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not result:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return result[0]
