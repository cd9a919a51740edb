"""Work in another process, which may be killed before a given change that it makes to files."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from multiprocessing.process import BaseProcess

import cloudpickle

Work = Callable[[], object]
LONGEST = 120  # seconds; a process that works longer hangs

# Processes are forked from a server without other threads. The process of the tests has some: what is forked from it
# hangs if a thread held a lock of a library at that moment.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["__main__", "holisticbias_eval.models.engines"])


def begun(work: Work, change: int | None = None) -> BaseProcess:
    """A process that has begun to work, and that is killed before this change; see ``killed_before``."""
    module = sys.modules[work.__module__]
    if module.__name__.startswith("tests."):  # another process cannot import it
        cloudpickle.register_pickle_by_value(module)
    process = _PROCESSES.Process(target=_work, args=(cloudpickle.dumps(work), change))
    process.start()
    return process


def ended(process: BaseProcess) -> int:
    """The exit code of a process, as soon as it ends; negative if a signal ended it."""
    process.join(LONGEST)
    if process.exitcode is None:
        process.kill()
        raise AssertionError(f"the process still works after {LONGEST} s")
    return process.exitcode


def killed_before(change: int, work: Work) -> bool:
    """Work in another process, which is killed before this change to files (0 is the first); False if it ended.

    A change is a partial file that is opened, or a file that is renamed or removed.
    """
    code = ended(begun(work, change))
    assert code in {0, -signal.SIGKILL}
    return code != 0


def _work(pickled: bytes, change: int | None) -> None:
    changes = count()

    def kill(event: str, arguments: tuple[object, ...]) -> None:
        opened = event == "open" and str(arguments[0]).endswith(".tmp")
        if (opened or event in {"os.rename", "os.remove"}) and next(changes) == change:
            os.kill(os.getpid(), signal.SIGKILL)

    work = cloudpickle.loads(pickled)
    sys.addaudithook(kill)
    work()
