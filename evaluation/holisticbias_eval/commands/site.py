"""``holisticbias site``: the explorer, a static site of terms, releases and models."""

from __future__ import annotations

from pathlib import Path

import click

from holisticbias.commands import options


@click.command(short_help="Build the explorer: terms, releases and models as a static site.")
@click.option(
    "--release",
    "releases",
    metavar="VERSION|FOLDER|ID@VERSION",
    multiple=True,
    help="Release to show; repeat it for several. Default: all published versions.",
)
@click.option(
    "--run", "--runs", "runs", type=click.Path(path_type=Path), multiple=True, help="Folder of a run to show."
)
@click.option(
    "--results",
    type=click.Path(path_type=Path),
    help="Folder of the registry. Default: evaluation/results of the current clone, or of the package.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write.")
@options.source
def command(
    releases: tuple[str, ...], runs: tuple[Path, ...], results: Path | None, out: Path, source: Path | None
) -> None:
    """Build a static site: pages of terms, releases, models and documentation.

    The site needs no server program, no network and no tracker, and works at any address.
    """
    from rich.console import Console

    from holisticbias_eval.progress import Display
    from holisticbias_eval.site.build import build_site
    from holisticbias_eval.site.explored import Sources

    build_site(Sources(releases, runs, source, results), out, Display(Console(stderr=True)))
    click.echo(f"Site: {out / 'index.html'}")
