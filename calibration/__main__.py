"""``python -m calibration NAME``: build a calibration model again from its seed."""

import sys
from importlib import import_module
from pathlib import Path

import click

from holisticbias.errors import HolisticBiasError
from holisticbias.terminal import write
from holisticbias_eval.models.embedded import EMBEDDED_MODEL, GOSSIP, RESPONDER, SHIPPED, WRITER

CLASSIFIERS = Path("evaluation/classifiers/calibration-transformers")
MODELS = {
    "embedded-model": ("scorer", SHIPPED[EMBEDDED_MODEL].folder, 2),
    "responder": ("responder", SHIPPED[RESPONDER].folder, 2),
    "classifiers": ("classifiers", CLASSIFIERS, 2),
    "writer": ("writer", SHIPPED[WRITER].folder, 1),
    "gossip": ("gossip", SHIPPED[GOSSIP].folder, 1),
}
"""The package that builds a model, the folder, and the threads of training, on which the last bits depend."""


@click.command()
@click.argument("name", type=click.Choice(list(MODELS)))
@click.option("--out", type=click.Path(path_type=Path), help="Folder to write to. Default: the shipped folder.")
def command(name: str, out: Path | None) -> None:
    """Train a calibration model from its seed: a few minutes on two cores."""
    import torch

    package, shipped, threads = MODELS[name]
    folder = out or shipped
    build = import_module(f"calibration.{package}.build")
    torch.set_num_threads(threads)
    try:
        with click.progressbar(length=build.SETTINGS.steps, label="Training", file=sys.stderr) as bar:
            made, near = build.rebuild(folder, bar.update)
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    size = sum(path.stat().st_size for path in folder.iterdir())
    write(f"{folder}: {made.parameters:,} parameters, {size:,} bytes; {near}")


if __name__ == "__main__":
    command()
