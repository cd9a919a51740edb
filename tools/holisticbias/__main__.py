"""``python -m holisticbias``, and the installed command."""

import signal
import sys


def run() -> None:
    """Run the command and exit with its code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # treat SIGTERM like Ctrl-C
    try:
        from holisticbias.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # while the command starts or ends; main() handles the rest
        sys.stderr.write("holisticbias: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
