"""Options that several commands have, and what commands share."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from holisticbias.commands.options import output_format
from holisticbias.terminal import write, write_data
from holisticbias_eval.options import SettingsCommand

if TYPE_CHECKING:
    from pydantic import BaseModel

    from holisticbias_eval.report.report import Report

PATH = click.Path(path_type=Path)
Style = Literal["table", "json", "html", "md", "csv"]
_FORMS: tuple[Style, ...] = ("html", "md", "csv", "json")
"""The styles that a file can have."""


def _use_recipe(context: click.Context, _: click.Parameter, name: str | None) -> None:
    """Use a recipe's values as the defaults of the command."""
    from holisticbias_eval.results.recipes import read_recipe

    command = context.command
    if name is not None and isinstance(command, SettingsCommand):
        context.default_map = dict(read_recipe(name, command.uses()))


def _refuse_ending(_: click.Context, __: click.Parameter, out: Path | None) -> Path | None:
    """Refuse a file that cannot be written, or whose name does not say one of the forms of a report."""
    if out is not None:
        from holisticbias.output import refuse_file
        from holisticbias_eval.tables.written import form_of

        form_of(out, *_FORMS)
        refuse_file(out)
    return out


recipe_option = click.option(
    "--recipe",
    metavar="NAME|FILE",
    is_eager=True,
    expose_value=False,
    callback=_use_recipe,
    help="YAML file with any of these options. Options on the command line override it.",
)
out_folder = click.option("--out", type=PATH, required=True, help="Folder to write.")
specification_option = click.option(
    "--specification",
    metavar="NAME|FILE",
    required=True,
    help="Groups and terms; see `holisticbias stereotypes specifications`.",
)
results_option = click.option(
    "--results",
    type=PATH,
    help="Folder of the registry. Default: evaluation/results of the current clone, or of the package.",
)
style_option = output_format(*get_args(Style))
part_option = click.option("--part", metavar="NAME", help="Table to write as csv. Default: the first.")
out_option = click.option(
    "--out",
    type=PATH,
    callback=_refuse_ending,
    help="Write it to this file as well: a .html, .md, .csv or .json file.",
)


def write_wrapped(text: str, indent: int = 2) -> None:
    """Print a text in lines of at most 100 letters, the further ones indented by two more."""
    from holisticbias_eval.units import printable

    write(click.wrap_text(printable(text), 100, " " * indent, " " * (indent + 2)))


def refuse_missing_packages(extra: str, *names: str) -> None:
    """Raise ``click.UsageError`` for the first package that is missing; ``extra`` of this package installs it."""
    for name in names:
        if find_spec(name) is None:
            raise click.UsageError(f"this needs the package {name}: pip install 'holisticbias[{extra}]'")


def refuse_part(part: str | None, style: Style, out: Path | None) -> None:
    """Raise ``click.UsageError`` for a part if nothing is written as csv."""
    if part is not None and style != "csv" and (out is None or out.suffix.lower() != ".csv"):
        raise click.UsageError("--part names a table to write as csv: add --format csv, or --out with a .csv file")


def show_report(
    record: BaseModel, report: Report, style: Style, part: str | None, out: Path | None, *, what: str
) -> None:
    """Print a report, and write it to a file; as JSON its record is written. ``what`` names it in the last line."""
    from holisticbias.output import write_file
    from holisticbias_eval.records import record_json
    from holisticbias_eval.report.terminal import print_report
    from holisticbias_eval.report.write import render
    from holisticbias_eval.tables.written import form_of

    def rendered(form: Style) -> bytes:
        if form in ("html", "md", "csv"):
            content = render(report, form, part if form == "csv" else None)
            return content if content.endswith(b"\n") else content + b"\n"
        return record_json(record).encode()

    if out:
        write_file(out, rendered(form_of(out, *_FORMS)))
    if style != "table":
        write_data(rendered(style), nl=False)
        return
    print_report(report)
    if out:
        write(f"{what}: {out}")
