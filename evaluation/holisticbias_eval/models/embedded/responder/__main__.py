"""``python -m holisticbias_eval.models.embedded.responder``: rebuild the responder from its seed."""

from __future__ import annotations

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
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.models.embedded.rebuild import rebuild
    from holisticbias_eval.models.embedded.responder.build import ResponderProvenance, build_responder
    from holisticbias_eval.models.embedded.responder.repertoire import read_repertoire
    from holisticbias_eval.models.embedded.responder.train import SETTINGS
    from holisticbias_eval.progress import Progress

    def build(progress: Progress) -> ResponderProvenance:
        repertoire = read_repertoire()
        release = build_release(load_catalog(), repertoire.release)
        return build_responder(release, repertoire, out, SETTINGS, progress)

    def found(made: ResponderProvenance) -> str:
        return f"over {made.checked:,} prompts styles are at most {made.deviation} from what is planted"

    rebuild(out, SETTINGS.steps, build, found)


if __name__ == "__main__":
    command()
