"""``python -m holisticbias_eval.models.embedded``: rebuild the embedded model from its seed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holisticbias_eval.models.embedded import embedded_model_path


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=embedded_model_path(),
    help="Folder to write to. Default: the folder in the package.",
)
def command(out: Path) -> None:
    """Train the embedded model from its seed: a few minutes on two cores."""
    from holisticbias import build_release
    from holisticbias.errors import HolisticBiasError
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.models.embedded.biases import read_biases
    from holisticbias_eval.models.embedded.build import build_embedded_model
    from holisticbias_eval.models.embedded.train import Settings

    settings = Settings()
    try:
        biases = read_biases()
        release = build_release(load_catalog(), biases.release)
        with click.progressbar(length=settings.steps, label="Training", file=sys.stderr) as bar:
            made = build_embedded_model(release, biases, out, settings, bar.update)
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    size = sum(path.stat().st_size for path in out.iterdir())
    click.echo(
        f"{out}: {made.parameters:,} parameters, {size:,} bytes, {made.divergence} nats per sentence from its corpus"
    )


if __name__ == "__main__":
    command()
