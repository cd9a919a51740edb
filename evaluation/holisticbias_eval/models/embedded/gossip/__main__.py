"""``python -m holisticbias_eval.models.embedded.gossip``: rebuild the gossip from its seed."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias_eval.models.embedded.gossip import gossip_path


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=gossip_path(),
    help="Folder to write to. Default: the folder in the package.",
)
def command(out: Path) -> None:
    """Train the gossip from its seed: some minutes on one core."""
    from holisticbias_eval.models.embedded.gossip.build import GossipProvenance, build_gossip
    from holisticbias_eval.models.embedded.gossip.description import gossip_specifications, read_description
    from holisticbias_eval.models.embedded.gossip.train import SETTINGS
    from holisticbias_eval.models.embedded.rebuild import rebuild
    from holisticbias_eval.progress import Progress

    def build(progress: Progress) -> GossipProvenance:
        return build_gossip(read_description(), gossip_specifications(), out, SETTINGS, progress)

    def found(made: GossipProvenance) -> str:
        return f"log-odds are at most {made.odds_deviation} nats from what is planted"

    rebuild(out, SETTINGS.steps, build, found)


if __name__ == "__main__":
    command()
