"""``python -m holisticbias``, and the installed command."""

import sys

from holisticbias.cli import main


def run() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(main())


if __name__ == "__main__":
    run()
