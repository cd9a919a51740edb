"""``python -m holisticbias_eval.models.embedded.responder``: rebuild the responder from its seed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holisticbias_eval.models.embedded.responder import responder_path


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=responder_path(),
    help="Folder to write to. Default: the folder in the package.",
)
def command(out: Path) -> None:
    """Train the responder from its seed: some minutes on two cores."""
    from holisticbias import build_release
    from holisticbias.errors import HolisticBiasError
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.models.embedded.responder.build import build_responder
    from holisticbias_eval.models.embedded.responder.repertoire import read_repertoire
    from holisticbias_eval.models.embedded.responder.train import SETTINGS

    try:
        repertoire = read_repertoire()
        release = build_release(load_catalog(), repertoire.release)
        with click.progressbar(length=SETTINGS.steps, label="Training", file=sys.stderr) as bar:
            made = build_responder(release, repertoire, out, SETTINGS, bar.update)
    except HolisticBiasError as error:
        raise click.ClickException(str(error)) from error
    size = sum(path.stat().st_size for path in out.iterdir())
    click.echo(
        f"{out}: {made.parameters:,} parameters, {size:,} bytes; over {made.checked:,} prompts styles are at most "
        f"{made.deviation} from what is planted"
    )


if __name__ == "__main__":
    command()
