"""``holisticbias report``: show a run."""

from pathlib import Path
from typing import get_args

import click

from holisticbias.terminal import write
from holisticbias_eval.commands.shared import PATH
from holisticbias_eval.report import Form

FORMS: tuple[Form, ...] = get_args(Form)


@click.command(short_help="Show a run in the terminal and as a page.")
@click.argument("run", type=PATH)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMS),
    help="Write this format and print nothing else: the whole report as html or md, one table as csv, "
    "one chart as svg or png.",
)
@click.option("--part", metavar="NAME", help="Table or chart to write as csv, svg or png. Default: the main figures.")
@click.option(
    "--out", type=PATH, help="File to write, whose ending says the format. Default: a file in the run's folder."
)
def command(run: Path, form: Form | None, part: str | None, out: Path | None) -> None:
    """Print the figures of a RUN folder, and write its report.

    The report is one HTML page that needs no network.
    """
    from holisticbias_eval.errors import about_rows_of
    from holisticbias_eval.measures import shown_columns
    from holisticbias_eval.report.runs import run_report
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.report.write import write_report
    from holisticbias_eval.results.run import read_run
    from holisticbias_eval.tables.written import form_of

    wanted: Form = form or "html"
    if out is not None and (form is None or out.suffix):
        wanted = form_of(out, *((form,) if form else FORMS))
    with about_rows_of(run):
        found = run_report(read_run(run, shown_columns))
        written = write_report(found, wanted, part, out or run / _file_name(wanted, part))
        if form is None:
            print_report(found)
    write(f"Report: {written}")


def _file_name(form: Form, part: str | None) -> str:
    return f"report.{form}" if part is None else f"report-{part}.{form}"
