"""Read pages in a child process, so that a page of hostile wikitext costs itself alone."""

import multiprocessing
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType

from holisticbias_eval.collect.page_sentences import PageJob, PageReader, PageSentences
from holisticbias_eval.errors import CollectError

MEMORY = 4 << 30  # bytes of address space
_START = 120.0  # seconds: a child that loads a large model


@dataclass(slots=True)
class Worker:
    """Reads pages in one child process, which is replaced if a page takes longer than ``seconds`` or ends it."""

    reader: PageReader
    seconds: float
    _process: BaseProcess | None = None
    _pipe: Connection | None = field(default=None, repr=False)

    def read(self, job: PageJob) -> PageSentences | str:
        """Read a page: its sentences, or why it could not be read. Raises ``CollectError`` if no child can start."""
        pipe = self._pipe or self._start()
        try:
            pipe.send(job)
            if not pipe.poll(self.seconds):
                self.stop()
                return f"its wikitext took more than {self.seconds:g} s to read"
            answer: PageSentences | str = pipe.recv()
        except (EOFError, ConnectionError):
            self.stop()
            return "its wikitext ended the parser"
        return answer

    def stop(self) -> None:
        """End the child."""
        process, pipe = self._process, self._pipe
        self._process = self._pipe = None
        if pipe is not None:
            pipe.close()
        if process is not None:
            process.kill()
            process.join()

    def _start(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._pipe = ours
        self._process = context.Process(target=_serve, args=(theirs, self.reader, self.seconds), daemon=True)
        with _no_main_module(), _no_interruption():
            self._process.start()
        theirs.close()
        try:
            said = ours.recv() if ours.poll(_START) else "it does not answer"
        except (EOFError, ConnectionError):
            said = "it ended"
        if said is not None:
            self.stop()
            raise CollectError(
                str(said) if str(said).startswith("--") else f"the parser's process cannot start: {said}"
            )
        return ours


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Hide the main module, which a spawned child would run again, and which need not be a file."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _no_interruption() -> Iterator[None]:
    """Block Ctrl-C here, and in a child that starts meanwhile, which would print a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would end the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(pipe: Connection, reader: PageReader, seconds: float) -> None:
    """Answer jobs until the pipe closes; the first answer is null, or why the reader cannot start."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the child
    with suppress(EOFError, ConnectionError):
        try:
            reader.start()
        except CollectError as error:
            pipe.send(str(error))
            return
        _limit_memory()
        pipe.send(None)
        while True:
            job = pipe.recv()
            _alarm(seconds + 2)
            pipe.send(_answer(reader, job))
            _alarm(0)


def _answer(reader: PageReader, job: PageJob) -> PageSentences | str:
    try:
        return reader.read(job)
    except MemoryError:
        return "its wikitext takes too much memory"
    except RecursionError:
        return "its wikitext is nested too deeply"
    except Exception as error:  # noqa: BLE001 - the parser must not end a run, whatever a page makes it raise
        return f"its wikitext cannot be read: {type(error).__name__}"


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _alarm(seconds: float) -> None:
    """Let the system end this process after the seconds, also if its parent was killed; 0 takes it back."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
