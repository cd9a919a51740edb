"""Train a calibration model again on the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from holisticbias.errors import HolisticBiasError
from holisticbias.terminal import write
from holisticbias_eval.models.embedded.provenance import Made
from holisticbias_eval.progress import Progress


def rebuild(folder: Path, steps: int, build: Callable[[Progress], Made], found: Callable[[Made], str]) -> None:
    """Build a model's folder with a progress bar of so many steps, and print its size and what was ``found``."""
    try:
        with click.progressbar(length=steps, label="Training", file=sys.stderr) as bar:
            made = build(bar.update)
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    size = sum(path.stat().st_size for path in folder.iterdir())
    write(f"{folder}: {made.parameters:,} parameters, {size:,} bytes; {found(made)}")
