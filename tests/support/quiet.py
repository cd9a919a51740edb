"""A display that shows nothing."""

from rich.console import Console

from holisticbias_eval.progress import Display

QUIET = Display(Console(quiet=True))
