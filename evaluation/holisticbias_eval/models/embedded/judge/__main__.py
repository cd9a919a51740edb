"""``python -m holisticbias_eval.models.embedded.judge``: rebuild the calibration classifiers."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias_eval.models.embedded.judge import TRANSFORMERS

CLASSIFIERS = Path("evaluation/classifiers")


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=CLASSIFIERS,
    show_default=True,
    help="Folder of the cards of classifiers, to write lexicons and the trained model to.",
)
def command(out: Path) -> None:
    """Write the lexicons of the responder's styles, and train the small classifier from its seed."""
    from holisticbias import build_release
    from holisticbias.rules.validate import load_catalog
    from holisticbias_eval.models.embedded.judge.build import JudgeProvenance, build_judge, write_lexicons
    from holisticbias_eval.models.embedded.judge.model import SETTINGS
    from holisticbias_eval.models.embedded.rebuild import rebuild
    from holisticbias_eval.models.embedded.responder.repertoire import read_repertoire
    from holisticbias_eval.progress import Progress

    folder = out / TRANSFORMERS

    def build(progress: Progress) -> JudgeProvenance:
        repertoire = read_repertoire()
        write_lexicons(repertoire, out / "lexicons")
        release = build_release(load_catalog(), repertoire.release)
        return build_judge(release, repertoire, folder, SETTINGS, progress)

    rebuild(folder, SETTINGS.steps, build, lambda made: f"right labels from {made.lowest} on")


if __name__ == "__main__":
    command()
