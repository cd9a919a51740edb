"""``python -m holisticbias``, and the installed command."""

import atexit
import os
import signal
import sys
from contextlib import suppress


def run() -> None:
    """Run the command and exit with its code."""
    # the command has no plugins of pydantic: looking for them reads the metadata of every installed package
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # threads that wait for each other soon leave the processor: a model is faster beside other programs
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", "8000")
    # Arrow takes memory as it uses it: to take large parts first costs a second with millions of sentences
    os.environ.setdefault("MIMALLOC_ARENA_EAGER_COMMIT", "0")
    for name in ("SIGTERM", "SIGHUP"):  # treat them like Ctrl-C, unless they are ignored, as nohup does
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        from holisticbias.cli import main

        code = main()
    except KeyboardInterrupt:  # while the command starts or ends; main() handles the rest
        sys.stderr.write("holisticbias: interrupted\n")
        code = 130
    _leave(code)


def _leave(code: int) -> None:
    """End the process with what happens at its end, but without waiting for threads, which can wait for a server.

    Objects are not deleted one by one: that takes up to seconds, in which a signal would kill a command that is done.
    """
    try:
        atexit._run_exitfuncs()
        with suppress(OSError, ValueError):  # the reader of a pipe is gone, or the stream is closed
            sys.stdout.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    run()
