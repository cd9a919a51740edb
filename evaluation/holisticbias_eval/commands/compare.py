"""``holisticbias compare``: compare two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click


@click.command(short_help="Compare two runs: two models, or two releases.")
@click.argument("first", type=click.Path(path_type=Path), metavar="RUN_A")
@click.argument("second", type=click.Path(path_type=Path), metavar="RUN_B")
@click.option("--format", "style", type=click.Choice(["table", "json", "html"]), default="table", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write it to this file as well: a page if .html, else JSON."
)
def command(first: Path, second: Path, style: Literal["table", "json", "html"], out: Path | None) -> None:
    """Compare RUN_B with RUN_A, paired on the sentences that both have.

    Each measure that both runs have is compared. The change of Likelihood Bias is split into parts due to
    the sentences (gone, changed, added) and a part due to the model, with an interval and a p-value.
    """
    from holisticbias.output import write_file
    from holisticbias_eval.report.page import render_page
    from holisticbias_eval.report.runs import comparison_report
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.results.compare import compare_runs
    from holisticbias_eval.results.run import read_run

    one, other = read_run(first), read_run(second)
    compared = compare_runs(one, other)
    report = comparison_report(compared, other)

    def as_text(page: bool) -> str:
        return render_page(report) if page else compared.model_dump_json(indent=2)

    if out:
        write_file(out, (as_text(out.suffix.lower() in (".html", ".htm")) + "\n").encode())
    if style == "table":
        print_report(report)
        if out:
            click.echo(f"Comparison: {out}")
    else:
        click.echo(as_text(style == "html"))
