"""``python -m holisticbias``, and the installed command."""

import signal
import sys


def run() -> None:
    """Run the command and leave with its exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what stops a job is answered as Ctrl-C is
    try:
        from holisticbias.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # before or after the command proper, which answers for itself
        sys.stderr.write("holisticbias: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
