"""``holisticbias compare``: compare runs, or models with several runs each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from holisticbias.terminal import write, write_data

if TYPE_CHECKING:
    from pydantic import BaseModel

    from holisticbias_eval.report.report import Report
    from holisticbias_eval.results.gains import Aim

Style = Literal["table", "json", "html", "md", "csv"]
_FORMS: dict[str, Style] = {".html": "html", ".htm": "html", ".md": "md", ".csv": "csv"}


@click.command(short_help="Compare two runs, or a model before and after a mitigation.")
@click.argument("before", type=click.Path(path_type=Path), metavar="A")
@click.argument("after", nargs=-1, type=click.Path(path_type=Path), metavar="[B]...")
@click.option("--format", "style", type=click.Choice(get_args(Style)), default="table", show_default=True)
@click.option("--part", metavar="NAME", help="Table to write as csv. Default: the first.")
@click.option(
    "--aim",
    metavar="MEASURE[,KEY=VALUE]",
    help="The figures that a mitigation aims at, which stand first. Default: those of mitigation.json.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Write it to this file as well: a .html, .md, .csv or .json file."
)
def command(
    before: Path, after: tuple[Path, ...], style: Style, part: str | None, aim: str | None, out: Path | None
) -> None:
    """Compare B with A, paired on the sentences or prompts that both have.

    A and B are runs, folders that hold several runs, or folders of mitigated models, whose runs after the mitigation
    are taken. With several B, each is compared with A. A alone must be the folder of a mitigated model, or a folder of
    several: its runs before are compared with those after.

    The page begins with gains and costs: every headline figure, its change with an interval and a p-value, and whether
    that is in the figure's direction. Then come the sections of each measure. The change of Likelihood Bias is split
    into parts due to the sentences (gone, changed, added) and a part due to the model.
    """
    from holisticbias.output import write_file
    from holisticbias_eval.report.terminal import print_report

    if part is not None and style != "csv" and (out is None or out.suffix.lower() != ".csv"):
        raise click.UsageError("--part names a table to write as csv: add --format csv, or --out with a .csv file")
    compared, report = _compare((before, *after), _read_aim(aim))
    if out:
        form = _FORMS.get(out.suffix.lower(), "json")
        write_file(out, _written(compared, report, form, part))
    if style == "table":
        print_report(report)
        if out:
            write(f"Comparison: {out}")
    else:
        write_data(_written(compared, report, style, part), nl=False)


def _read_aim(text: str | None) -> tuple[Aim, ...]:
    from holisticbias_eval.measures import MEASURES
    from holisticbias_eval.results.gains import Aim

    if text is None:
        return ()
    measure, *keys = (part.strip() for part in text.split(","))
    if measure not in MEASURES:
        raise click.UsageError(f"--aim: there is no measure {measure!r}; available: {', '.join(MEASURES)}")
    if not all("=" in key for key in keys):
        raise click.UsageError("--aim: write keys as KEY=VALUE, as in group_perplexity,dimension=religion")
    return (Aim(measure=measure, keys={key: value for key, _, value in (k.partition("=") for k in keys)}),)


def _compare(folders: tuple[Path, ...], aims: tuple[Aim, ...]) -> tuple[BaseModel, Report]:
    """Compare two runs, or sets of runs."""
    from rich.console import Console

    from holisticbias_eval.progress import Display
    from holisticbias_eval.report.compared_sets import sets_report
    from holisticbias_eval.report.runs import comparison_report
    from holisticbias_eval.results.compare import compare_runs, read_two_runs
    from holisticbias_eval.results.run_sets import find_sets

    sets = find_sets(folders)
    if len(sets) == 2 and all(found.is_single for found in sets):
        one, other = read_two_runs(sets[0].runs[""], sets[1].runs[""])
        compared = compare_runs(one, other)
        return compared, comparison_report(compared, other, aims or sets[1].aims)
    display = Display(Console(stderr=True))
    return sets_report(sets, aims, lambda name: display.notice(f"Comparing {name}"))


def _written(compared: BaseModel, report: Report, form: Style, part: str | None) -> bytes:
    from holisticbias_eval.report.write import render

    if form in ("html", "md", "csv"):
        content = render(report, form, part if form == "csv" else None)
        return content if content.endswith(b"\n") else content + b"\n"
    return (compared.model_dump_json(indent=2) + "\n").encode()
