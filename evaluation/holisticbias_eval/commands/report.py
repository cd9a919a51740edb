"""``holisticbias report``: show a run."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Show a run in the terminal and as a page.")
@click.argument("run", type=click.Path(path_type=Path))
def command(run: Path) -> None:
    """Print the figures of a RUN folder and write its report, one HTML page that needs no network."""
    from holisticbias_eval.report.page import write_page
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.run import read_run

    found = read_run(run)
    print_report(found)
    click.echo(f"Report: {write_page(found, run)}")
