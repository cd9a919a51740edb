"""Calls of the public functions by a program: the errors that it gets, and what other libraries print meanwhile."""

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock

from holisticbias.errors import system_errors_as
from holisticbias_eval.errors import EvaluationError

_LOGGERS = ("accelerate", "huggingface_hub", "transformers")
_LOCK = RLock()
_before = ExitStack()
_running = list[None]()
"""An item for each call that has not ended."""


@contextmanager
def public_call() -> Iterator[None]:
    """Raise ``EvaluationError`` for a system error in a public function, and restore what ``errors_alone`` changed.

    If several threads call, that is restored when the last call ends.
    """
    with _LOCK:
        _running.append(None)
    try:
        with system_errors_as(EvaluationError):
            yield
    finally:
        with _LOCK:
            _running.pop()
            if not _running:
                _before.close()


def errors_alone() -> None:
    """Let the libraries that load and train models log errors alone, and show no progress bars."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils import logging as of_transformers

    with _LOCK:
        for logger in map(logging.getLogger, _LOGGERS):
            _before.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.ERROR)
        _before.callback(disable_progress_bars if are_progress_bars_disabled() else enable_progress_bars)
        if of_transformers.is_progress_bar_enabled():
            _before.callback(of_transformers.enable_progress_bar)
        of_transformers.disable_progress_bar()  # and that of the Hub
