"""Options of commands that print a report, or write it in another form; and what they do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import click

from holisticbias.terminal import write, write_data

if TYPE_CHECKING:
    from pydantic import BaseModel

    from holisticbias_eval.report.report import Report

Style = Literal["table", "json", "html", "md", "csv"]
_FORMS: dict[str, Style] = {".html": "html", ".htm": "html", ".md": "md", ".csv": "csv"}
F = TypeVar("F", bound=Callable[..., Any])


def part_option(command: F) -> F:
    """Add ``--part``."""
    return click.option("--part", metavar="NAME", help="Table to write as csv. Default: the first.")(command)


def style_option(command: F) -> F:
    """Add ``--format``."""
    kinds = click.Choice(get_args(Style))
    return click.option("--format", "style", type=kinds, default="table", show_default=True)(command)


def out_option(command: F) -> F:
    """Add ``--out``."""
    says = "Write it to this file as well: a .html, .md, .csv or .json file."
    return click.option("--out", type=click.Path(path_type=Path), help=says)(command)


def refuse_part(part: str | None, style: Style, out: Path | None) -> None:
    """Raise ``click.UsageError`` for a part if nothing is written as csv."""
    if part is not None and style != "csv" and (out is None or out.suffix.lower() != ".csv"):
        raise click.UsageError("--part names a table to write as csv: add --format csv, or --out with a .csv file")


def show_report(
    record: BaseModel, report: Report, style: Style, part: str | None, out: Path | None, *, what: str
) -> None:
    """Print a report, and write it to a file; as JSON its record is written. ``what`` names it in the last line."""
    from holisticbias.output import write_file
    from holisticbias_eval.report.terminal import print_report

    if out:
        write_file(out, _rendered(record, report, _FORMS.get(out.suffix.lower(), "json"), part))
    if style != "table":
        write_data(_rendered(record, report, style, part), nl=False)
        return
    print_report(report)
    if out:
        write(f"{what}: {out}")


def _rendered(record: BaseModel, report: Report, form: Style, part: str | None) -> bytes:
    from holisticbias_eval.report.write import render

    if form in ("html", "md", "csv"):
        content = render(report, form, part if form == "csv" else None)
        return content if content.endswith(b"\n") else content + b"\n"
    return (record.model_dump_json(indent=2) + "\n").encode()
