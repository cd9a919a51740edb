"""Another process that is killed before a given change that it makes to files."""

from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable


def killed_before(change: int, work: Callable[[], object]) -> bool:
    """Work in another process, which is killed before this change to files (0 is the first); False if it ended.

    A change is a partial file that is opened, or a file that is renamed or removed.
    """
    child = os.fork()
    if not child:
        changes = itertools.count()

        def kill(event: str, arguments: tuple[object, ...]) -> None:
            opened = event == "open" and str(arguments[0]).endswith(".tmp")
            if (opened or event in {"os.rename", "os.remove"}) and next(changes) == change:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(kill)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])
