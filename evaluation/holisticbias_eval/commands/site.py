"""``holisticbias site``: the explorer, a static site of terms, releases and models."""

from pathlib import Path

import click

from holisticbias.commands import options
from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH, results_option

DEFAULT_FOLDER = "holisticbias-site"
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


class _Lists(click.Command):
    """A command whose ``--release`` and ``--runs`` take one or more values: ``--release 1.0.0 2.0.0``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeated: list[str] = []
        option, values = "", 0
        for argument in args:
            if argument.startswith("-"):
                option, values = argument, 0
            elif option in ("--release", "--run", "--runs"):
                repeated += [option] * (values > 0)
                values += 1
            repeated.append(argument)
        return super().parse_args(ctx, repeated)


@click.command(cls=_Lists, short_help="Build the explorer: terms, releases and models as a static site.")
@click.option(
    "--release",
    "releases",
    metavar="VERSION|FOLDER|ID@VERSION",
    multiple=True,
    help="One or more releases to show. Default: all published versions.",
)
@click.option(
    "--run",
    "--runs",
    "runs",
    type=_FOLDER,
    metavar="FOLDER",
    multiple=True,
    help="One or more runs to show, each by its folder.",
)
@results_option
@click.option(
    "--docs",
    type=_FOLDER,
    metavar="FOLDER",
    help="Folder of the documentation, which make docs builds. Default: the site links to GitHub.",
)
@click.option(
    "--out",
    type=PATH,
    default=DEFAULT_FOLDER,
    show_default=True,
    help="Folder to write; an earlier site in it is replaced.",
)
@options.source
def command(
    releases: tuple[str, ...], runs: tuple[Path, ...], results: Path | None, docs: Path | None, out: Path,
    source: Path | None,
) -> None:  # fmt: skip
    """Build a static site with pages of terms, releases and models.

    It is a folder of files that any web server can serve at any address, such as python -m http.server; it has no
    tracker and loads nothing from elsewhere.
    """
    from holisticbias_eval.progress import Display
    from holisticbias_eval.site.build import build_site

    build_site(out, Display(), releases=releases, runs=runs, terms=source, results=results, docs=docs)
    write(f"Site: {out / 'index.html'}")
