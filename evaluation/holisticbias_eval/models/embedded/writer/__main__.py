"""``python -m holisticbias_eval.models.embedded.writer``: rebuild the writer from its seed."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias_eval.models.embedded.writer import writer_path


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=writer_path(),
    help="Folder to write to. Default: the folder in the package.",
)
def command(out: Path) -> None:
    """Train the writer from its seed: some minutes on one core."""
    from holisticbias_eval.models.embedded.rebuild import rebuild
    from holisticbias_eval.models.embedded.writer.build import WriterProvenance, build_writer
    from holisticbias_eval.models.embedded.writer.description import read_calibration, read_description
    from holisticbias_eval.models.embedded.writer.train import SETTINGS
    from holisticbias_eval.progress import Progress

    def build(progress: Progress) -> WriterProvenance:
        return build_writer(read_description(), read_calibration(), out, SETTINGS, progress)

    def found(made: WriterProvenance) -> str:
        off = max(made.prompt_deviation, made.request_deviation)
        return f"probabilities are at most {off} from what is planted, log-odds {made.odds_deviation} nats"

    rebuild(out, SETTINGS.steps, build, found)


if __name__ == "__main__":
    command()
