"""``python -m holisticbias``, and the installed command."""

import sys


def run() -> None:
    """Run the command and leave with its exit code."""
    try:
        from holisticbias.cli import main

        sys.exit(main())
    except KeyboardInterrupt:  # before or after the command proper, which answers for itself
        sys.exit(130)


if __name__ == "__main__":
    run()
