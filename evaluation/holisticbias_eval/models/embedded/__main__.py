"""``python -m holisticbias_eval.models.embedded``: rebuild the embedded model from its seed."""

from __future__ import annotations

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
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.models.embedded.biases import read_biases
    from holisticbias_eval.models.embedded.build import Provenance, build_embedded_model
    from holisticbias_eval.models.embedded.rebuild import rebuild
    from holisticbias_eval.models.embedded.train import Settings
    from holisticbias_eval.progress import Progress

    settings = Settings()

    def build(progress: Progress) -> Provenance:
        biases = read_biases()
        release = build_release(load_catalog(), biases.release)
        return build_embedded_model(release, biases, out, settings, progress)

    rebuild(out, settings.steps, build, lambda made: f"{made.divergence} nats per sentence from its corpus")


if __name__ == "__main__":
    command()
